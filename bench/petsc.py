#!/usr/bin/python3
"""PETSc with spry's products and without, the same program, in turns.

    petsc.py [iterations|solve|columns|integers]...

Ratios are medians of interleaved pairs of processes; a process takes the best
of its solves, so what tuning costs is not in them. QUICK=1 takes smaller cubes
and fewer pairs. Ends with lines "aim NAME VALUE TARGET met|short".
"""

import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
QUICK = bool(os.environ.get("QUICK"))
SOLVE = HERE / "build/release/petsc/petsc-solve"
LIBRARY = HERE / "build/release/petsc/libspry_petsc.so"
PCS = {"none": "", "jacobi": "", "bjacobi": "", "asm": "-pc_asm_type basic", "gamg": "",
       "sor": "-pc_sor_local_symmetric"}
aims = []


def aim(name, value, target, more=True):
    met = value >= target if more else value <= target
    aims.append(f"aim {name} {value:.3g} {target:g} "
                f"{'met' if met else 'short'}")


class Said:
    """The figures that one run printed."""

    def __init__(self, text):
        solve = re.search(r"iterations (\d+) seconds ([\d.]+)", text)
        dense = re.search(r"columns \d+ seconds ([\d.]+) squares (.*)", text)
        self.iterations, self.seconds = int(solve[1]), float(solve[2])
        self.dense = float(dense[1]) if dense else 0
        self.sums = dense[2] if dense else ""
        self.ours = "spry multiplies columns over ranks" in text


def run(ranks, spry, words, store):
    env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMP_WAIT_POLICY="passive",
               OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", SPRY_HOME=str(store),
               OMPI_MCA_rmaps_base_oversubscribe="1",
               OMPI_MCA_mpi_yield_when_idle="1",
               OMPI_MCA_hwloc_base_binding_policy="none")
    if spry:
        env["PETSC_OPTIONS"] = (
            f"-dll_append {LIBRARY} -mat_seqaij_type seqaijspry "
            f"-spry_store {store}/store.db {spry}")
    said = subprocess.run(["mpirun", "-np", str(ranks), str(SOLVE),
                           *words.split()], env=env, capture_output=True,
                          text=True, check=False)
    if said.returncode:
        raise SystemExit(f"{words} on {ranks} ranks failed\n"
                         f"{said.stdout}{said.stderr}")
    return Said(said.stdout)


def iterations(store):
    """Six preconditioners, 1, 2 and 4 ranks: as many steps."""
    apart = []
    for problem in ("poisson", "elasticity"):
        for pc, more in PCS.items():
            for ranks in (1, 2, 4):
                words = (f"-n {6 if QUICK else 10} -problem {problem} "
                         f"-pc_type {pc} {more}")
                plain = run(ranks, "", words, store)
                tuned = run(ranks, "-spry_least 0 -spry_threads 1 "
                            "-spry_effort predict", words, store)
                apart.append(abs(plain.iterations - tuned.iterations))
                print(f"  {problem:10} {pc:8} np {ranks}  {plain.iterations} "
                      f"and {tuned.iterations}", flush=True)
    aim("petsc-iterations-apart", max(apart), 1, more=False)


def problems():
    yield "poisson", 40 if QUICK else 80
    yield "elasticity", 14 if QUICK else 24


def threads_of(ranks):
    """What a rank of spry's takes: its share of the cores, and one, as AIJ."""
    share = max(1, len(os.sched_getaffinity(0)) // ranks)
    return sorted({share, 1}, reverse=True)


def pairs(ranks, threads, words, store, figure):
    """AIJ's seconds over spry's."""
    tune = f"-spry_effort measure -spry_budget 3 -spry_threads {threads}"
    run(ranks, tune, words, store)  # what is measured is kept in the store
    found = []
    for _ in range(3 if QUICK else 7):
        plain = figure(run(ranks, "", words, store))
        found.append(plain / figure(run(ranks, tune, words, store)))
    return statistics.median(found)


def mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def ratios(ranks, what, words, store, figure):
    """Of each problem: with a rank's share of the cores, and all of them."""
    found, every = [], []
    for problem, n in problems():
        for threads in threads_of(ranks):
            times = pairs(ranks, threads, f"-n {n} -problem {problem} {words}",
                          store, figure)
            print(f"  {problem:10} {n}^3 np {ranks}, threads {threads} to "
                  f"AIJ's 1  {what} {times:.2f} times as fast", flush=True)
            every.append(times)
            if threads == threads_of(ranks)[0]:
                found.append(times)
    return found, every


def solve(store):
    for pc in ("jacobi", "gamg"):
        worst = []
        for ranks in (1, 2):
            found, every = ratios(
                ranks, f"KSPSolve, {pc}",
                f"-pc_type {pc} -solves 4 -ksp_max_it 200", store,
                lambda s: s.seconds)
            worst += every
            if pc == "jacobi":
                aim(f"petsc-cg-jacobi-np{ranks}", mean(found), 1.3)
        aim(f"petsc-cg-{pc}-least", min(worst), 0.98)


def columns(store):
    worst = []
    for ranks in (1, 2):
        found, every = ratios(ranks, "MatMatMult of 32 columns",
                              "-pc_type jacobi -ksp_max_it 1 -columns 32",
                              store, lambda s: s.dense)
        worst += every
        print("  np", ranks, "in the mean of", " and ".join(
            f"{name} {x:.2f}" for (name, _), x in zip(problems(), found)))
        aim(f"petsc-spmm-np{ranks}", mean(found), 1.2)
    aim("petsc-spmm-least", min(worst), 0.98)


def integers(store):
    """The same sums on 1 to 8 ranks; rows of 27 entries are multiplied by
    spry's own product over ranks."""
    differ = 0
    for problem in ("poisson", "box"):
        words = f"-n 9 -problem {problem} -pc_type jacobi -columns 13"
        want = run(1, "", words, store).sums
        for ranks in range(1, 9):
            got = run(ranks, "-spry_least 0 -spry_threads 1 -info :mat", words,
                      store)
            differ += got.sums != want
            if problem == "box" and ranks > 1 and not got.ours:
                raise SystemExit(f"PETSc multiplied {problem} on {ranks} ranks")
    print(f"  2 problems, 8 numbers of ranks, {differ} with other integers")
    aim("petsc-integers-differ", differ, 0, more=False)


PARTS = {"iterations": iterations, "solve": solve, "columns": columns,
         "integers": integers}


def main():
    if not (SOLVE.exists() and LIBRARY.exists() and shutil.which("mpirun")):
        print("aim petsc - 1 not measured: PETSc or mpirun is not installed "
              "(make deps-all)")
        return
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[1:] or PARTS:
            print(f"{name}:", flush=True)
            PARTS[name](Path(folder))
    print("\n".join(aims))


if __name__ == "__main__":
    main()
