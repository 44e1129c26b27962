"""How things look in notebooks and on the terminal."""

from __future__ import annotations

import math
import numbers
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from html import escape
from typing import Any, SupportsIndex, TypeVar, overload

from . import _slopp
from .errors import ArgumentError

#: Circuits with more nodes and elements than this are drawn as their vtree, which people can still look at.
DRAWABLE = 120

#: What long work reports to: `callback(what, done, steps)`; `True` shows a bar.
Progress = Callable[[str, int, int], object] | bool | None


def number(value: Any) -> str:
    """A number in few characters."""
    if isinstance(value, bool) or value is None:
        return {True: "1", False: "0", None: ""}[value]
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e6 else f"{value:.3e}"
    return str(value)


def table(rows: Iterable[Iterable[Any]], header: Iterable[str] = ()) -> str:
    """A table in HTML."""
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    head = f"<thead><tr>{head}</tr></thead>" if head else ""
    body = "".join("<tr>" + "".join(f"<td>{escape(number(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table>{head}<tbody>{body}</tbody></table>"


def card(title: str, what: str, *tables: str, picture: str = "") -> str:
    """What something is, tables of it side by side, and a picture below, which scrolls if it is wide."""
    head = f"<div><b>{escape(title)}</b> <span style='opacity:.7'>{escape(what)}</span></div>"
    side_by_side = "".join(f"<div>{part}</div>" for part in tables)
    drawn = f"<div style='overflow-x:auto'>{_shrinking(picture)}</div>" if picture else ""
    return f"{head}<div style='display:flex;flex-wrap:wrap;gap:2em'>{side_by_side}</div>{drawn}"


def _shrinking(svg: str) -> str:
    """A picture that shrinks to the page as long as it can be read."""
    width = re.search(r'width="(\d+)"', svg)
    least = 0 if width is None else int(width[1]) * 6 // 10
    return svg.replace("<svg ", f"<svg style='max-width:100%;min-width:{least}px;height:auto' ", 1)


#: What values are.
V = TypeVar("V")

#: What rows are.
R = TypeVar("R")


class Values(dict[str, V]):
    """Names with values, such as marginals or a world: a dict that shows itself as a table."""

    def _repr_html_(self) -> str:
        return table((name, _cell(value)) for name, value in self.items())


class World(Values[Any]):
    """A world with its probability, and the one it has given what was given; where nothing was, they are the same."""

    def __init__(self, cells: Mapping[str, Any], log_probability: float, log_given: float = 0.0):
        super().__init__(cells)
        #: The natural logarithm of its probability, that of what is given included.
        self.log_probability = float(log_probability)
        #: The natural logarithm of its probability given what is given.
        self.log_probability_given = min(self.log_probability - float(log_given), 0.0)

    @property
    def probability(self) -> float:
        """Its probability, that of what is given included."""
        return math.exp(self.log_probability)

    @property
    def probability_given(self) -> float:
        """Its probability given what is given."""
        return math.exp(self.log_probability_given)

    def _repr_html_(self) -> str:
        given = self.log_probability_given != self.log_probability
        conditional = f", given the evidence {number(self.probability_given)}" if given else ""
        return f"<div>P = {number(self.probability)}{conditional}</div>{super()._repr_html_()}"


class Picture(str):
    """The text of a picture in SVG, which notebooks show."""

    def _repr_svg_(self) -> str:
        return str(self)


class Rows(list[R]):
    """Rows with the same names, such as rules or worlds: a list of dicts that shows itself as a table."""

    @overload
    def __getitem__(self, place: SupportsIndex) -> R: ...

    @overload
    def __getitem__(self, place: slice) -> Rows[R]: ...

    def __getitem__(self, place: Any) -> Any:
        found = super().__getitem__(place)
        return Rows(found) if isinstance(place, slice) else found

    def chart(self, x: str, y: str = "", *, title: str = "") -> Picture:
        """A chart of all other numbers of the rows against those called `x`; `y` says what they are.

        Only numbers are drawn, not texts or missing values.
        """
        every: list[Any] = self
        if not every or x not in every[0]:
            raise ArgumentError(f"there is no {x!r} in the rows to draw a chart against; there is "
                                + ", ".join(every[0] if every else ["nothing"]))
        drawn = [(row, float(row[x])) for row in every if _is_number(row[x])]
        lines = [(name, [(at, float(row[name]), f"{x} {number(row[x])}") for row, at in drawn
                         if _is_number(row.get(name))]) for name in every[0] if name != x]
        lines = [(name, points) for name, points in lines if points]
        if not lines:
            raise ArgumentError(f"there are no numbers in the rows to draw against those of {x!r}" if drawn else
                                f"{x!r} has no numbers to draw a chart against")
        return Picture(_slopp.chart(title, x, y, lines))

    def _repr_html_(self) -> str:
        first: Any = self[0] if self else ()
        names = list(first)
        extra = ["P"] if self and isinstance(self[0], World) else []
        every: list[Any] = self
        rows = ([getattr(row, "probability", None)] * len(extra) + [_cell(row[name]) for name in names]
                for row in every)
        return table(rows, extra + names)


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and value == value


def _cell(value: Any) -> Any:
    if isinstance(value, Mapping):
        return ", ".join(name if holds is True else f"!{name}" if holds is False else f"{name}={holds}"
                         for name, holds in value.items())
    if isinstance(value, list):
        return ", ".join(f"P = {number(cell.probability)}" if isinstance(cell, World) else str(cell) for cell in value)
    return value


class Bar:
    """A progress bar: our own in a notebook, on a terminal that of tqdm if it is there; elsewhere a line per stage."""

    def __init__(self) -> None:
        self._stage: tuple[str, int] | None = None
        self._shown: Any = None
        self._tqdm: Any = None
        self._display = _notebook_display()
        if self._display is None and sys.stderr.isatty():
            try:
                from tqdm import tqdm

                self._tqdm = tqdm
            except ImportError:
                pass

    def __call__(self, what: str, done: int, steps: int) -> None:
        new, self._stage = self._stage != (what, steps), (what, steps)
        done = min(done, steps)
        if self._display is not None:
            bar = _Html(f"<div><progress value='{done}' max='{max(steps, 1)}'></progress> "
                        f"{escape(what)}: {done} of {steps}</div>")
            if self._shown is None:
                self._shown = self._display(bar, display_id=True)
            else:
                self._shown.update(bar)
        elif self._tqdm is not None:
            if new:
                self.close()
                self._stage, self._shown = (what, steps), self._tqdm(total=steps, desc=what, leave=False)
            self._shown.update(done - self._shown.n)
        elif sys.stderr.isatty():
            print(f"\r{what}: {done} of {steps}\x1b[K", end="", file=sys.stderr, flush=True)
        elif new:
            print(what, file=sys.stderr, flush=True)

    def close(self) -> None:
        """The bar is gone; lines stay."""
        if self._display is not None:
            if self._shown is not None:
                self._shown.update(_Html(""))
        elif self._tqdm is not None:
            if self._shown is not None:
                self._shown.close()
        elif self._stage is not None and sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
        self._stage = self._shown = None


class _Html:
    """A piece of HTML for a notebook."""

    def __init__(self, html: str):
        self._html = html

    def _repr_html_(self) -> str:
        return self._html

    def __repr__(self) -> str:
        return ""


def _notebook_display() -> Any:
    """What shows things in a notebook, if this is one."""
    shell = sys.modules.get("IPython")
    running = None if shell is None else shell.get_ipython()
    if running is None or not hasattr(running, "kernel"):
        return None
    from IPython.display import display

    return display


class listening:
    """The callback for long work, closed at its end; a stage that is over is shown as done."""

    def __init__(self, progress: Progress):
        if not (progress is None or isinstance(progress, bool) or callable(progress)):
            raise ArgumentError(f"progress is {progress!r}, but must be True for a bar, or a function of stage, steps "
                                "done and steps")
        self._bar = Bar() if progress is True else None
        self._callback = self._bar or (progress if callable(progress) else None)
        self._stage: tuple[str, int, int] | None = None

    def __enter__(self) -> Callable[[str, int, int], object] | None:
        return None if self._callback is None else self._tell

    def _tell(self, what: str, done: int, steps: int) -> object:
        if self._stage is not None and (what, steps) != (self._stage[0], self._stage[2]):
            self._end_stage()
        self._stage = (what, done, steps)
        return None if self._callback is None else self._callback(what, done, steps)

    def _end_stage(self) -> None:
        if self._stage is not None and self._callback is not None and self._stage[1] < self._stage[2]:
            self._callback(self._stage[0], self._stage[2], self._stage[2])
        self._stage = None

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self._end_stage()
        if self._bar is not None:
            self._bar.close()
