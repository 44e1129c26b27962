"""Columns: what people have, Boolean, categorical or in bins, and the Boolean variables they become."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._labels import from_json, label, to_json

#: A categorical column as the library knows it: its name, the texts of its categories, the numbers between bins.
Group = tuple[str, list[str], list[float] | None]


@dataclass(frozen=True)
class Column:
    """A column: Boolean, which is one variable, or categorical, with a variable `name=category` per category.

    Categories are what they were, numbers or intervals say; with `cuts` they are the names of bins of numbers.
    """

    name: str
    categories: tuple[Any, ...] | None = None
    cuts: tuple[float, ...] | None = None

    @property
    def labels(self) -> list[str]:
        """The texts of the categories."""
        return [label(category) for category in self.categories or ()]

    @property
    def variables(self) -> list[str]:
        """The names of its variables."""
        return [self.name] if self.categories is None else [f"{self.name}={text}" for text in self.labels]

    def place(self, value: Any) -> int | None:
        """Which category a value is: itself, its text, or the bin of a number."""
        if self.cuts is not None and isinstance(value, (int, float, np.number)):
            return int(np.searchsorted(self.cuts, value, side="right"))
        text = label(value)
        return next((i for i, known in enumerate(self.labels) if known == text), None)

    def known(self) -> str:
        """The categories, for people."""
        return ", ".join((["any number"] if self.cuts is not None else []) + self.labels)


class Columns(Sequence[Column]):
    """The columns of records, in order."""

    def __init__(self, columns: Sequence[Column]):
        self._columns = tuple(columns)
        self.variables: list[str] = [variable for column in columns for variable in column.variables]

    @staticmethod
    def of_names(names: Sequence[str], groups: Iterable[Group] = (), labels: Mapping[str, Any] = {}) -> Columns:
        """Columns from the names of variables; those of a categorical column lie next to each other."""
        columns: list[Column] = []
        start = {}
        for name, texts, cuts in groups:
            categories = _known_again(labels.get(name), texts)
            if [label(category) for category in categories] != texts:
                categories = texts
            start[f"{name}={texts[0]}"] = Column(name, tuple(categories), None if cuts is None else tuple(cuts))
        skip = 0
        for name in names:
            if skip:
                skip -= 1
                continue
            column = start.get(name, Column(name))
            skip = len(column.variables) - 1
            columns.append(column)
        return Columns(columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __getitem__(self, i):  # type: ignore[no-untyped-def]
        return self._columns[i]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Columns) and self._columns == other._columns

    def __repr__(self) -> str:
        return f"Columns({list(self._columns)})"

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self]

    @property
    def categories(self) -> dict[str, list[Any]]:
        """The categories of the categorical columns."""
        return {column.name: list(column.categories) for column in self if column.categories is not None}

    @property
    def groups(self) -> list[Group]:
        """The categorical columns as the library knows them."""
        return [(column.name, column.labels, None if column.cuts is None else list(column.cuts))
                for column in self if column.categories is not None]

    @property
    def is_plain(self) -> bool:
        """Whether all columns are Boolean."""
        return all(column.categories is None for column in self)

    def quoted(self, text: str) -> str:
        """A formula with the names of categories in quotes, which the sign = in them needs: `colour=red & hot`."""
        names = [variable for column in self if column.categories is not None for variable in column.variables]
        if not names:
            return text
        known = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
        found = re.compile(rf'"(?:[^"]|"")*"|(?<![\w=])(?:{known})(?![\w=]|\.\w)')
        return found.sub(lambda match: match[0] if match[0].startswith('"') else quote(match[0]), text)

    def places(self) -> list[range]:
        """Where the variables of each column are."""
        places, start = [], 0
        for column in self:
            end = start + len(column.variables)
            places.append(range(start, end))
            start = end
        return places

    def expanded(self, names: Iterable[str]) -> list[str]:
        """The variables of columns or variables, by name."""
        known = {column.name: column.variables for column in self}
        return [variable for name in names for variable in known.get(name, [name])]

    def decode(self, cells: np.ndarray) -> dict[str, np.ndarray]:
        """The columns of a matrix over the variables: Booleans, or floats where NaN is missing, and categories."""
        decoded: dict[str, np.ndarray] = {}
        for column, place in zip(self, self.places(), strict=True):
            part = cells[:, place.start:place.stop]
            if column.categories is None:
                decoded[column.name] = part[:, 0]
                continue
            known = (part == 1).any(axis=1)
            values = objects([*column.categories, None])
            decoded[column.name] = values[np.where(known, (part == 1).argmax(axis=1), len(column.categories))]
        return decoded

    def by_name(self, literals: Iterable[tuple[str, bool]]) -> dict[str, Any]:
        """Literals by column: a category that holds is the value of its column."""
        home = {variable: (column, i) for column in self if column.categories is not None
                for i, variable in enumerate(column.variables)}
        values: dict[str, Any] = {}
        for name, value in literals:
            column, i = home.get(name, (None, 0))
            if column is not None and column.categories is not None and value:
                values[column.name] = column.categories[i]
            else:
                values[name] = value
        return values

    def to_json(self) -> str:
        """The categories that are not texts, as a model keeps them."""
        return json.dumps({column.name: [to_json(category) for category in column.categories] for column in self
                           if column.categories is not None and list(column.categories) != column.labels})


def _known_again(kept: Any, texts: list[str]) -> list[Any]:
    """What categories were; their texts if what was kept makes no sense, as in a file edited by hand."""
    try:
        return texts if kept is None else [from_json(value) for value in kept]
    except (ValueError, TypeError, AttributeError, OverflowError):
        return texts


def objects(values: Sequence[Any]) -> np.ndarray:
    """An array of just these objects, whatever NumPy would make of them."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def quote(name: str) -> str:
    """A name as formulas and evidence take it, whatever signs are in it."""
    return '"' + name.replace('"', '""') + '"'


