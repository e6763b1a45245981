"""Networks as modules of PyTorch, for inference."""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from collections import OrderedDict
from ctypes import byref, c_char_p, c_double, c_int, c_int64, c_size_t, c_void_p
from typing import Any

import torch

from . import _library as c
from ._library import lib
from ._plan import tune_options

_KEPT = 4  # batch sizes of an ONNX file that are kept ready


class _Value(ctypes.Structure):
    """spry_graph_value"""

    _fields_ = [("size", c_size_t), ("name", c_char_p), ("whole", c_int),
                ("dims", c_int), ("dim", c_int64 * 8),
                ("count", c_int64)]

    def shape(self) -> tuple[int, ...]:
        return tuple(self.dim[:self.dims])


class _GraphOptions(ctypes.Structure):
    """spry_graph_options"""

    _fields_ = [("size", c_size_t), ("unknown", c_int64)]


class _ExecutorOptions(ctypes.Structure):
    """spry_executor_options"""

    _fields_ = [("size", c_size_t), ("threads", c_int), ("effort", c_int),
                ("seconds", c_double), ("store", c_char_p),
                ("machine", c_void_p), ("progress", c_void_p),
                ("payload", c_void_p)]


class _Layers:
    """A sparse network: any number of inputs through one plan."""

    def __init__(self, path: str, batch: int, options: dict,
                 text: str | None = None) -> None:
        """text: the plan of another one, made again without a tune."""
        net, problem, plan = c_void_p(), c_void_p(), c_void_p()
        c.check(lib.spry_network_read(byref(net), os.fsencode(path), None))
        weakref.finalize(self, lib.spry_network_free, c_void_p(net.value))
        counts = (c_int64 * 5).from_address(net.value)
        self.inputs, self.outputs = counts[1], counts[2]
        c.check(lib.spry_problem_network(byref(problem), net, batch))
        weakref.finalize(self, lib.spry_problem_free, c_void_p(problem.value))
        given, failed = tune_options(**options)
        if text is None or lib.spry_plan_from(byref(plan), problem,
                                              text.encode(), c.machine()):
            c.check(lib.spry_tune(byref(plan), problem, byref(given)))
        weakref.finalize(self, lib.spry_plan_free, c_void_p(plan.value))
        if failed:
            raise failed[0]
        self.plan = plan

    def run(self, x: torch.Tensor) -> torch.Tensor:
        if x.dim() not in (1, 2) or x.shape[-1] != self.inputs:
            raise ValueError(f"the network has {self.inputs} inputs, not "
                             f"{tuple(x.shape)}")
        x = x.detach().to(torch.float32).contiguous()
        y = torch.empty(*x.shape[:-1], self.outputs)
        count = 1 if x.dim() == 1 else x.shape[0]
        if count:
            c.check(lib.spry_run_inputs(self.plan, x.data_ptr(), y.data_ptr(),
                                        count))
        return y

    def text(self) -> str:
        return lib.spry_plan_text(self.plan).decode()


class _Operators:
    """An ONNX file for one batch size: an executor, one run at a time."""

    def __init__(self, path: str, batch: int, effort: str, threads: int,
                 seconds: float, store: str | None) -> None:
        graph, executor = c_void_p(), c_void_p()
        size = _GraphOptions(ctypes.sizeof(_GraphOptions), batch)
        c.check(lib.spry_graph_read(byref(graph), os.fsencode(path),
                                    byref(size)))
        weakref.finalize(self, lib.spry_graph_free, c_void_p(graph.value))
        options = _ExecutorOptions(
            size=ctypes.sizeof(_ExecutorOptions), threads=threads,
            effort=c.EFFORTS.index(effort), seconds=seconds,
            store=None if store is None else os.fsencode(store))
        c.check(lib.spry_executor_make(byref(executor), graph, byref(options)))
        weakref.finalize(self, lib.spry_executor_free,
                         c_void_p(executor.value))
        self.executor = executor
        self.inputs = self._values(graph, lib.spry_graph_inputs,
                                   lib.spry_graph_input)
        self.outputs = self._values(graph, lib.spry_graph_outputs,
                                    lib.spry_graph_output)

    @staticmethod
    def _values(graph: c_void_p, count: Any, at: Any) -> list[tuple]:
        out = []
        for i in range(count(graph)):
            value = _Value(ctypes.sizeof(_Value))
            c.check(at(graph, i, byref(value)))
            kind = torch.int64 if value.whole else torch.float32
            out.append((value.name.decode(), value.shape(), kind))
        return out

    def fits(self, given: tuple) -> bool:
        return len(given) == len(self.inputs) and all(
            tuple(x.shape) == shape
            for x, (_, shape, _) in zip(given, self.inputs))

    def run(self, given: tuple) -> list[torch.Tensor]:
        x = [t.detach().to(kind).contiguous()
             for t, (_, _, kind) in zip(given, self.inputs)]
        y = [torch.empty(shape, dtype=kind)
             for _, shape, kind in self.outputs]
        at = (c_void_p * len(x))(*(t.data_ptr() for t in x))
        to = (c_void_p * len(y))(*(t.data_ptr() for t in y))
        c.check(lib.spry_executor_run(self.executor, at, to))
        return y


class Network(torch.nn.Module):
    """A network that spry runs: a sparse one (`.spnet`, `gen:...`, a folder of
    layers) or an operator graph (`model.onnx`, `net:resnet50`).

    `Network(path, batch=64)(x)` computes on the CPU, in float32, without
    gradients. A sparse network takes any number of inputs [batch, inputs] and
    is tuned for batches of the size named; options are those of `spry.tune`.
    An operator graph is made ready for the batch size that it is called with,
    by what is known or expected (effort="predict") or by tuning
    (effort="measure", seconds=60).
    """

    def __init__(self, path: str | os.PathLike, batch: int = 1, *,
                 effort: str | None = None, seconds: float = 0,
                 threads: int = 0, store: str | None = None,
                 **options: Any) -> None:
        super().__init__()
        self.path, self.batch = os.fspath(path), int(batch)
        if self.batch < 1:
            raise ValueError("batch is a number of inputs")
        self._begin()
        if self.path.startswith("net:") or self.path.endswith(".onnx"):
            if effort not in (None, "predict", "measure") or options:
                raise ValueError("an operator graph takes effort 'predict' or "
                                 "'measure', seconds, threads and store")
            self._how = (effort or "predict", threads, seconds, store)
            self._operators(self.batch)
        else:
            self._how = (effort or "measure", threads, seconds, store)
            self._layers = _Layers(self.path, self.batch, {
                "effort": effort or "measure", "seconds": seconds,
                "threads": threads, "store": store, **options})

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._layers: _Layers | None = None
        self._ready: OrderedDict[int, _Operators] = OrderedDict()

    def __getstate__(self) -> dict:
        """Copies read the file again and are not tuned: they have the plan by
        its text, or what the store remembers."""
        effort, threads, _, store = self._how
        if not self._layers and effort == "measure" and store == ":memory:":
            raise TypeError("an operator graph that was tuned without a store "
                            "cannot be copied: name a store")
        state = {k: v for k, v in self.__dict__.items()
                 if k not in ("_lock", "_layers", "_ready")}
        state["_how"] = ("lookup" if self._layers else "predict", threads, 0,
                         store)
        return {**state, "text": self._layers and self._layers.text()}

    def __setstate__(self, state: dict) -> None:
        text = state.pop("text")
        super().__setstate__(state)
        self._begin()
        effort, threads, _, store = self._how
        if text is None:
            self._operators(self.batch)
        else:
            self._layers = _Layers(self.path, self.batch, {
                "effort": effort, "threads": threads, "store": store}, text)

    def _operators(self, batch: int) -> _Operators:
        if batch not in self._ready:
            self._ready[batch] = _Operators(self.path, batch, *self._how)
            while len(self._ready) > _KEPT:
                self._ready.popitem(last=False)
        self._ready.move_to_end(batch)
        return self._ready[batch]

    def forward(self, *inputs: torch.Tensor) -> Any:
        """One output is a tensor, several are a tuple."""
        if any(x.device.type != "cpu" for x in inputs):
            raise TypeError("spry computes on the CPU")
        if self._layers:
            (x,) = inputs
            return self._layers.run(x)
        with self._lock:
            first = inputs[0].shape[0] if inputs and inputs[0].dim() else 1
            # Files of a fixed size have the same shapes for every batch.
            ready = self._operators(self.batch)
            if not ready.fits(inputs):
                ready = self._operators(max(int(first), 1))
            if not ready.fits(inputs):
                want = ", ".join(f"{name} {list(shape)}"
                                 for name, shape, _ in ready.inputs)
                raise ValueError(f"the network takes {want}")
            out = ready.run(inputs)
        return out[0] if len(out) == 1 else tuple(out)

    def extra_repr(self) -> str:
        if self._layers:
            return f"{self.path!r}, {self._layers.text()}"
        return repr(self.path)
