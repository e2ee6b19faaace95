"""Times one attention layer in other software and in generated C, side by side.

Everything runs in this one process, on one processor and one thread. A round lets each contender
take its turn; a turn is a call to bring its data back and then calls that are timed one by one.
The peers are called as their users call them, through their Python interface, with inputs and
outputs bound before. Generated C is called from C and, in small cells, through ctypes as well, so
that the cost of a call from Python can be told from the rest.

All get the same weights and inputs. Errors are against float64 NumPy.
"""
import argparse
import ctypes
import gc
import json
import os
import sys
import time
from pathlib import Path

SHAPES = {"tiny": (2, 32, 16), "bert-tiny": (2, 128, 64), "minilm": (12, 384, 32),
          "bert-base": (12, 768, 64)}

# Below so many microseconds a call from Python is worth telling apart.
SMALL_US = 200

# Above so many seconds the processor's clock may count.
LONG_CALL = 50e-6

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


# ---- Generated C ---------------------------------------------------------------------------------


class Counts(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in ("tokens", "fresh", "past")]


class Measured(ctypes.Structure):
    """bench_layer of templates/bench_layer.h."""
    _fields_ = [("target_count", ctypes.c_size_t),
                ("targets", ctypes.POINTER(ctypes.c_char_p)),
                ("row", ctypes.c_size_t),
                ("prepare", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(Counts))),
                ("open", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_size_t)),
                ("run", ctypes.c_void_p),
                ("fault", ctypes.CFUNCTYPE(ctypes.c_char_p))]


class Library:
    """A layer that `qkvc bench --rounds 0 --keep` compiled."""

    def __init__(self, folder, shape):
        self.lib = ctypes.CDLL(str(Path(folder) / (shape.replace("-", "_") + ".1.so")))
        self.measured = Measured.in_dll(self.lib, "bench_measured")
        self.lib.bench_tensor.restype = ctypes.POINTER(ctypes.c_float)
        self.lib.bench_run.argtypes = [ctypes.c_size_t]
        self.lib.bench_sample.restype = ctypes.c_size_t
        self.lib.bench_sample.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t,
                                          ctypes.c_int, ctypes.c_double, ctypes.POINTER(ctypes.c_double),
                                          ctypes.c_size_t]

    def prepare(self, tokens):
        trouble = self.measured.prepare(Counts(tokens, tokens, 0))
        if trouble:
            sys.exit(f"the layer was not made ready: {trouble.decode()}")

    def tensor(self, role, *shape):
        import numpy as np
        return np.ctypeslib.as_array(self.lib.bench_tensor(role.encode()), shape)

    def targets(self, wanted):
        """Numbers and names of the targets that this machine has."""
        for number in range(self.measured.target_count):
            name = self.measured.targets[number].decode()
            if name in wanted and self.measured.open(number) == 1:
                yield number, name


class FromC:
    """A target, called and timed in C."""
    room = 1 << 16

    def __init__(self, layer, number, name):
        self.name, self.number, self.layer, self.version = "qkvc-" + name, number, layer, "-"
        self.buffer = (ctypes.c_double * self.room)()
        self.group = 1

    def once(self):
        self.layer.library.lib.bench_run(self.number)

    def turn(self, seconds, samples):
        lib = self.layer.library
        count = lib.lib.bench_sample(lib.measured.run, self.number, self.group, self.ours, seconds,
                                     self.buffer, self.room)
        samples.extend(self.buffer[:count])

    def result(self):
        return self.layer.library.tensor("y", self.layer.tokens, self.layer.d)


class FromPython:
    """Whatever is called from Python: `once` is one call, `result` what it gave."""

    def turn(self, seconds, samples):
        wall, once = time.perf_counter_ns, self.once
        clock = time.process_time_ns if self.ours else wall
        end = wall() + int(seconds * 1e9)
        while True:
            begin = clock()
            once()
            done = clock()
            samples.append((done - begin) * 1e-9)
            if wall() >= end:
                break


class ThroughCtypes(FromPython):
    """A target, called through ctypes as the peers are called through their interfaces."""

    def __init__(self, layer, number, name):
        self.name, self.layer, self.version = f"qkvc-{name}-ctypes", layer, "-"
        run = layer.library.lib.bench_run
        argument = ctypes.c_size_t(number)
        self.once = lambda: run(argument)

    result = FromC.result


# ---- The layer -----------------------------------------------------------------------------------


class Layer:
    """Weights and input of one cell, taken from the library: y = x W' + b, W [out][in]."""

    def __init__(self, library, shape, tokens):
        self.library, self.shape, self.tokens = library, shape, tokens
        self.heads, self.d, self.p = SHAPES[shape]
        library.prepare(tokens)
        self.x = library.tensor("q", tokens, self.d).copy()
        for letter in "qkvo":
            setattr(self, "w" + letter, library.tensor("w" + letter, self.d, self.d).copy())
            setattr(self, "b" + letter, library.tensor("b" + letter, self.d).copy())

    def operations(self):
        return 8 * self.tokens * self.d**2 + 4 * self.tokens**2 * self.d

    def reference(self):
        import numpy as np
        wide = {k: v.astype(np.float64) for k, v in vars(self).items() if isinstance(v, np.ndarray)}

        def heads_of(letter):
            y = wide["x"] @ wide["w" + letter].T + wide["b" + letter]
            return y.reshape(self.tokens, self.heads, self.p).transpose(1, 0, 2)

        q, k, v = map(heads_of, "qkv")
        scores = q @ k.transpose(0, 2, 1) / np.sqrt(self.p)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        mixed = (weights @ v).transpose(1, 0, 2).reshape(self.tokens, self.d)
        return mixed @ wide["wo"].T + wide["bo"]


# ---- Peers ---------------------------------------------------------------------------------------


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


PEERS = [OrtAttention, OrtAttention23, OpenVino, NumPy, Torch]

# ONNX Runtime asks the processor itself and takes no word for it.
NOT_HELD = ("ort-attention", "ort-attention-23")


def peer_of(kind, layer, isa):
    if isa == "avx2" and kind.name in NOT_HELD:
        raise Unavailable("cannot be held to AVX2")
    try:
        peer = kind(layer)
        peer.once()
    except ImportError as fault:
        raise Unavailable(str(fault)) from fault
    wider = [kernel for kernel in getattr(peer, "kernels", ()) if "avx512" in kernel]
    if isa == "avx2" and wider:
        raise Unavailable("was not held to AVX2: " + ", ".join(sorted(wider)))
    return peer


# ---- Measuring -----------------------------------------------------------------------------------


def seconds_of(one):
    """Of a call, more or less: the best of three."""
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        one.once()
        times.append(time.perf_counter() - begin)
    return min(times)


def contenders_of(layer, args, told):
    kinds = [kind for kind in PEERS if kind.name in args.peers]
    for kind in kinds:
        try:
            yield peer_of(kind, layer, args.isa)
        except Unavailable as why:
            if kind.name not in told:
                told.add(kind.name)
                print(f"{kind.name}: left out: {why}", flush=True)
    wanted = ["portable", "avx2"] + (["avx512"] if args.isa == "native" else [])
    for number, name in layer.library.targets(wanted):
        one = FromC(layer, number, name)
        yield one
        if seconds_of(one) * 1e6 < SMALL_US:
            yield ThroughCtypes(layer, number, name)


def error_of(contender, want):
    import numpy as np
    got = np.array(contender.result(), np.float64)
    return float(np.linalg.norm(got - want) / np.linalg.norm(want))


def class_of(error):
    for bound, name in ((1e-5, "f32"), (1.2e-3, "f16/tf32"), (1e-2, "bf16"), (5e-2, "int8")):
        if error < bound:
            return name
    return "wrong"


def spoil(contender):
    """A result that is not written again shows."""
    try:
        contender.result()[...] = float("nan")
    except (ValueError, RuntimeError):  # some hand out a result that cannot be written
        pass


def take_rounds(contenders, rounds, seconds, clock):
    """Samples in seconds, and the share of the processor, of each."""
    samples, cpu, wall = [[[] for _ in contenders]] + [[0.0] * len(contenders) for _ in "cw"]
    for one in contenders:
        each = seconds_of(one)
        if isinstance(one, FromC):
            one.group = int(4e-6 / each) + 1 if each < 2e-6 else 1
        one.ours = clock == "cpu" and each > LONG_CALL
        one.every = max(1, min(rounds // 5, int(each / (seconds / rounds))))
    gc.collect()
    gc.disable()
    for number in range(rounds):
        for i, one in enumerate(contenders):
            if number % one.every:
                continue
            one.once()
            cpu_begin, begin = time.process_time(), time.perf_counter()
            one.turn(seconds / rounds, samples[i])
            cpu[i] += time.process_time() - cpu_begin
            wall[i] += time.perf_counter() - begin
    gc.enable()
    return samples, [c / w for c, w in zip(cpu, wall)]


def measure(layer, args, told):
    """The records of one cell."""
    contenders = list(contenders_of(layer, args, told))
    want = layer.reference()
    errors = []
    for one in contenders:
        spoil(one)
        one.once()
        errors.append(error_of(one, want))
    samples, shares = take_rounds(contenders, args.rounds, args.seconds, args.clock)
    for i, one in enumerate(contenders):
        spoil(one)
        one.once()
        error = max(errors[i], error_of(one, want))
        times = sorted(samples[i])
        half = len(times) // 2
        median = times[half] if len(times) % 2 else (times[half - 1] + times[half]) / 2
        yield {"peer": one.name, "version": one.version, "shape": layer.shape, "T": layer.tokens,
               "dtype": "f32", "threads": 1, "layer": "plain", "isa": args.isa, "clock": args.clock,
               "median_us": round(median * 1e6, 3), "min_us": round(times[0] * 1e6, 3),
               "calls": len(times) * getattr(one, "group", 1),
               "gflops": round(layer.operations() / median / 1e9, 2),
               "rel_err": float(f"{error:.3e}"), "class": class_of(error),
               "cpu_share": round(shares[i], 3), "cpu": args.model}


def is_ours(record):
    return record["peer"].startswith("qkvc-")


def ratios(records):
    """Lines that compare each way of ours with the best peer, by medians and by minima."""
    peers = [r for r in records if not is_ours(r) and r["class"] == "f32"]
    if not peers:
        return
    for by in ("median_us", "min_us"):
        best = min(peers, key=lambda r: r[by])
        parts = [f"{r['peer']} {best[by] / r[by]:.2f}" for r in records if is_ours(r)]
        print(f"    {by[:-3]:6s} of {best['peer']} {best[by]:.1f} us is so many times that of: "
              + ", ".join(parts), flush=True)


def tell(record):
    disturbed = f"  (got {record['cpu_share']:.0%})" if record["cpu_share"] < 0.97 else ""
    print(f"    {record['peer']:22s} {record['median_us']:11.1f} us  min {record['min_us']:11.1f}"
          f"  {record['gflops']:7.1f} GFLOP/s  error {record['rel_err']:.1e}{disturbed}", flush=True)


def model_name():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--libraries", required=True, help="folder of the compiled layers")
    parser.add_argument("--shapes", default=",".join(SHAPES))
    parser.add_argument("--tokens", default="1,8,32,128,512")
    parser.add_argument("--peers", default=",".join(kind.name for kind in PEERS))
    parser.add_argument("--isa", choices=["native", "avx2"], default="native",
                        help="avx2: peers are held to AVX2, those that cannot be are left out")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=0.4, help="of samples a contender and cell")
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall",
                        help="of calls above 50 us; cpu: the time that the processor gave to us")
    parser.add_argument("--out", help="append JSON lines here")
    args = parser.parse_args()
    args.shapes, args.peers = args.shapes.split(","), args.peers.split(",")
    args.tokens = [int(t) for t in args.tokens.split(",")]
    unknown = set(args.shapes) - set(SHAPES) | set(args.peers) - {kind.name for kind in PEERS}
    if unknown:
        parser.error("unknown: " + ", ".join(sorted(unknown)))
    args.model = model_name()
    return args


def main():
    args = arguments()
    for name in [name for name in os.environ if name.startswith(CHOOSING)]:
        del os.environ[name]
    os.environ.update(ONE_THREAD)
    if args.isa == "avx2":
        os.environ.update(HELD_TO_AVX2)
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    told, wrong = set(), []
    for shape in args.shapes:
        library = Library(args.libraries, shape)
        for tokens in args.tokens:
            print(f"{shape}, {tokens} tokens", flush=True)
            records = list(measure(Layer(library, shape, tokens), args, told))
            for record in records:
                tell(record)
                if is_ours(record) and record["class"] != "f32":
                    wrong.append(f"{shape}, {tokens} tokens, {record['peer']}")
            ratios(records)
            if args.out:
                with open(args.out, "a", encoding="utf-8") as lines:
                    lines.writelines(json.dumps(r) + "\n" for r in records)
    if wrong:
        sys.exit("wrong results: " + "; ".join(wrong))


if __name__ == "__main__":
    main()
