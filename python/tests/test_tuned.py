"""The operator computes what SciPy computes, in place, from any thread."""

import copy
import gc
import json
import multiprocessing
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from cases import integers, operand
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator, cg, eigsh

import spry
from spry import _plan


def quick(A, cols=None, **more):
    more.setdefault("effort", "lookup")
    return spry.tune(A, cols, store=":memory:", **more)


@pytest.mark.parametrize("fmt", ["csr", "csc", "bsr", "coo"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_equals_scipy_bit_for_bit(fmt, index):
    for seed in range(12):
        dtype = np.float32 if seed % 2 else np.float64
        A = integers(seed, fmt, index, dtype)
        n = 1 + seed % 7
        T = quick(A, n)
        for B in (operand(seed, A.shape[1], None, dtype),
                  operand(seed, A.shape[1], n, dtype),
                  operand(seed, A.shape[1], 9, dtype)):
            got, want = T @ B, A @ B
            assert got.dtype == want.dtype and np.array_equal(got, want)
        for B in (operand(seed, A.shape[0], None, dtype),
                  operand(seed, A.shape[0], n, dtype)):
            assert np.array_equal(T.T @ B, A.T @ B)
            assert np.array_equal(B.T @ T, B.T @ A.toarray())


def test_nothing_is_copied_on_the_way_in():
    A = integers(4)
    A.sort_indices()
    T = quick(A)
    m = T._source.matrix
    assert m.col == A.indices.ctypes.data
    assert m.val == A.data.ctypes.data
    wide = integers(4, index=np.int64)
    wide.sort_indices()
    assert quick(wide)._source.matrix.start == wide.indptr.ctypes.data


def test_every_layout_of_the_operands():
    A = integers(8)
    T = quick(A, 6)
    for B in (operand(1, A.shape[1], 6), operand(1, A.shape[1], 12)[:, ::2],
              operand(1, A.shape[1], 12)[:, 3:9],
              operand(1, 2 * A.shape[1], 6)[::2],
              np.asfortranarray(operand(1, A.shape[1], 6)),
              operand(1, 6, A.shape[1]).T, operand(1, A.shape[1], 6)[:, ::-1],
              operand(1, A.shape[1], 1)[:, [0] * 6]):
        assert np.array_equal(T @ B, A @ np.ascontiguousarray(B))
    for out in (np.empty((A.shape[0], 6)), np.empty((6, A.shape[0])).T,
                np.empty((A.shape[0], 9))[:, 2:8]):
        B = operand(2, A.shape[1], 6)
        assert T.dot(B, out=out) is out
        assert np.array_equal(out, A @ B)
    x = operand(3, 2 * A.shape[1])[::2]
    assert np.array_equal(T @ x, A @ x)


def test_types_follow_numpy():
    A = integers(5, dtype=np.float32)
    T = quick(A)
    for dtype in (np.int64, np.float32, np.float64, np.complex128, bool):
        x = operand(5, A.shape[1]).astype(dtype)
        got = T @ x
        assert got.dtype.kind == (A @ x).dtype.kind
        assert np.allclose(got, A @ x)
    with pytest.raises(TypeError):
        quick(A.astype(np.complex64))


def test_wrong_shapes_are_refused():
    A = integers(6)
    T = quick(A)
    with pytest.raises(ValueError):
        T @ np.ones(A.shape[1] + 1)
    with pytest.raises(ValueError):
        T @ np.ones((2, 2, 2))
    with pytest.raises(ValueError):
        T.dot(np.ones(A.shape[1]), out=np.empty(A.shape[0] + 1))
    with pytest.raises(ValueError):
        spry.tune(A, 0)
    with pytest.raises(ValueError):
        spry.tune(A, effort="luck")
    with pytest.raises(spry.Error):
        spry.tune("/nowhere.mtx")


def test_story_export_and_repr(tmp_path):
    A = sparse.random(300, 300, 0.05, format="csr", random_state=1)
    T = spry.tune(A, 8, store=":memory:")
    assert T.story["schema"] == "spry.tune/1" and T.story["trials"]
    assert T.story["verified"] and T.story["best"]["schedule"] == T.schedule
    json.dumps(T.story)
    T.check()
    assert T.schedule in repr(T)
    html = T._repr_html_()
    assert "data:image/png" in html and "<table>" in html
    for path in T.export(tmp_path, "fast"):
        assert open(path, "rb").read()
    T.report(tmp_path / "page.html")
    assert "<svg" in (tmp_path / "page.html").read_text()


def test_progress_stops_and_passes_on_what_it_raises():
    A = sparse.random(2000, 2000, 0.01, format="csr", random_state=1)
    T = spry.tune(A, 8, seconds=20, store=":memory:", progress=lambda p: True)
    assert T.story["stopped"]

    def broken(now):
        raise KeyError("mine")

    with pytest.raises(KeyError):
        spry.tune(A, 8, seconds=20, store=":memory:", progress=broken)


def test_refill():
    for seed in range(30):
        A = integers(seed)
        A.sum_duplicates()
        T = quick(A, 3)
        B, x = operand(seed, A.shape[1], 3), operand(seed, A.shape[0])
        T.T @ x  # its plan is refilled, too
        A.data[:] = operand(seed + 1, A.nnz)
        T.refill()
        assert np.array_equal(T @ B, A @ B)
        assert np.array_equal(T.T @ x, A.T @ x)
        other = A.copy()
        other.data = operand(seed + 2, A.nnz)
        T.refill(other.data.copy())
        assert np.array_equal(T @ B, other @ B)
        assert np.array_equal(T @ B[:, :2], other @ B[:, :2])
        T.refill(A.tocoo())
        assert np.array_equal(T @ B, A @ B)
    with pytest.raises(ValueError):
        T.refill(np.ones(A.nnz + 1))
    with pytest.raises(ValueError):
        T.refill(sparse.eye(A.shape[0] + 1).tocsr())
    C = quick(A.tocsc())
    with pytest.raises(ValueError):
        C.refill()


def test_refill_with_values_of_another_kind():
    line = sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], (40, 40))
    A = sparse.kronsum(line, line, format="csr")
    A.sort_indices()
    x = operand(1, A.shape[1])
    for text in ("sell palette=8", "dia slice=4 symmetric=1 threads=2"):
        T = quick(A)
        plan = T._plan
        plan._told = plan.story()
        plan._free()
        plan._hold(plan._made(text))
        assert plan.text() == text
        assert np.array_equal(T @ x, A @ x)
        T.refill(2 * A.data)
        assert plan.text() == text
        assert np.array_equal(T @ x, 2 * A @ x)
        other = A.copy()
        other.data = operand(7, A.nnz) + 1000 * np.arange(A.nnz)
        T.refill(other.data)  # goes on without what they do not allow
        assert "palette" not in plan.text() and "symm" not in plan.text()
        assert np.array_equal(T @ x, other @ x)
        assert T.story


def test_refill_reads_what_was_given():
    A = integers(6).astype(np.int64)  # converted on the way in
    T, x = quick(A), operand(1, A.shape[1])
    A.data *= 3
    T.refill()
    assert np.array_equal(T @ x, A @ x)
    with pytest.raises(ValueError, match="copy"):
        quick(A.toarray()).refill()
    C = integers(6, "csc")
    for values in (C.data, list(C.data), memoryview(C.data)):
        with pytest.raises(ValueError, match="order"):
            quick(C).refill(values)


def test_all_widths_compute_with_the_same_values():
    A = integers(6)
    x, X = operand(1, A.shape[1]), operand(1, A.shape[1], 3)
    T = quick(A)
    values = 2 * A.data
    T.refill(values)
    values[:] = 7
    assert np.array_equal(T @ x, 2 * (A @ x))
    assert np.array_equal(T @ X, 2 * (A @ X))
    T, want = quick(A), A @ x
    A.data *= 2
    assert np.array_equal(T @ x, want)
    with pytest.raises(ValueError, match="refill"):
        T @ X
    T.refill()
    assert np.array_equal(T @ X, A @ X)


def test_out_is_written_once_the_operand_was_read():
    A = sparse.random(50, 50, 0.2, format="csr", random_state=1)
    T, y = quick(A), operand(1, 50)
    want = A @ y
    assert np.allclose(T.dot(y, out=y), want)
    y.flags.writeable = False
    with pytest.raises(ValueError, match="written"):
        T.dot(want, out=y)


def test_complex_and_sparse_operands():
    A = integers(8)
    T, x = quick(A), operand(1, A.shape[1]) * (1 + 2j)
    y = np.zeros(A.shape[0], complex)
    assert T.dot(x, out=y) is y and np.array_equal(y, A @ x)
    with pytest.raises(ValueError, match="out"):
        T.dot(x, out=np.zeros(A.shape[0]))
    rows, cols = A.shape
    for S, product in ((sparse.eye(cols), lambda S: T @ S),
                       (sparse.eye(rows), lambda S: S @ T),
                       (sparse.eye(rows).tocsr(), lambda S: T.T @ S),
                       (sparse.eye(cols).tocsr(), lambda S: S @ T.T)):
        with pytest.raises(TypeError, match="dense"):
            product(S)
    for B in (x.astype(object), np.array(["1"] * cols), None):
        with pytest.raises(TypeError, match="numbers"):
            T @ B


@pytest.mark.parametrize("fmt", ["csr", "csc", "bsr", "coo"])
def test_arrays_that_do_not_fit_are_refused(fmt):
    names = ("row", "col", "data") if fmt == "coo" else (
        "indptr", "indices", "data")
    for name in names:
        A = sparse.eye(24).asformat(fmt)
        setattr(A, name, getattr(A, name)[:-1].copy())
        with pytest.raises(ValueError, match="damaged"):
            quick(A)
        with pytest.raises(ValueError, match="damaged"):
            quick(sparse.eye(24)).refill(A)
    A = sparse.eye(24).asformat(fmt)
    A.data = A.data.reshape(-1)[:, None]
    with pytest.raises(ValueError, match="damaged"):
        quick(A)


def test_room_behind_the_entries_is_left_alone():
    A = integers(8)
    A.sort_indices()
    x = operand(1, A.shape[1])
    want = A @ x
    A.indices = np.append(A.indices, [99999] * 3).astype(np.int32)
    A.data = np.append(A.data, [np.nan] * 3)
    T = quick(A)
    assert np.array_equal(T @ x, want)
    A.data *= 2
    assert np.array_equal(T.refill() @ x, 2 * want)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_whole_numbers_are_exact_or_refused(dtype):
    top = np.iinfo(dtype).max
    for value, exact in ((2**53, True), (2**53 + 1, False), (2**60, True),
                         (top, False), (top - 5, False)):
        A = sparse.csr_matrix(np.array([[value, 1]], dtype))
        if exact:
            assert (quick(A) @ np.eye(2))[0, 0] == value
        else:
            with pytest.raises(ValueError, match="exact"):
                quick(A)
    with pytest.raises(ValueError, match="exact"):
        quick(sparse.eye(1).tocsr()).refill(np.array([2**53 + 1], dtype))


def test_refill_takes_real_numbers():
    A = integers(6)
    A.sum_duplicates()
    T = quick(A)
    for values in (A.data + 1j, A.astype(complex), ["a"] * A.nnz):
        with pytest.raises(TypeError, match="real"):
            T.refill(values)


@pytest.mark.parametrize("copied", [
    copy.copy, copy.deepcopy, lambda T: pickle.loads(pickle.dumps(T))])
@pytest.mark.parametrize("fmt", ["csr", "coo"])
def test_copies_have_the_plans_but_are_not_tuned(copied, fmt, monkeypatch):
    A = sparse.random(60, 60, 0.2, random_state=1).tocsr()
    T = quick(A.asformat(fmt), 3, transpose=True).add(5)
    T.story  # of the plan that goes
    T._plan._free()
    T._plan._hold(T._plan._made("sell"))
    T.refill(2 * A)
    X = np.ones((60, 3))
    want = T @ X, T.T @ X
    monkeypatch.setattr(_plan.lib, "spry_tune", None)
    S = copied(T)
    assert S.schedule == T.schedule and S.story == T.story
    assert np.array_equal(S @ X, want[0])
    assert np.array_equal(S.T @ X, want[1])
    assert S._tuned.keys() == T._tuned.keys()
    S.refill(A)
    assert np.array_equal(T @ X, want[0])
    assert not np.array_equal(S @ X, want[0])
    with pytest.raises(ValueError, match="copy" if fmt == "csr" else "order"):
        S.refill()
    assert np.array_equal(copied(T.T) @ X, want[1])


def test_copies_where_the_schedule_makes_no_sense():
    T = quick(integers(7))
    again, (*given, made) = T.__reduce__()
    made = {key: ("fantasy", story) for key, (_, story) in made.items()}
    x = operand(1, T.shape[1])
    assert np.array_equal(again(*given, made) @ x, T @ x)


def test_a_matrix_that_was_changed_is_not_copied():
    A = integers(6)
    A.sort_indices()
    T = quick(A)
    A.data *= 2
    with pytest.raises(ValueError, match="refill"):
        pickle.dumps(T)


def test_the_transpose_shows_itself():
    A = integers(8)
    for T in (quick(A, 4), quick(A, 4, transpose=True)):
        assert T.T.story["best"]["schedule"] == T.T.schedule
        assert T.T.schedule in repr(T.T) and T.T.schedule in T.T._repr_html_()


def test_tuning_the_same_width_again():
    A = integers(8)
    T = quick(A, 4).add(4)
    T.refill(2 * A)
    T.check()
    assert np.array_equal(T @ np.eye(A.shape[1]), 2 * A.toarray())


def test_other_widths_are_bounded():
    A = integers(9)
    T = quick(A)
    for n in range(2, 40):
        B = operand(n, A.shape[1], n)
        assert np.array_equal(T @ B, A @ B)
    assert len(T._plans) <= 8


def test_is_a_linear_operator():
    A = sparse.random(200, 200, 0.05, random_state=3)
    A = (A @ A.T + 10 * sparse.eye(200)).tocsr()
    T = quick(A)
    assert isinstance(T, LinearOperator) and aslinearoperator(T) is T
    b = np.ones(200)
    x, bad = cg(T, b, tol=1e-10, atol=0)
    assert bad == 0 and np.allclose(A @ x, b)
    assert np.allclose(eigsh(T, 3)[0], eigsh(A, 3)[0])
    assert np.allclose((2 * T) @ b, 2 * (A @ b))
    assert np.allclose((T + T) @ b, 2 * (A @ b))
    assert np.allclose((T @ T) @ b, A @ (A @ b))
    assert np.allclose(T.H @ b, A.T @ b) and T.T.T is T
    assert np.allclose(T.rmatvec(b), A.T @ b)
    assert np.allclose(T.matmat(np.ones((200, 2))), A @ np.ones((200, 2)))


def test_empty_shapes():
    for shape in ((0, 0), (0, 4), (4, 0), (3, 5)):
        A = sparse.csr_matrix(shape)
        T = quick(A)
        assert np.array_equal(T @ np.ones(shape[1]), np.zeros(shape[0]))
        assert (T @ np.ones((shape[1], 2))).shape == (shape[0], 2)


def test_many_threads():
    A = integers(11)
    T = quick(A, 4)
    B = operand(1, A.shape[1], 4)
    want, wrong = A @ B, []

    def work():
        for _ in range(1000):
            if not np.array_equal(T @ B, want):
                wrong.append(1)

    crew = [threading.Thread(target=work) for _ in range(16)]
    for t in crew:
        t.start()
    for t in crew:
        t.join()
    assert not wrong


def _in_child(seed):
    A = integers(seed)
    return pickle.dumps(_shared @ operand(1, _shared.shape[1], 4)) and True


def test_children_of_a_fork():
    global _shared
    A = sparse.random(3000, 3000, 0.02, format="csr", random_state=1)
    _shared = quick(A, 4)
    _shared @ operand(1, 3000, 4)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert all(pool.map_async(_in_child, range(8)).get(60))


def test_arrays_live_as_long_as_they_are_needed():
    A = integers(13)
    x, want = operand(2, A.shape[1]), A @ operand(2, A.shape[1])
    T = quick(A)
    turned = T.T
    del A, T
    gc.collect()
    assert np.array_equal(turned.T @ x, want)


def test_importing_costs_little():
    code = ("import time, sys; t = time.perf_counter(); import spry; "
            "print(time.perf_counter() - t, 'numpy' in sys.modules, "
            "len(list(__import__('os').scandir('/proc/self/task'))))")
    best = 1.0
    for _ in range(5):
        said = subprocess.run([sys.executable, "-c", code], check=True,
                              capture_output=True, text=True,
                              cwd=Path(__file__).parents[1]).stdout.split()
        best = min(best, float(said[0]))
        assert said[1:] == ["False", "1"]
