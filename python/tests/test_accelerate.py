"""SciPy's products stay what they are, only faster."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from cases import integers, operand
from scipy import sparse
from scipy.sparse.linalg import cg, eigsh

import spry
from spry import _accelerate


@pytest.fixture(autouse=True)
def ends():
    yield
    spry.restore_scipy()


@pytest.fixture
def everything(monkeypatch):
    """Small products, too."""
    monkeypatch.setattr(_accelerate, "_SMALL", 0)


@pytest.mark.parametrize("fmt", ["csr", "csc", "bsr"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_equal_bit_for_bit(fmt, index, everything):
    for seed in range(84):
        dtype = np.float32 if seed % 2 else np.float64
        A = integers(seed, fmt, index, dtype)
        pairs = [operand(seed, A.shape[1], n, dtype)
                 for n in (None, 1, 3, 16)]
        want = [A @ B for B in pairs]
        with spry.accelerate_scipy(threads=1 + seed % 2):
            got = [A @ B for B in pairs]
            turned = A.T @ operand(seed, A.shape[0], None, dtype)
        for g, w in zip(got, want):
            assert g.dtype == w.dtype and np.array_equal(g, w)
        assert np.array_equal(
            turned, A.T @ operand(seed, A.shape[0], None, dtype))


def test_never_stale(everything):
    A = integers(3)
    A.sum_duplicates()
    x = operand(3, A.shape[1])
    dense = A.toarray()
    place = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    r = np.random.default_rng(1)
    with spry.accelerate_scipy():
        for _ in range(10000):
            k = int(r.integers(A.nnz))
            A.data[k] = v = float(r.integers(-9, 9))
            dense[place[k], A.indices[k]] = v
            assert np.array_equal(A @ x, dense @ x)


def test_odd_operands_go_to_scipy(everything):
    A = integers(5)
    with spry.accelerate_scipy():
        for B in (A.astype(np.int64), A.astype(np.complex128),
                  A.astype(np.float32)):
            x = operand(1, A.shape[1])
            assert np.allclose(B @ x, A @ x)
            assert np.allclose(B @ x[::-1], A @ x[::-1].copy())


FORK = """
import os, signal, sys
import numpy as np
from scipy import sparse
import spry
A = sparse.random(4000, 4000, 0.01, format="csr", random_state=1)
x = np.ones(4000)
with spry.accelerate_scipy(threads=2):
    want = A @ x
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        os._exit(not np.array_equal(A @ x, want))
    sys.exit(os.waitpid(child, 0)[1] != 0)
"""


def test_children_of_a_fork():
    """Of a program that uses nothing else of spry."""
    package = str(Path(spry.__file__).resolve().parents[1])
    assert subprocess.run([sys.executable, "-c", FORK], env={
        **os.environ, "PYTHONPATH": package}).returncode == 0


def test_solvers(everything):
    A = sparse.random(300, 300, 0.05, random_state=3)
    A = (A @ A.T + 10 * sparse.eye(300)).tocsr()
    b = np.ones(300)
    want = eigsh(A, 3)[0]
    with spry.accelerate_scipy():
        x, bad = cg(A, b, tol=1e-10, atol=0)
        assert bad == 0 and np.allclose(eigsh(A, 3)[0], want)
    assert np.allclose(A @ x, b)


def test_restores():
    from scipy.sparse import _sparsetools

    before = _sparsetools.csr_matvec
    spry.accelerate_scipy()
    spry.accelerate_scipy(2)
    assert _sparsetools.csr_matvec is not before
    spry.restore_scipy()
    assert _sparsetools.csr_matvec is before


def test_nests():
    from scipy.sparse import _sparsetools

    def now():
        return _sparsetools.csr_matvec

    plain = now()
    with spry.accelerate_scipy(1):
        assert _accelerate._threads == 1
        with spry.accelerate_scipy(2):
            assert _accelerate._threads == 2
            spry.restore_scipy()
            with spry.accelerate_scipy():
                pass
            assert now() is plain
        assert _accelerate._threads == 1 and now() is not plain
    assert now() is plain


@pytest.mark.parametrize("threads", ["x", -1, 1.5, None])
def test_threads_are_a_number(threads):
    with spry.accelerate_scipy(1):
        with pytest.raises(ValueError, match="threads"):
            spry.accelerate_scipy(threads=threads)
        assert _accelerate._threads == 1


def test_many_threads(everything):
    A = integers(7)
    x = operand(1, A.shape[1])
    want, wrong = A @ x, []

    def work():
        for _ in range(1000):
            if not np.array_equal(A @ x, want):
                wrong.append(1)

    with spry.accelerate_scipy():
        crew = [threading.Thread(target=work) for _ in range(16)]
        for t in crew:
            t.start()
        for t in crew:
            t.join()
    assert not wrong


def test_threads_of_columns(everything):
    A = sparse.random(300, 900, 0.4, format="csc", random_state=1)
    A.data[:] = np.arange(A.nnz) % 7 - 3
    x = operand(1, A.shape[1])
    want = A @ x
    with spry.accelerate_scipy(2):
        assert np.array_equal(A @ x, want)


@pytest.mark.parametrize("block", [(1, 1), (2, 2), (3, 3), (4, 2), (8, 8),
                                   (5, 7)])
def test_blocks_are_computed_by_spry(block, monkeypatch, everything):
    from scipy.sparse import _bsr

    def refuse(*_):
        raise AssertionError("SciPy was asked")

    A = sparse.random(40 * block[0], 30 * block[1], 0.2, random_state=1)
    A.data[:] = np.arange(A.nnz) % 7 - 3
    A = A.tobsr(blocksize=block)
    operands = [operand(1, A.shape[1], n) for n in (None, 3, 40)]
    want = [A @ B for B in operands]
    monkeypatch.setattr(_bsr, "bsr_matvec", refuse)
    monkeypatch.setattr(_bsr, "bsr_matvecs", refuse)
    from scipy.sparse import _sparsetools

    monkeypatch.setattr(_sparsetools, "bsr_matvec", refuse)
    monkeypatch.setattr(_sparsetools, "bsr_matvecs", refuse)
    with spry.accelerate_scipy(2):
        for B, w in zip(operands, want):
            assert np.array_equal(A @ B, w)
