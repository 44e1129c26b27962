"""How things look in notebooks and on the terminal."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from html import escape
from typing import Any

from .errors import ArgumentError

#: Circuits with more nodes and elements than this are drawn as their vtree, which people can still look at.
DRAWN = 120

#: What long work is told to: `callback(what, done, steps)`; `True` shows a bar.
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


class Values(dict[str, Any]):
    """Names with values, such as marginals or a world: a dict that shows itself as a table."""

    def _repr_html_(self) -> str:
        return table((name, _cell(value)) for name, value in self.items())


class World(Values):
    """A world with its probability."""

    def __init__(self, cells: Mapping[str, Any], log_probability: float):
        super().__init__(cells)
        #: The natural logarithm of its probability.
        self.log_probability = log_probability

    @property
    def probability(self) -> float:
        """Its probability."""
        import math

        return math.exp(self.log_probability)

    def _repr_html_(self) -> str:
        return f"<div>P = {number(self.probability)}</div>{super()._repr_html_()}"


class Rows(list[Any]):
    """Rows with the same names, such as rules or worlds: a list of dicts that shows itself as a table."""

    def __getitem__(self, place: Any) -> Any:
        found = super().__getitem__(place)
        return Rows(found) if isinstance(place, slice) else found

    def _repr_html_(self) -> str:
        names = list(self[0]) if self else []
        extra = ["P"] if self and isinstance(self[0], World) else []
        rows = ([getattr(row, "probability", None)] * len(extra) + [_cell(row[name]) for name in names] for row in self)
        return table(rows, extra + names)


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
    """The callback for long work, closed at its end."""

    def __init__(self, progress: Progress):
        if not (progress is None or isinstance(progress, bool) or callable(progress)):
            raise ArgumentError(f"progress is {progress!r}, but must be True for a bar, or a function of stage, steps "
                                "done and steps")
        self._bar = Bar() if progress is True else None
        self._callback = self._bar or (progress if callable(progress) else None)

    def __enter__(self) -> Callable[[str, int, int], object] | None:
        return self._callback

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
