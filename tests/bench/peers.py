"""Times one attention layer in other software and in generated C, side by side.

Everything runs in this one process, on one processor and one thread. A round lets each contender
take its turn; a turn is a call to bring its data back and then calls that are timed one by one.
The peers are called as their users call them, through their Python interface, with inputs and
outputs bound before. Generated C is called from C and, in small cells, through ctypes as well, so
that the cost of a call from Python can be told from the rest.

All get the same weights and inputs. Errors are against float64 NumPy.
"""
import argparse
import gc
import json
import os
import sys
import time
from pathlib import Path

from peers_generated import SHAPES, FromC, Layer, Library, ThroughCtypes
from peers_software import CHOOSING, HELD_TO_AVX2, ONE_THREAD, PEERS, Unavailable, peer_of

# Below so many microseconds a call from Python is worth telling apart.
SMALL_US = 200

# Above so many seconds the processor's clock may count.
LONG_CALL = 50e-6


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
    was_disturbed = record["clock"] == "wall" and record["cpu_share"] < 0.97
    disturbed = f"  (got {record['cpu_share']:.0%} of the processor)" if was_disturbed else ""
    print(f"    {record['peer']:22s} {record['median_us']:11.1f} us  min {record['min_us']:11.1f}"
          f"  {record['gflops']:7.1f} GFLOP/s  error {record['rel_err']:.1e}{disturbed}",
          flush=True)


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
    parser.add_argument("--seconds", type=float, default=0.4,
                        help="of samples a contender and cell")
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
