"""Matrices to multiply, of every shape and kind."""

import numpy as np
from scipy import sparse


def integers(seed, fmt="csr", index=np.int32, dtype=np.float64):
    """A random matrix of small integers, on which every sum is exact."""
    r = np.random.default_rng(seed)
    rows, cols = (int(n) for n in r.integers(1, 90, 2))
    block = (1, 1)
    if fmt == "bsr":
        block = (int(r.integers(1, 5)), int(r.integers(1, 5)))
        rows, cols = rows * block[0], cols * block[1]
    A = sparse.random(rows, cols, r.random() ** 2, random_state=seed,
                      data_rvs=lambda n: r.integers(-4, 5, n))
    A = A.astype(dtype)
    A = A.tobsr(blocksize=block) if fmt == "bsr" else A.asformat(fmt)
    for name in ("indptr", "indices", "row", "col"):
        if hasattr(A, name):
            setattr(A, name, getattr(A, name).astype(index))
    return A


def operand(seed, rows, n=None, dtype=np.float64):
    r = np.random.default_rng(seed)
    shape = (rows,) if n is None else (rows, n)
    return r.integers(-5, 6, shape).astype(dtype)
