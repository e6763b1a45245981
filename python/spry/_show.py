"""How a tuned matrix looks in a notebook: verdict, picture, table."""

from __future__ import annotations

import base64
import os
import tempfile
from html import escape
from typing import TYPE_CHECKING


from ._library import lib

if TYPE_CHECKING:
    from ._tuned import Product

_ROWS = 8  # trials that are shown


def _time(seconds: float | None) -> str:
    if not seconds:
        return "-"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def _picture(tuned: "Product") -> str:
    """The pattern as an image within the page; "" when there is none."""
    stats = lib.spry_problem_stats(tuned._plan.problem)
    if not stats:
        return ""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "spy.png")
        if lib.spry_matrix_spy(stats, os.fsencode(path)) != 0:
            return ""
        with open(path, "rb") as file:
            data = base64.b64encode(file.read()).decode()
    return (f'<img alt="pattern of the matrix" width="160" '
            f'src="data:image/png;base64,{data}">')


def _verdict(story: dict) -> str:
    best, plain = story["best"], story["baseline"]["schedule"]
    if not story["changed"]:
        words = "stays with the plain loop: nothing was proven faster"
    elif story["measured"]:
        words = (f"{best['speedup']:.2f} times as fast as {plain}, 95 % "
                 f"interval {best['speedup_low']:.2f} to "
                 f"{best['speedup_high']:.2f}")
    elif story["model"]:
        words = f"chosen by the model {story['model']}; nothing was measured"
    else:
        words = "the schedule of the product that was tuned; not measured here"
    if story["verified"]:
        words += "; verified against the reference"
    return words


def _table(story: dict) -> str:
    rows = []
    for trial in story["trials"][:_ROWS]:
        ok = trial["verdict"] == "ok"
        rows.append("<tr>" + "".join(
            f'<td style="text-align:{side}">{escape(str(cell))}</td>'
            for side, cell in (
                ("left", trial["schedule"]),
                ("right", _time(trial["seconds"]) if ok else "-"),
                ("right", f"{trial['speedup']:.2f}" if ok else "-"),
                ("left", trial["verdict"]))) + "</tr>")
    if not rows:
        return ""
    more = len(story["trials"]) - len(rows)
    tail = f"<caption>and {more} more in .story</caption>" if more > 0 else ""
    return (f"<table>{tail}<thead><tr><th>schedule</th><th>time</th>"
            f"<th>speed-up</th><th>verdict</th></tr></thead>"
            f"<tbody>{''.join(rows)}</tbody></table>")


def page(tuned: "Product") -> str:
    """A piece of HTML without script and without anything from elsewhere."""
    story = tuned.story
    rows, cols = tuned.shape
    width = "a vector" if tuned.cols is None else f"{tuned.cols} columns"
    return (f"<div><b>{escape(tuned.schedule)}</b><br>{escape(_verdict(story))}"
            f"<br>{rows} x {cols}, {tuned.nnz} entries, {tuned.dtype}, times "
            f"{width}<br>{_picture(tuned)}{_table(story)}</div>")


