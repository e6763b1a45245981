#!/usr/bin/python3
"""What the Python package claims, measured in one run.

    python.py [refill|strides|equal|speed|suite|torch|import]...

Ratios are medians of interleaved pairs in this process. QUICK=1 takes fewer
matrices. Ends with lines "aim NAME VALUE TARGET met|short".
"""

import ctypes
import os
import subprocess
import sys
import tempfile
import time
from ctypes import byref, c_void_p
from pathlib import Path

import core_type

HERE = Path(__file__).resolve().parents[1]
QUICK = bool(os.environ.get("QUICK"))
aims = []


def aim(name, value, target, more=True):
    met = value >= target if more else value <= target
    aims.append(f"aim {name} {value:.3g} {target:g} "
                f"{'met' if met else 'short'}")


def not_measured(name, target, why):
    aims.append(f"aim {name} - {target:g} not measured: {why}")


def begin():
    """What needs to be set before the library is there."""
    os.environ.setdefault("SPRY_HOME", tempfile.mkdtemp(prefix="spry-bench-"))
    core_type.force(os.environ)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.pop(name, None)
    sys.path[:0] = [str(HERE / "python"), str(HERE / "python" / "tests"),
                    str(HERE / "python" / "examples")]


def seconds(f, least=0.002):
    """One sample: so many calls that the clock sees them."""
    n = 1
    while True:
        begun = time.perf_counter()
        for _ in range(n):
            f()
        took = time.perf_counter() - begun
        if took >= least:
            return took / n
        n *= 2


def ratio(slow, fast, pairs=None):
    """How much longer `slow` takes; the median of interleaved pairs."""
    import numpy as np

    slow(), fast()
    pairs = pairs or (7 if QUICK else 15)
    return float(np.median([seconds(slow) / seconds(fast)
                            for _ in range(pairs)]))


def scattered(rows, cols, nnz, seed):
    """Entries anywhere; sparse.random would permute all cells."""
    import numpy as np
    from scipy import sparse

    r = np.random.default_rng(seed)
    A = sparse.coo_matrix((r.normal(size=nnz), (r.integers(0, rows, nnz),
                                                r.integers(0, cols, nnz))),
                          (rows, cols)).tocsr()
    A.sort_indices()
    return A


def mean(values):
    import numpy as np

    return float(np.exp(np.mean(np.log(values))))


# ---- plans by name ----

SPMV = ["csr", "csr unroll=4 order=length", "csr unroll=4 panel=512",
        "csr unroll=4 palette=256", "csr unroll=4 palette=1", "dcsr unroll=4",
        "bcsr r=2 c=2", "bcsr r=4 c=4 rest=25", "sell", "sell sigma=64",
        "sell index=8", "sell palette=256 sigma=64", "dia",
        "dia slice=4 symmetric=1", "super loops=ik dense=i"]
SPMM = ["csr tile=4", "csr tile=2 panel=512", "csr tile=4 order=length",
        "dcsr tile=2", "bcsr r=2 c=2 tile=2", "sell slice=2 tile=4 sigma=64"]


class Named:
    """A plan of a schedule's text; None instead when it does not fit."""

    def __init__(self, A, text, n=None):
        from spry import _library as c
        from spry._arrays import Source

        self.c, self.source = c, Source(A)
        self.problem, self.plan = c_void_p(), c_void_p()
        x = ctypes.create_string_buffer(1 << 12)
        make = c.lib.spry_problem_spmv
        extra = ()
        if n:
            make, extra = c.lib.spry_problem_spmm, (n,)
        c.check(make(byref(self.problem), self.source.pointer, *extra, c.F64))
        c.check(c.lib.spry_schedule_parse(x, text.encode()))
        self.status = c.lib.spry_plan_make(byref(self.plan), self.problem, x,
                                           c.machine())

    def refill(self, values):
        return self.c.lib.spry_plan_refill(self.plan, values.ctypes.data)

    def run(self, x, y):
        self.c.check(self.c.lib.spry_run_scaled(
            self.plan, 1.0, x.ctypes.data, None, 0.0, y.ctypes.data))

    def dense(self, b, c_):
        self.c.check(self.c.lib.spry_run_dense(self.plan, 1.0, byref(b), None,
                                               0.0, byref(c_)))

    def bytes(self):
        return int(self.c.lib.spry_plan_bytes(self.plan))

    def close(self):
        self.c.lib.spry_plan_free(self.plan)
        self.c.lib.spry_problem_free(self.problem)


def few_values(A, text, seed):
    import numpy as np

    r = np.random.default_rng(seed)
    if "palette=1" in text:
        return np.full(A.nnz, 1.5 + seed)
    if "palette" in text:
        return r.integers(-9, 9, A.nnz) * 0.37
    if "symmetric" in text:  # of any pattern that is
        return np.full(A.nnz, 0.25 + seed)
    return r.normal(size=A.nnz)


def refill():
    import numpy as np
    from scipy import sparse

    differ = done = 0
    for i in range(20 if QUICK else 100):
        A = sparse.random(20 + 7 * i % 300, 20 + 11 * i % 200, 0.05 + i % 9 / 30,
                          format="csr", random_state=i)
        x = np.random.default_rng(i).normal(size=A.shape[1])
        y, z = np.empty(A.shape[0]), np.empty(A.shape[0])
        for text in SPMV:
            A.data[:] = few_values(A, text, 1)
            own = Named(A.copy(), text)
            fresh = few_values(A, text, 2)
            A.data[:] = fresh
            anew = Named(A, text)
            if own.status == 0 and anew.status == 0:
                own.refill(few_values(A, text, 3))
                if own.refill(fresh) == 0:
                    own.run(x, y), anew.run(x, z)
                    done += 1
                    differ += y.tobytes() != z.tobytes()
            own.close(), anew.close()
    print(f"refill: {done} plans, {differ} differ from a fresh one")
    aim("refill-bitwise", differ, 0, more=False)
    costs = []
    A = scattered(100000, 100000, 1600000, 1)
    band = sparse.diags([1.0] * 9, range(-4, 5), (200000, 200000)).tocsr()
    for text in SPMV + SPMM:
        for name, M in (("random", A), ("band", band)):
            M = M.copy()
            M.data[:] = few_values(M, text, 1)
            own = Named(M, text, 16 if text in SPMM else None)
            if own.status == 0:
                v = few_values(M, text, 1)
                own.refill(v)
                room = np.ones(own.bytes(), np.uint8)
                to = np.ones_like(room)

                def copy():
                    to[:] = room

                # Codes are looked up, not copied; they are told apart below.
                # What no refill can do without: all values are read, and what
                # is packed is written, as a copy does.
                cost = ratio(lambda: own.refill(v), copy, 5)
                least = 1 + ratio(v.sum, copy, 5)
                costs.append((cost, least, text, name))
            own.close()
    for cost, least, text, name in sorted(costs)[::-1][:6]:
        print(f"  {cost:5.2f} copies, reading and writing alone {least:5.2f}  "
              f"{text}, {name}")
    plain = [c for c, _, t, _ in costs if "palette" not in t]
    codes = [(c, c / least) for c, least, t, _ in costs if "palette" in t]
    aim("refill-copies-worst", max(plain), 3, more=False)
    aim("refill-copies-palette", max(c for c, _ in codes), 3, more=False)
    aim("refill-least-palette", max(c for _, c in codes), 3, more=False)


def strides():
    import numpy as np
    from scipy import sparse

    from spry import _library as c

    # What misses cost is asked of the machine's card, which tunes measure.
    c.check(c.lib.spry_machine_probe(c.machine()))

    def aligned(rows, cols):
        # On a line of the cache: NumPy's own begin 16 bytes behind one, so
        # that every row with a gap behind it takes a line more.
        room = np.ones(rows * cols + 8)
        first = -room.ctypes.data % 64 // 8
        return room[first:first + rows * cols].reshape(rows, cols)

    def share(own, n, gap):
        """Of the speed without gaps: with them in both, in B, in C."""
        b, y, B, C = (aligned(rows, n + more) for more in (0, gap)
                      for rows in A.shape[::-1])
        dense = [c.Dense(a.ctypes.data, a.shape[1], c.ROW_MAJOR)
                 for a in (b, y, B, C)]
        return [ratio(lambda: own.dense(dense[0], dense[1]),
                      lambda: own.dense(dense[i], dense[j]))
                for i, j in ((2, 3), (2, 1), (0, 3))]

    # Behind 16 columns, 16 more are a row of a power of two.
    gaps = {gap: [] for gap in (8, 16, 24)}
    control, known = [], []  # the plain loop; kernels that know their width
    A = scattered(20000, 20000, 400000, 1)
    for text in SPMM + ["csr", "csr tile=2 fixed=1"]:
        for n in (16, 64):
            own = Named(A, text, n)
            for gap in gaps if own.status == 0 else ():
                both, of_b, of_c = share(own, n, gap)
                (control if text == "csr" else known if "fixed" in text
                 else gaps[gap]).append(both)
                print(f"  {both:.3f} of the contiguous speed, with B alone "
                      f"{of_b:.3f}, C alone {of_c:.3f}  {text}, {n} of "
                      f"{n + gap}")
            own.close()
    for gap, found in gaps.items():
        print(f"strides: {mean(found):.3f} of the contiguous speed, "
              f"{gap} columns left out")
    found = sum(gaps.values(), [])
    print(f"strides: {mean(found):.3f} in all; the plain loop, which only "
          f"reads and writes, {mean(control):.3f}")
    if known:  # without a compiler not for 64 columns
        print(f"strides: {mean(known):.3f} by kernels that know their width")
    aim("strides-mean", mean(gaps[16]), 0.95)  # the hardest of the three


def equal():
    import numpy as np
    from cases import integers, operand

    import spry
    from spry import _accelerate

    _accelerate._SMALL = 0
    count = differ = copied = 0
    for seed in range(100 if QUICK else 500):
        for fmt in ("csr", "csc", "bsr"):
            for index in (np.int32, np.int64):
                dtype = np.float32 if seed % 2 else np.float64
                A = integers(seed, fmt, index, dtype)
                for n in (None, 1 + seed % 9):
                    B = operand(seed, A.shape[1], n, dtype)
                    want = A @ B
                    with spry.accelerate_scipy(1 + seed % 2):
                        got = A @ B
                    count += 1
                    differ += not (got.dtype == want.dtype
                                   and np.array_equal(got, want))
        if seed % 10 == 0:
            A = integers(seed)
            A.sum_duplicates()
            m = spry.tune(A, effort="lookup",
                          store=":memory:")._source.matrix
            copied += m.nnz and (m.col != A.indices.ctypes.data
                                 or m.val != A.data.ctypes.data)
    _accelerate._SMALL = 20000
    print(f"equal: {count} products, {differ} differ, {copied} copied")
    aim("scipy-equal", differ, 0, more=False)
    aim("scipy-copies", copied, 0, more=False)


def problems():
    import numpy as np
    from scipy import sparse

    def mesh(n):
        line = sparse.diags([-1, 2, -1], [-1, 0, 1], (n, n))
        return sparse.kronsum(line, line, format="csr")

    def skewed(n, d):
        r = np.random.default_rng(1)
        i = (n * r.random(n * d) ** 3).astype(int)
        A = sparse.coo_matrix((r.normal(size=len(i)),
                               (i, r.integers(0, n, len(i)))), (n, n))
        return A.tocsr()

    yield "random-20k", scattered(20000, 20000, 400000, 1)
    yield "mesh-400", mesh(400)
    yield "skewed-20k", skewed(20000, 20)
    if QUICK:
        return
    yield "random-100k", scattered(100000, 100000, 1000000, 2)
    yield "pruned-2k", sparse.random(2048, 2048, 0.1, format="csr",
                                     random_state=3)
    yield "band-50k", sparse.diags([1.0] * 25, range(-12, 13),
                                   (50000, 50000)).tocsr()
    yield "blocks-8k", sparse.kron(
        sparse.random(1000, 1000, 0.01, random_state=4),
        np.ones((8, 8))).tocsr()
    yield "wide-2k", scattered(2000, 50000, 200000, 5)


def speed():
    import numpy as np

    import spry

    gains = {}
    for name, A in problems():
        A.sort_indices()
        for n in (None, 32):
            B = np.ones(A.shape[1] if n is None else (A.shape[1], n))
            for threads in (1, 2):
                T = spry.tune(A, n, threads=threads,
                              seconds=2 if QUICK else 5)
                g = ratio(lambda: A @ B, lambda: T @ B)
                gains.setdefault(("tuned", n, threads), []).append(g)
                theirs, ours = products(A, threads)
                a = ratio(lambda: theirs(B), lambda: ours(B))
                gains.setdefault(("in place", n, threads), []).append(a)
                print(f"  {name:12} {'spmv' if n is None else f'spmm-{n}':8} "
                      f"{threads} thread{'s' if threads > 1 else ' '}  tuned "
                      f"{g:6.2f}  in place {a:6.2f}  {T.schedule}")
    for n, op in ((None, "spmv"), (32, "spmm")):
        aim(f"scipy-{op}-1", mean(gains["tuned", n, 1]), 2)
        aim(f"scipy-{op}-2", mean(gains["tuned", n, 2]), 3)
    every = [g for key in gains for g in gains[key]]
    aim("scipy-least", min(every), 0.98)
    aim("accelerate-mean-2", mean(gains["in place", None, 2]
                                  + gains["in place", 32, 2]), 1)


def products(A, threads):
    """SciPy's product and ours, the functions called as SciPy calls them:
    switching between them would be part of the time."""
    import numpy as np
    from scipy.sparse import _sparsetools

    import spry

    def using(vector, vectors):
        def product(B):
            rows, cols = A.shape
            where = (A.indptr, A.indices, A.data)
            y = np.zeros((rows, *B.shape[1:]))
            if B.ndim == 1:
                vector(rows, cols, *where, B, y)
            else:
                vectors(rows, cols, B.shape[1], *where, B.ravel(), y.ravel())
            return y

        return product

    theirs = using(_sparsetools.csr_matvec, _sparsetools.csr_matvecs)
    with spry.accelerate_scipy(threads):
        ours = using(_sparsetools.csr_matvec, _sparsetools.csr_matvecs)
    return theirs, ours


# SciPy's own tests of sparse matrices, in slices that take minutes.
SUITE = {"matrices": ["tests/test_base.py"],
         "the rest of them": ["tests", "--ignore-glob=*test_base.py"],
         "solvers": ["linalg"], "graphs": ["csgraph"]}
PATIENCE = 900  # seconds for a slice, on a machine with other work


def slice_of_suite(wanted):
    """What pytest says last about it, its products replaced, small ones too.

    Threads that wait sleep: beside other work, those that spin may make a
    product of a few entries take as long as a turn of the scheduler.
    """
    code = ("import sys; sys.path.insert(0, sys.argv[1]); import pytest, spry; "
            "from spry import _accelerate; _accelerate._SMALL = 0; "
            "spry.accelerate_scipy(); "
            "sys.exit(pytest.main(['-q', '-p', 'no:cacheprovider', '-W', "
            "'ignore', *sys.argv[2:]]))")
    from scipy import sparse

    here = Path(sparse.__file__).parent
    paths = [w if w.startswith("-") else str(here / w) for w in wanted]
    try:
        said = subprocess.run(
            [sys.executable, "-c", code, str(HERE / "python"), *paths],
            capture_output=True, text=True, cwd="/tmp", check=False,
            timeout=PATIENCE, env={**os.environ, "OMP_WAIT_POLICY": "passive"})
    except subprocess.TimeoutExpired:
        return f"1 error: not done in {PATIENCE} s"
    lines = said.stdout.strip().splitlines() or [said.stderr]
    bad = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    if said.returncode and " failed" not in lines[-1] \
            and " error" not in lines[-1]:
        lines.append(f"1 error: exit {said.returncode}; {lines[-1]}")
    return "\n    ".join(lines[-1:] + bad)


def suite():
    """All of them, or with QUICK a slice; as many at once as there are
    cores."""
    import re
    from concurrent.futures import ThreadPoolExecutor

    names = ["graphs"] if QUICK else list(SUITE)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        said = list(pool.map(slice_of_suite, [SUITE[n] for n in names]))
    found = {"passed": 0, "failed": 0, "error": 0}
    for name, text in zip(names, said):
        print(f"  {name}: {text}")
        for what in found:
            found[what] += sum(map(int, re.findall(rf"(\d+) {what}",
                                                   text.splitlines()[0])))
    print(f"suite: {found['passed']} passed")
    aim("scipy-suite-failures", found["failed"] + found["error"]
        + (found["passed"] == 0), 0, more=False)


def torch():
    """In a process whose waiting threads sleep, both products alike: torch's
    OpenBLAS has threads of its own, which wait for cores on which OpenMP's
    spin."""
    env = {"OMP_WAIT_POLICY": "passive", **os.environ}
    said = subprocess.run([sys.executable, __file__, "epochs"], text=True,
                          env=env, stdout=subprocess.PIPE, check=True).stdout
    for line in said.splitlines()[1:]:
        if line.startswith("aim "):
            aims.append(line)
        else:
            print(line)


def epochs():
    try:
        import torch as t
    except ImportError:
        not_measured("torch-epoch", 2, "there is no torch")
        return
    import numpy as np

    import gcn

    t.set_num_threads(2)
    nodes = 20000 if QUICK else 50000
    graph = gcn.make_graph(nodes, 30, 64, 16)
    own = gcn.product_of_spry(graph, 64, seconds=3 if QUICK else 6)
    other = gcn.product_of_torch(graph)
    epochs = 20 if QUICK else 50
    a, b = (gcn.train(graph, p, epochs, 64) for p in (own, other))
    apart = max(abs(x - y) for x, y in zip(a.losses, b.losses))
    gains = [np.median(gcn.train(graph, other, 5, 64).seconds)
             / np.median(gcn.train(graph, own, 5, 64).seconds)
             for _ in range(3 if QUICK else 7)]
    H = t.randn(nodes, 64)
    product = ratio(lambda: other(H), lambda: own(H))
    print(f"torch: loss {a.losses[0]:.4f} -> {a.losses[-1]:.4f}, apart "
          f"{apart:.1e}; product alone {product:.2f} times as fast")
    aim("torch-loss-apart", apart, 1e-5, more=False)
    aim("torch-epoch", float(np.median(gains)), 2)


def imports():
    code = ("import time; t = time.perf_counter(); import spry; "
            "print(1e3 * (time.perf_counter() - t), "
            "len(__import__('os').listdir('/proc/self/task')))")
    said = [subprocess.run([sys.executable, "-c", code], check=True, text=True,
                           capture_output=True,
                           cwd=HERE / "python").stdout.split()
            for _ in range(7)]
    aim("import-ms", min(float(s[0]) for s in said), 50, more=False)
    aim("import-threads", max(int(s[1]) for s in said), 1, more=False)


PARTS = {"refill": refill, "strides": strides, "equal": equal, "speed": speed,
         "suite": suite, "torch": torch, "import": imports}
INSIDE = {"epochs": epochs}  # parts of parts


def main():
    begin()
    for module in ("numpy", "scipy"):
        try:
            __import__(module)
        except ImportError:
            print(f"{sys.executable} has no {module}")
            not_measured("python", 1, f"there is no {module}")
            break
    else:
        for name in sys.argv[1:] or PARTS:
            print(f"{name}:", flush=True)
            (PARTS | INSIDE)[name]()
    print("\n".join(aims))


if __name__ == "__main__":
    main()
