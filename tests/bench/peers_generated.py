"""The generated side: a layer's shared library, its targets called from C and through ctypes, and
the weights and inputs that all sides get."""
import ctypes
import sys
import time
from pathlib import Path

SHAPES = {"tiny": (2, 32, 16), "bert-tiny": (2, 128, 64), "minilm": (12, 384, 32),
          "bert-base": (12, 768, 64)}
VERSION = Path(__file__).resolve().parents[2] / "generator/version.lua"


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
        self.version = VERSION.read_text(encoding="utf-8").split('"')[1]
        self.measured = Measured.in_dll(self.lib, "bench_measured")
        self.lib.bench_tensor.restype = ctypes.POINTER(ctypes.c_float)
        self.lib.bench_run.argtypes = [ctypes.c_size_t]
        self.lib.bench_sample.restype = ctypes.c_size_t
        self.lib.bench_sample.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t,
                                          ctypes.c_int, ctypes.c_double,
                                          ctypes.POINTER(ctypes.c_double), ctypes.c_size_t]

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
        self.name, self.number, self.layer = "qkvc-" + name, number, layer
        self.version = layer.library.version
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
        self.name, self.layer = f"qkvc-{name}-ctypes", layer
        self.version = layer.library.version
        run = layer.library.lib.bench_run
        argument = ctypes.c_size_t(number)
        self.once = lambda: run(argument)

    result = FromC.result


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
