"""Problems, the options they are tuned with, and the plans that come of it."""

from __future__ import annotations

import ctypes
import json
import os
import weakref
from ctypes import byref, c_void_p
from typing import Any, Callable

import numpy as np

from . import _library as c
from ._arrays import TYPES, Source, address
from ._library import lib


def options_of(effort: str, *, seconds: float = 0, calls: float = 0,
               threads: int = 0, again: bool = False, seed: int = 1,
               store: str | None = None, source: str | None = None,
               search: str | None = None) -> c.Options:
    if effort not in c.EFFORTS:
        raise ValueError(f"effort is one of {', '.join(c.EFFORTS)}")
    # What is known is only looked up: the machine need not be asked again.
    here = (ctypes.addressof(c.machine()) if effort == "lookup" else None)
    return c.Options(
        machine=here, size=ctypes.sizeof(c.Options), seconds=seconds,
        calls=calls, threads=threads, effort=c.EFFORTS.index(effort),
        again=int(again), seed=seed, store=store and os.fsencode(store),
        source=source and source.encode(), search=search and search.encode())


def _callback(progress: Callable[[dict], Any], failed: list):
    def told(now, _payload):
        try:
            p = now.contents
            return int(bool(progress({
                "elapsed": p.elapsed, "budget": p.budget, "trials": p.trials,
                "planned": p.planned, "best_speedup": p.best_speedup,
                "best": (p.best or b"").decode()})))
        except BaseException as problem:  # Ctrl-C among them: stop, raise later
            failed.append(problem)
            return 1

    return c.ON_PROGRESS(told)


def tune_options(effort: str = "measure", *,
                  store: str | os.PathLike | None = None,
                  progress: Callable[[dict], Any] | None = None,
                  **given: Any) -> tuple[c.Options, list[BaseException]]:
    """The library's options, and where what a callback raised is kept."""
    failed: list[BaseException] = []
    options = options_of(effort, store=None if store is None
                         else os.fspath(store), **given)
    # Without one, Ctrl-C would wait for the end of the tune.
    told = _callback(progress or (lambda now: None), failed)
    options.progress = ctypes.cast(told, c_void_p)
    options.told = told  # alive as long as the options
    return options, failed


def columns_of(cols: int | None) -> int | None:
    if cols is not None and (int(cols) != cols or cols < 1):
        raise ValueError("cols is a number of dense columns, or None")
    return None if cols in (None, 1) else int(cols)


class Plan:
    """One problem and the plan that was found for it."""

    def __init__(self, source: Source, n: int | None, dtype: np.dtype,
                 turned: bool, options: c.Options,
                 like: "Plan | None" = None,
                 made: tuple[str, dict] | None = None) -> None:
        """like: whose schedule is tried where the store knows nothing. made:
        text and story of a plan that was like this one, made again without a
        tune; where the schedule makes no sense here, `options` decide."""
        self.source, self.dtype, self.n = source, dtype, n
        problem, plan = c_void_p(), c_void_p()
        if n is None:
            c.check(lib.spry_problem_spmv(byref(problem), source.pointer,
                                          TYPES[dtype]))
        else:
            c.check(lib.spry_problem_spmm(byref(problem), source.pointer, n,
                                          TYPES[dtype]))
        if turned:
            given, problem = problem, c_void_p()
            try:
                c.check(lib.spry_problem_transpose(byref(problem), given))
            finally:
                lib.spry_problem_free(given)
        self.problem = problem
        weakref.finalize(self, lib.spry_problem_free, c_void_p(problem.value))
        self._told: dict | None = None
        again = self._made(made[0]) if made else None
        if again:
            self._told = made[1]
            self._hold(again)
            return
        c.check(lib.spry_tune(byref(plan), problem, byref(options)))
        self._hold(self._after(like, plan) if like else plan)

    def _hold(self, plan: c_void_p) -> None:
        self.pointer = plan
        # Finalizers run last in, first out: the plan goes before its problem.
        self._free = weakref.finalize(self, lib.spry_plan_free,
                                      c_void_p(plan.value))

    def _after(self, like: "Plan", plan: c_void_p) -> c_void_p:
        """Where the store knew nothing: the schedule that won for another
        width, unless it makes no sense here."""
        told = json.loads(c.text_of(lib.spry_plan_story, plan, None))
        if told["looked_up"] or (self.n is None) != (like.n is None):
            return plan
        other = self._made(like.text(), "fixed", "pass", "copy")
        if not other:
            return plan
        told["best"] = {**dict.fromkeys(told["best"]), "schedule": like.text()}
        self._told = {**told, "changed": True}
        lib.spry_plan_free(plan)
        return other

    def _made(self, text: str, *without: str) -> c_void_p | None:
        """A plan of a schedule's text, some words left out; None when it
        makes no sense here."""
        words = [w for w in text.split() if w.split("=")[0] not in without]
        plan = c_void_p()
        if lib.spry_plan_from(byref(plan), self.problem,
                              " ".join(words).encode(), c.machine()):
            return None
        if lib.spry_plan_check(plan, 1):
            lib.spry_plan_free(plan)
            return None
        return plan

    def refill(self, values: np.ndarray) -> None:
        """Other values on the same pattern. A schedule that stores less
        because of the values it was made for, few different ones or a
        symmetric matrix, goes on without that where these are not so."""
        status = lib.spry_plan_refill(self.pointer, address(values))
        if status == c.USAGE:
            plan = self._made(self.text(), "palette", "symmetric")
            if plan:
                self.story()  # the plan that has it goes
                self._free()
                self._hold(plan)
                status = lib.spry_plan_refill(plan, address(values))
        c.check(status)

    def text(self) -> str:
        return lib.spry_plan_text(self.pointer).decode()

    def story(self) -> dict:
        """How the tune went; the same document every time."""
        if self._told is None:
            self._told = json.loads(
                c.text_of(lib.spry_plan_story, self.pointer, None))
        return self._told
