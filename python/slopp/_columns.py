"""Columns: what people have, Boolean or categorical, and the Boolean variables they become."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Column:
    """A column: Boolean, which is one variable, or categorical, with a variable `name=category` per category."""

    name: str
    categories: tuple[Any, ...] | None = None

    @property
    def variables(self) -> list[str]:
        if self.categories is None:
            return [self.name]
        return [f"{self.name}={category}" for category in self.categories]


class Columns(Sequence[Column]):
    """The columns of records, in order."""

    def __init__(self, columns: Sequence[Column]):
        self._columns = tuple(columns)
        self.variables: list[str] = [variable for column in columns for variable in column.variables]

    @staticmethod
    def of_names(names: Sequence[str], categories: Mapping[str, Sequence[Any]] = {}) -> Columns:
        """Columns from the names of variables; those of a categorical column lie next to each other."""
        columns: list[Column] = []
        start = {Column(name, tuple(values)).variables[0]: Column(name, tuple(values))
                 for name, values in categories.items()}
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
        return [column.name for column in self]

    @property
    def categories(self) -> dict[str, list[Any]]:
        return {column.name: list(column.categories) for column in self if column.categories is not None}

    @property
    def groups(self) -> list[tuple[str, list[str]]]:
        """The categorical columns as the library knows them: categories as texts."""
        return [(column.name, [str(category) for category in column.categories])
                for column in self if column.categories is not None]

    @property
    def is_plain(self) -> bool:
        return not self.categories

    def rules(self) -> list[str]:
        """What is always true of categorical columns: exactly one category holds."""
        quoted = (", ".join(map(quote, column.variables)) for column in self if column.categories is not None)
        return [f"exactly(1, {variables})" for variables in quoted]

    def quoted(self, text: str) -> str:
        """A formula with the names of categories in quotes, which the sign = in them needs: `colour=red & hot`."""
        names = [variable for column in self if column.categories is not None for variable in column.variables]
        if not names:
            return text
        known = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
        found = re.compile(rf'"(?:[^"]|"")*"|(?<![\w=])(?:{known})(?![\w=])')
        return found.sub(lambda match: match[0] if match[0].startswith('"') else quote(match[0]), text)

    def places(self) -> list[range]:
        """Where the variables of each column are."""
        places, start = [], 0
        for column in self:
            end = start + len(column.variables)
            places.append(range(start, end))
            start = end
        return places

    def decode(self, cells: np.ndarray) -> dict[str, np.ndarray]:
        """The columns of a matrix over the variables: Booleans, or floats where NaN is missing, and categories."""
        decoded: dict[str, np.ndarray] = {}
        for column, place in zip(self, self.places(), strict=True):
            part = cells[:, place.start:place.stop]
            if column.categories is None:
                decoded[column.name] = part[:, 0]
                continue
            known = (part == 1).any(axis=1)
            values = np.array([*column.categories, None], dtype=object)
            decoded[column.name] = values[np.where(known, (part == 1).argmax(axis=1), len(column.categories))]
        return decoded

    def to_json(self) -> str:
        """The categories as a model keeps them."""
        return json.dumps(self.categories)


def quote(name: str) -> str:
    """A name as formulas and evidence take it, whatever signs are in it."""
    return '"' + name.replace('"', '""') + '"'
