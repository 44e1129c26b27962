"""Vtrees: how the variables are parted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import _slopp
from ._arguments import counted, whole
from ._arguments import path as a_path
from .errors import ArgumentError
from .records import Path, Records


class Vtree:
    """A binary tree over named variables.

    >>> vtree = Vtree("((a,b),(c,d))", ["a", "b", "c", "d"])
    >>> vtree.order, vtree.depth
    (['a', 'b', 'c', 'd'], 2)
    """

    def __init__(self, text: str, names: Sequence[str] | None = None):
        if not isinstance(text, str):
            raise ArgumentError(f'text is {text!r}, but must be the text of a vtree, such as "((a,b),c)"')
        if names is None:
            import re

            names = re.findall(r"[^(),\s]+", text)
        self._vtree = _slopp.Vtree.parse(text, list(names))

    @classmethod
    def _of(cls, vtree: _slopp.Vtree) -> Vtree:
        self = cls.__new__(cls)
        self._vtree = vtree
        return self

    @classmethod
    def read(cls, path: Path, names: Sequence[str] | None = None) -> Vtree:
        """From a .vtree file of any tool; variables are `x1`, `x2`, … unless named."""
        return cls._of(_slopp.Vtree.read(a_path("path", path), None if names is None else list(names)))

    @classmethod
    def learn(cls, records: Any, method: str = "chow-liu", *, seed: int = 0) -> Vtree:
        """By a method: one of the shapes, or chow-liu, chow-liu-linear, mi-top-down, mi-bottom-up."""
        records = records if isinstance(records, Records) else Records(records)
        return cls._of(_slopp.Vtree.learn(records._records, method, whole("seed", seed)))

    @classmethod
    def shaped(cls, shape: str, names: Sequence[str], *, seed: int = 0) -> Vtree:
        """Without records: balanced, right-linear, left-linear or random."""
        return cls._of(_slopp.Vtree.shaped(shape, list(names), whole("seed", seed)))

    def write(self, path: Path) -> None:
        """Into a .vtree file, as libsdd and PySDD read it."""
        self._vtree.write(a_path("path", path))

    @property
    def names(self) -> list[str]:
        """The names of the variables."""
        return self._vtree.names

    @property
    def order(self) -> list[str]:
        """The names from left to right."""
        return self._vtree.order

    @property
    def depth(self) -> int:
        """The length of the longest path."""
        return self._vtree.depth

    @property
    def is_right_linear(self) -> bool:
        """Whether every left child is a single variable."""
        return self._vtree.is_right_linear

    def svg(self) -> str:
        """A picture."""
        return self._vtree.svg()

    def dot(self) -> str:
        """For Graphviz."""
        return self._vtree.dot()

    def picture(self) -> str:
        """A picture in text, one node per line."""
        return self._vtree.picture()

    def __str__(self) -> str:
        return self._vtree.line()

    def __repr__(self) -> str:
        return f"Vtree({str(self)!r})" if len(self.names) <= 12 else f"Vtree({counted(len(self.names), 'variable')})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vtree) and self._vtree == other._vtree

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        return Vtree, (str(self), self.names)

    def _repr_svg_(self) -> str:
        return self.svg()
