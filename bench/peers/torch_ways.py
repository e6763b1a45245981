"""torch_ways.py - PyTorch's sparse CSR and COO tensors for one problem.

Without MKL its sampled product makes the whole dense one first; where that
would not fit it is not asked.
"""
import warnings

import numpy as np
import torch

warnings.simplefilter("ignore")
VERSION = torch.__version__
MOST_CELLS = 1 << 27


def ways(p):
    if p.op == "sddmm" and p.shape[0] * p.shape[1] > MOST_CELLS:
        return
    torch.set_num_threads(p.threads)
    B, D, val = (torch.from_numpy(x) for x in (p.B, p.D, p.val))
    for name, kind in (("csr 32", np.int32), ("csr 64", np.int64)):
        A = torch.sparse_csr_tensor(
            torch.from_numpy(p.start.astype(kind)),
            torch.from_numpy(p.col.astype(kind)), val, p.shape)
        if p.op == "sddmm":
            yield name, sampled(A, B, D.t(), val)
        else:
            yield name, product(A, B)
    if p.op != "sddmm":
        yield "coo", product(A.to_sparse_coo().coalesce(), B)


def product(A, B):
    return lambda: A @ B


def sampled(A, B, D, val):
    """A's pattern of B D, times A's values."""
    def run():
        C = torch.sparse.sampled_addmm(A, B, D, beta=0)
        return C.values() * val
    return run


def array(result):
    return np.ascontiguousarray(result.numpy())
