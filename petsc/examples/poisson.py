#!/usr/bin/python3
"""Poisson's equation on a cube with petsc4py, on spry's products.

    mpirun -np 2 python3 poisson.py [LIBRARY [N]]

LIBRARY is the path of libspry_petsc.so, $(pkg-config --variable=plugin
spry_petsc); without it the products are AIJ's.
"""

import sys

library = sys.argv[1] if len(sys.argv) > 1 else ""
n = int(sys.argv[2]) if len(sys.argv) > 2 else 20

import petsc4py  # noqa: E402

petsc4py.init(["poisson"] + (["-dll_append", library, "-mat_seqaij_type",
                              "seqaijspry"] if library else []))
from petsc4py import PETSc  # noqa: E402


def assemble():
    A = PETSc.Mat().createAIJ((n ** 3, n ** 3), nnz=7)
    first, last = A.getOwnershipRange()
    for row in range(first, last):
        A[row, row] = 6
        for step, at in ((1, row % n), (n, row // n % n),
                         (n * n, row // n ** 2)):
            if at > 0:
                A[row, row - step] = -1
            if at < n - 1:
                A[row, row + step] = -1
    A.assemble()
    return A


def main():
    A = assemble()
    x, b = A.createVecs()
    b.set(1)
    ksp = PETSc.KSP().create()
    ksp.setOperators(A)
    ksp.setType("cg")
    ksp.getPC().setType("jacobi")
    ksp.setFromOptions()
    ksp.solve(b, x)
    PETSc.Sys.Print(f"iterations {ksp.getIterationNumber()} "
                    f"norm {x.norm():.10g}")


main()
