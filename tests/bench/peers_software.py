"""The other side: software that people would use for such a layer, called through Python."""
from peers_generated import FromPython

# Settings of the environment that choose kernels or threads: none from outside counts. Ours hold
# software to one thread, and to AVX2; they must stand before it is loaded.
CHOOSING = ("OMP_", "KMP_", "GOMP_", "MKL_", "DNNL_", "ONEDNN_", "OPENBLAS_", "ATEN_", "NPY_")
ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
              "OMP_DYNAMIC": "FALSE", "MKL_DYNAMIC": "FALSE"}
HELD_TO_AVX2 = {"ONEDNN_MAX_CPU_ISA": "AVX2", "DNNL_MAX_CPU_ISA": "AVX2",
                "ATEN_CPU_CAPABILITY": "avx2", "MKL_ENABLE_INSTRUCTIONS": "AVX2",
                "OPENBLAS_CORETYPE": "Haswell",
                "NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512CD AVX512_SKX"}


class Unavailable(Exception):
    """Why a peer takes no part."""


class NumPy(FromPython):
    """Matrix products with the BLAS that NumPy brings, softmax in place."""
    name = "numpy"

    def __init__(self, layer):
        import numpy as np
        self.version = np.__version__
        tokens, heads, d, p = layer.tokens, layer.heads, layer.d, layer.p
        scale = np.float32(1 / np.sqrt(p))
        w = np.concatenate([layer.wq * scale, layer.wk, layer.wv]).T.copy()
        b = np.concatenate([layer.bq * scale, layer.bk, layer.bv])
        wo, bo, x = layer.wo.T.copy(), layer.bo, layer.x
        qkv = np.empty((tokens, 3 * d), np.float32)
        scores = np.empty((heads, tokens, tokens), np.float32)
        mixed, self.y = np.empty((tokens, heads, p), np.float32), np.empty((tokens, d), np.float32)
        q, k, v = (qkv[:, i * d:(i + 1) * d].reshape(tokens, heads, p) for i in range(3))
        q, k, v, out = (a.transpose(1, 0, 2) for a in (q, k, v, mixed))
        k, flat, y = k.transpose(0, 2, 1), mixed.reshape(tokens, d), self.y

        def once():
            np.matmul(x, w, out=qkv)
            np.add(qkv, b, out=qkv)
            np.matmul(q, k, out=scores)
            np.subtract(scores, scores.max(-1, keepdims=True), out=scores)
            np.exp(scores, out=scores)
            np.divide(scores, scores.sum(-1, keepdims=True), out=scores)
            np.matmul(scores, v, out=out)
            np.matmul(flat, wo, out=y)
            np.add(y, bo, out=y)

        self.once = once

    def result(self):
        return self.y


class OnnxRuntime(FromPython):
    """A graph in ONNX Runtime, all optimisations on, input and output bound."""

    def __init__(self, layer):
        import numpy as np
        import onnx
        import onnxruntime as ort
        self.version = ort.__version__
        options = ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.log_severity_level = 3
        model = self.model(onnx, layer)
        try:
            session = ort.InferenceSession(model.SerializeToString(), options,
                                           providers=["CPUExecutionProvider"])
        except Exception as fault:  # each version has its own set of operators
            raise Unavailable(str(fault).splitlines()[0]) from fault
        self.y = np.empty((1, layer.tokens, layer.d), np.float32)
        binding = session.io_binding()
        given = ort.OrtValue.ortvalue_from_numpy(layer.x[None])
        binding.bind_ortvalue_input("x", given)
        binding.bind_output("y", "cpu", 0, np.float32, self.y.shape, self.y.ctypes.data)
        self.kept = (session, binding, given)
        self.once = lambda: session.run_with_iobinding(binding)

    def model(self, onnx, layer):
        """The ONNX model: nodes from x to y, as a subclass has them."""
        from onnx import helper, numpy_helper
        weights, nodes, domains = self.graph(helper.make_node, layer)
        form = [1, layer.tokens, layer.d]
        ends = [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, form) for n in "xy"]
        initial = [numpy_helper.from_array(value, name) for name, value in weights.items()]
        graph = helper.make_graph(nodes, "layer", ends[:1], ends[1:], initial)
        opsets = [helper.make_opsetid(*domain) for domain in domains]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)

    def result(self):
        return self.y[0]


class OrtAttention(OnnxRuntime):
    """com.microsoft.Attention, which projects queries, keys and values itself; MatMul, Add."""
    name = "ort-attention"

    def graph(self, node, layer):
        import numpy as np
        weights = {"w": np.concatenate([layer.wq, layer.wk, layer.wv]).T.copy(),
                   "b": np.concatenate([layer.bq, layer.bk, layer.bv]),
                   "wo": layer.wo.T.copy(), "bo": layer.bo}
        nodes = [node("Attention", ["x", "w", "b"], ["mixed"], domain="com.microsoft",
                      num_heads=layer.heads),
                 node("MatMul", ["mixed", "wo"], ["sum"]), node("Add", ["sum", "bo"], ["y"])]
        return weights, nodes, [("", 17), ("com.microsoft", 1)]


class OrtAttention23(OnnxRuntime):
    """The Attention operator of ONNX's opset 23 between MatMul and Add."""
    name = "ort-attention-23"

    def graph(self, node, layer):
        weights, nodes = {}, []
        for letter in "qkvo":
            weights["w" + letter] = getattr(layer, "w" + letter).T.copy()
            weights["b" + letter] = getattr(layer, "b" + letter)
        for letter in "qkv":
            nodes += [node("MatMul", ["x", "w" + letter], [letter + "_sum"]),
                      node("Add", [letter + "_sum", "b" + letter], [letter])]
        nodes += [node("Attention", ["q", "k", "v"], ["mixed"], q_num_heads=layer.heads,
                       kv_num_heads=layer.heads),
                  node("MatMul", ["mixed", "wo"], ["sum"]), node("Add", ["sum", "bo"], ["y"])]
        return weights, nodes, [("", 23)]


class OpenVino(FromPython):
    """A graph with the operator ScaledDotProductAttention on the CPU plugin, float32."""
    name = "openvino"

    def __init__(self, layer):
        import numpy as np
        import openvino as ov
        from openvino import opset13 as op
        self.version = ov.__version__.split("-")[0]
        shape = [1, layer.tokens, layer.d]
        x = op.parameter(shape, np.float32)

        def linear(rows, letter):
            w = op.constant(getattr(layer, "w" + letter))
            product = op.matmul(rows, w, False, True)
            return op.add(product, op.constant(getattr(layer, "b" + letter)))

        def heads_of(letter):
            split = op.constant(np.array([1, layer.tokens, layer.heads, layer.p]))
            apart = op.reshape(linear(x, letter), split, False)
            return op.transpose(apart, op.constant(np.array([0, 2, 1, 3])))

        mixed = op.scaled_dot_product_attention(*map(heads_of, "qkv"))
        together = op.transpose(mixed, op.constant(np.array([0, 2, 1, 3])))
        y = linear(op.reshape(together, op.constant(np.array(shape)), False), "o")
        settings = {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY",
                    "INFERENCE_PRECISION_HINT": "f32", "ENABLE_CPU_PINNING": False}
        compiled = ov.Core().compile_model(ov.Model([y], [x]), "CPU", settings)
        self.kernels = self.kernels_of(compiled)
        self.y = np.empty(shape, np.float32)
        request = compiled.create_infer_request()
        self.kept = (compiled, ov.Tensor(layer.x[None]), ov.Tensor(self.y, shared_memory=True))
        request.set_input_tensor(self.kept[1])
        request.set_output_tensor(self.kept[2])
        self.once = lambda: request.infer(share_outputs=True)

    @staticmethod
    def kernels_of(compiled):
        """Which kernels the plugin has chosen."""
        nodes = compiled.get_runtime_model().get_ordered_ops()
        return {str(node.get_rt_info()["primitiveType"].astype(str)) for node in nodes
                if "primitiveType" in node.get_rt_info()}

    def result(self):
        return self.y[0]


class Torch(FromPython):
    """One linear for queries, keys and values, scaled_dot_product_attention, one linear."""
    name = "torch"

    def __init__(self, layer):
        import numpy as np
        import torch
        from torch.nn import functional
        self.version = torch.__version__
        torch.set_num_threads(1)
        w = torch.from_numpy(np.concatenate([layer.wq, layer.wk, layer.wv]))
        b = torch.from_numpy(np.concatenate([layer.bq, layer.bk, layer.bv]))
        wo, bo, x = map(torch.from_numpy, (layer.wo, layer.bo, layer.x[None]))
        split, d = (1, layer.tokens, 3, layer.heads, layer.p), layer.d

        @torch.inference_mode()
        def once():
            q, k, v = functional.linear(x, w, b).view(split).permute(2, 0, 3, 1, 4)
            mixed = functional.scaled_dot_product_attention(q, k, v)
            self.y = functional.linear(mixed.transpose(1, 2).reshape(1, -1, d), wo, bo)

        self.once = once

    def result(self):
        return self.y[0].numpy()


class Ggml(FromPython):
    """mul_mat and soft_max_ext, as programs around ggml build their attention; planned once."""
    name = "ggml"

    def __init__(self, layer):
        import ctypes
        from importlib.metadata import version
        import ggml
        import numpy as np
        self.version = version("ggml-python")
        tokens, heads, d, p = layer.tokens, layer.heads, layer.d, layer.p
        floats = 4 * d * d + 16 * tokens * d + 3 * heads * tokens * tokens
        room = ggml.ggml_init(ggml.ggml_init_params(mem_size=4 * floats + (1 << 20),
                                                    mem_buffer=None, no_alloc=False))

        def array(tensor, *shape):
            return np.ctypeslib.as_array(ggml.ggml_get_data_f32(tensor), shape)

        def given(values):
            flat = values.reshape(-1, values.shape[-1])
            tensor = ggml.ggml_new_tensor_2d(room, ggml.GGML_TYPE_F32, flat.shape[1], flat.shape[0])
            array(tensor, *flat.shape)[...] = flat
            return tensor

        def linear(rows, letter):
            product = ggml.ggml_mul_mat(room, given(getattr(layer, "w" + letter)), rows)
            return ggml.ggml_add(room, product, given(getattr(layer, "b" + letter)))

        def heads_of(letter, *order):
            apart = ggml.ggml_reshape_3d(room, linear(x, letter), p, heads, tokens)
            return ggml.ggml_cont(room, ggml.ggml_permute(room, apart, *order))

        x = given(layer.x)
        scores = ggml.ggml_mul_mat(room, heads_of("k", 0, 2, 1, 3), heads_of("q", 0, 2, 1, 3))
        weights = ggml.ggml_soft_max_ext(room, scores, None, float(1 / np.sqrt(p)), 0.0)
        mixed = ggml.ggml_mul_mat(room, heads_of("v", 1, 2, 0, 3), weights)
        together = ggml.ggml_cont_2d(room, ggml.ggml_permute(room, mixed, 0, 2, 1, 3), d, tokens)
        y = linear(together, "o")
        graph = ggml.ggml_new_graph(room)
        ggml.ggml_build_forward_expand(graph, y)
        plan = ggml.ggml_graph_plan(graph, 1)
        work = (ctypes.c_uint8 * (plan.work_size + 64))()
        plan.work_data = ctypes.cast(work, ctypes.POINTER(ctypes.c_uint8))
        self.kept, self.y, self.free = (work, plan, graph), array(y, tokens, d), ggml.ggml_free
        self.room = room
        compute, plan_pointer = ggml.ggml_graph_compute, ctypes.byref(plan)
        self.once = lambda: compute(graph, plan_pointer)

    def __del__(self):
        if hasattr(self, "room"):
            self.free(self.room)

    def result(self):
        return self.y


PEERS = [OrtAttention, OrtAttention23, OpenVino, NumPy, Torch, Ggml]

# These ask the processor, or were compiled for it, and take no word for it.
NOT_HELD = ("ort-attention", "ort-attention-23", "ggml")


def peer_of(kind, layer, isa):
    if isa == "avx2" and kind.name in NOT_HELD:
        raise Unavailable("cannot be held to AVX2")
    try:
        peer = kind(layer)
        peer.once()
    except ImportError as fault:
        raise Unavailable(str(fault)) from fault
    # mlas is ONNX Runtime's library of matrix products
    wider = [k for k in getattr(peer, "kernels", ()) if "avx512" in k or "mlas" in k]
    if isa == "avx2" and wider:
        raise Unavailable("was not held to AVX2: " + ", ".join(sorted(wider)))
    return peer
