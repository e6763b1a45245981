"""scipy_ways.py - SciPy's formats for one problem; it has no threads."""
import numpy as np
import scipy
from scipy import sparse

VERSION = scipy.__version__


def ways(p):
    A = sparse.csr_matrix((p.val, p.col, p.start), shape=p.shape)
    yield "csr", lambda: A @ p.B
    for b in (8, 4, 2):
        if fill(A, b) > 0.7:
            blocks = A.tobsr((b, b))
            yield f"bsr {b}", lambda: blocks @ p.B
            break
    if diagonals(A) <= 64 and p.op == "spmv":
        dia = A.todia()
        yield "dia", lambda: dia @ p.B


def fill(A, b):
    """Share of b x b blocks' cells that hold an entry."""
    if A.shape[0] % b or A.shape[1] % b or A.nnz == 0:
        return 0
    coo = A.tocoo()
    block = coo.row // b * np.int64(A.shape[1] // b) + coo.col // b
    return A.nnz / (len(np.unique(block)) * b * b)


def diagonals(A):
    coo = A.tocoo()
    return len(np.unique(coo.col - coo.row))


def array(result):
    return np.ascontiguousarray(result)
