"""Conjugate gradients on a tuned operator, and on SciPy's own matrix with
spry's kernels behind it.

    python3 solver.py
"""

import sys
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import cg

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import spry  # noqa: E402


def main():
    n = 300
    line = sparse.diags([-1, 2, -1], [-1, 0, 1], (n, n))
    A = sparse.kronsum(line, line, format="csr") + sparse.eye(n * n) * 0.01
    b = np.ones(n * n)
    T = spry.tune(A.tocsr(), seconds=2)
    print(T)
    x, bad = cg(T, b, tol=1e-8, atol=0)
    print("tuned", bad, np.linalg.norm(A @ x - b) / np.linalg.norm(b))
    with spry.accelerate_scipy():
        x, bad = cg(A.tocsr(), b, tol=1e-8, atol=0)
    print("scipy", bad, np.linalg.norm(A @ x - b) / np.linalg.norm(b))


if __name__ == "__main__":
    main()
