"""How things look in notebooks and on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from html import escape
from typing import Any

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


class Values(dict[str, Any]):
    """Names with values, such as marginals or a world: a dict that shows itself as a table."""

    def _repr_html_(self) -> str:
        return table(self.items())


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
    return ", ".join(map(str, value)) if isinstance(value, list) else value


class Bar:
    """A progress bar: that of tqdm where it is installed, else a line on stderr."""

    def __init__(self) -> None:
        self._stage: tuple[str, int] | None = None
        self._bar: Any = None
        try:
            from tqdm.auto import tqdm

            self._tqdm: Any = tqdm
        except ImportError:
            self._tqdm = None

    def __call__(self, what: str, done: int, steps: int) -> None:
        if self._tqdm is None:
            print(f"\r{what}: {done} of {steps}\x1b[K", end="", file=sys.stderr, flush=True)
            return
        if self._stage != (what, steps):
            self.close()
            self._stage, self._bar = (what, steps), self._tqdm(total=steps, desc=what, leave=False)
        self._bar.n = min(done, steps)
        self._bar.refresh()

    def close(self) -> None:
        """The bar is gone."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None
        elif self._tqdm is None:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


class listening:
    """The callback for long work, closed at its end."""

    def __init__(self, progress: Progress):
        self._bar = Bar() if progress is True else None
        self._callback = self._bar or (progress if callable(progress) else None)

    def __enter__(self) -> Callable[[str, int, int], object] | None:
        return self._callback

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
