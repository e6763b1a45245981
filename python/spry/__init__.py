"""spry: the fastest way to multiply with your sparse matrix, found by racing.

>>> import scipy.sparse, numpy, spry
>>> A = scipy.sparse.random(1000, 1000, 0.01, format="csr")
>>> T = spry.tune(A, cols=32, seconds=0.5)          # doctest: +SKIP
>>> C = T @ numpy.ones((1000, 32))                  # doctest: +SKIP

`tune` races ways to store and walk the matrix, verifies each against a slow
exact reference and returns a `scipy.sparse.linalg.LinearOperator` over the
winner. `accelerate_scipy` makes SciPy's own products use spry's kernels.

Importing this module loads nothing but itself: NumPy, SciPy and the library
come with the first call.
"""

from __future__ import annotations

import importlib
TYPE_CHECKING = False  # what type checkers take for true; typing is slow

__all__ = [
    "Error",
    "Tuned",
    "accelerate_scipy",
    "library_path",
    "restore_scipy",
    "tune",
    "version",
]

_HOME = {
    "Error": "_library",
    "library_path": "_library",
    "version": "_library",
    "Tuned": "_tuned",
    "tune": "_tuned",
    "accelerate_scipy": "_accelerate",
    "restore_scipy": "_accelerate",
}

if TYPE_CHECKING:
    from ._accelerate import accelerate_scipy, restore_scipy
    from ._library import Error, library_path, version
    from ._tuned import Tuned, tune


def __getattr__(name: str):
    if name == "__version__":
        return __getattr__("version")()
    if name not in _HOME:
        raise AttributeError(f"module 'spry' has no attribute {name!r}")
    value = getattr(importlib.import_module("." + _HOME[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
