"""From tables to cells of Boolean variables: what columns hold, and every value as the cells it becomes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any

import numpy as np

from . import _slopp
from ._columns import Column, Columns
from ._frames import Table
from ._labels import is_boolean, is_missing, label, plain
from .errors import ArgumentError, RecordsError

#: A column with more distinct values than this is more likely an identifier; as in files.
MAX_VALUES = 20

#: How columns of numbers are cut: 4, for bins of about equal weight, or "young:30:old", also as a list.
Bins = Mapping[str, Any] | Iterable[str] | None


@dataclass
class Reading:
    """How columns that are not Boolean are read."""

    binarize: float | None = None
    bins: Bins = None
    categories: Iterable[str] | None = None
    max_values: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.bins, (Mapping, Iterable, NoneType)):
            raise ArgumentError(f'bins is {self.bins!r}, but must say which column is cut, such as {{"age": 4}}')
        if not isinstance(self.categories, (Iterable, NoneType)):
            raise ArgumentError(f'categories is {self.categories!r}, but must be names of columns, such as ["shoe"]')
        self.forced = [self.categories] if isinstance(self.categories, str) else list(self.categories or ())
        self.limit = MAX_VALUES if self.max_values is None else self.max_values
        self.cut = {text.rpartition("=")[0].strip(): text for text in bin_texts(self.bins)}

    def check(self, names: Sequence[str]) -> None:
        """Refuses settings for columns that are not there."""
        for name in [*self.forced, *self.cut]:
            if name not in names:
                raise RecordsError(f'there is no column "{name}" for bins or categories; the columns are '
                                   + ", ".join(names))


def bin_texts(bins: Bins) -> list[str]:
    """Bins as the command line takes them: `age=4`, `age=young:30:old`."""
    if isinstance(bins, str):
        return [bins]
    if not isinstance(bins, Mapping):
        return [str(text) for text in bins or ()]
    return [f"{name}={':'.join(map(str, cut)) if isinstance(cut, (list, tuple)) else cut}"
            for name, cut in bins.items()]


def learn_columns(table: Table, names: Sequence[str] | None, reading: Reading, weights: Any = None) -> Columns:
    """The columns of data that is seen for the first time."""
    if names is not None:
        names = [str(name) for name in names]
        if len(names) != table.width:
            raise RecordsError(f"there are {len(names)} names, but the data has {table.width} columns")
    found = list(names or table.names or numbered(table.width))
    reading.check(found)
    has_cells = table.matrix is not None or table.sparse is not None
    if has_cells and not reading.forced and not reading.cut and (
            table.names is None or reading.binarize is not None or _is_boolean_matrix(table.matrix)):
        return Columns([Column(name) for name in found])
    table = table.by_column(found)
    assert table.columns is not None and table.names is not None
    return Columns([_learn_column(name, values, table.categories.get(was), reading, weights)
                    for name, was, values in zip(found, table.names, table.columns, strict=True)])


def numbered(width: int) -> list[str]:
    """The names of columns that have none."""
    return [f"x{i + 1}" for i in range(width)]


def _is_boolean_matrix(matrix: Any) -> bool:
    return bool(matrix.dtype == bool or ((matrix == 0) | (matrix == 1) | (matrix != matrix)).all())


def _learn_column(name: str, values: np.ndarray, categories: list[Any] | None, reading: Reading,
                  weights: Any) -> Column:
    if name in reading.cut:
        return _binned(name, values, reading.cut[name], weights)
    forced = name in reading.forced
    if categories is None:
        present = _present(name, values)
        if present is None or (not forced and all(is_boolean(value) for value in present)):
            return Column(name)
        numbers = all(isinstance(value, (int, float)) for value in present)
        if numbers and reading.binarize is not None and not forced:
            return Column(name)
        # Real numbers are not categories unless declared so; an error names the cell.
        if numbers and not forced and not all(float(value).is_integer() for value in present):
            return Column(name)
        try:
            categories = sorted(present)
        except TypeError:
            categories = sorted(present, key=lambda value: (type(value).__name__, str(value)))
        if numbers and not forced and reading.max_values is None and len(categories) > reading.limit:
            raise RecordsError(
                f'row {_first_odd(values)} of column "{name}" is neither 0 nor 1 nor missing, and the column has '
                f"{len(categories)} distinct numbers: bins= cuts them, binarize= cuts them in two, max_values= takes "
                "more categories"
            )
    categories = [plain(value) for value in categories]
    if categories and not forced and all(is_boolean(value) for value in categories):
        return Column(name)
    if len(categories) > reading.limit:
        raise RecordsError(
            f'column "{name}" has {len(categories)} distinct values, more than {reading.limit}: leave it out, put its '
            "values into fewer categories, cut numbers by bins=, or take more by max_values="
        )
    if not categories:
        raise RecordsError(f'column "{name}" has no values at all; leave it out')
    column = Column(name, tuple(categories))
    alike = [text for text in column.labels if column.labels.count(text) > 1]
    if alike:
        raise RecordsError(f'column "{name}" has two categories that are written "{alike[0]}"; rename one of them')
    return column


def _present(name: str, values: np.ndarray) -> set[Any] | None:
    """The distinct values of a column that are not missing; none of them need be known of a Boolean column."""
    if values.dtype == bool:
        return None
    if values.dtype != object:
        known = values[values == values]
        return set(np.unique(known).tolist())
    try:
        return {plain(value) for value in values if not is_missing(value)}
    except TypeError:
        odd = next(value for value in values if isinstance(value, (list, dict, set, np.ndarray)))
        raise RecordsError(f'column "{name}" has a {type(odd).__name__} in a cell; a cell needs one value') from None


def _first_odd(values: np.ndarray) -> int:
    return next(i for i, value in enumerate(values.tolist()) if not is_missing(value) and not is_boolean(value))


def _binned(name: str, values: np.ndarray, text: str, weights: Any) -> Column:
    numbers = _numbers(name, values)
    known = ~np.isnan(numbers)
    shares = None if weights is None else np.broadcast_to(np.asarray(weights, dtype=np.float64), numbers.shape)[known]
    names, cuts = _slopp.bins(text, numbers[known], None if shares is None else np.ascontiguousarray(shares))
    return Column(name, tuple(names), tuple(cuts))


def _numbers(name: str, values: np.ndarray) -> np.ndarray:
    try:
        return np.array([np.nan if is_missing(value) else float(value) for value in values])
    except (TypeError, ValueError):
        raise RecordsError(f'column "{name}" has bins, but a cell is not a number') from None


def encode(table: Table, columns: Columns, binarize: float | None = None) -> np.ndarray:
    """The cells over the variables of known columns, matched by name where the data has names."""
    over_variables = table.names is not None and not columns.is_plain and sorted(table.names) == sorted(
        columns.variables)
    if over_variables:
        columns = Columns([Column(name) for name in columns.variables])
    table = table.dense()
    if table.matrix is not None and (columns.is_plain or table.names is None):
        matrix = table.matrix
        if table.names is not None and table.names != columns.names:
            _check_names(table, columns)
            matrix = matrix[:, [table.names.index(name) for name in columns.names]]
        # A width that is that of both, because no column has several categories, is that of the columns, as people see
        # them.
        by_column = not columns.is_plain and matrix.shape[1] == len(columns)
        if matrix.shape[1] == len(columns.variables) and not by_column:
            return matrix if binarize is None else _cut(matrix, binarize)
        if matrix.shape[1] != len(columns):
            raise RecordsError(f"X has {matrix.shape[1]} features, but {len(columns.variables)} variables are expected")
    table = table.by_column(columns.names)
    assert table.names is not None and table.columns is not None
    _check_names(table, columns)
    cells = np.empty((table.rows, len(columns.variables)), dtype=np.float64)
    for column, place in zip(columns, columns.places(), strict=True):
        values = table.columns[table.names.index(column.name)]
        cells[:, place.start:place.stop] = _encode_column(column, values, binarize)
    return cells


def _check_names(table: Table, columns: Columns) -> None:
    """Refuses names that are not just those of the columns."""
    names = table.names or []
    if missing := [name for name in columns.names if name not in names]:
        raise RecordsError(f"the data has no column {_listed(missing)}: every column must be there, with None or NaN "
                           "where a cell is missing" + _unnamed(columns))
    if extra := [name for name in names if name not in columns.names]:
        raise RecordsError(f"the data has a column {_listed(extra)} that is not known; leave it out; the columns are "
                           + _listed(columns.names) + _unnamed(columns))


def _unnamed(columns: Columns) -> str:
    made_up = columns.names == numbered(len(columns))
    return "; these names were made up for an array: give an array, or call columns so" if made_up else ""


def _listed(names: list[str]) -> str:
    return ", ".join(names[:20]) + (", …" if len(names) > 20 else "")


def _encode_column(column: Column, values: np.ndarray, binarize: float | None) -> np.ndarray:
    if column.categories is not None:
        return _one_hot(column, values)
    if values.dtype == object:
        numbers = np.empty(len(values))
        for row, value in enumerate(map(plain, values)):
            if is_missing(value):
                numbers[row] = np.nan
            elif is_boolean(value) or (binarize is not None and isinstance(value, (int, float))):
                numbers[row] = float(value)
            else:
                raise RecordsError(f'row {row} of column "{column.name}" is {value!r}, but must be 0, 1 or missing')
        values = numbers
    cut = values if binarize is None else _cut(values, binarize)
    wrong = ~((cut == 0) | (cut == 1) | (cut != cut))
    if wrong.any():
        row = int(wrong.argmax())
        raise RecordsError(f'row {row} of column "{column.name}" is {cut[row]}, neither 0 nor 1 nor missing; binarize= '
                           "cuts numbers in two, bins= cuts them into several, categories= takes them as categories")
    return cut.reshape(-1, 1)


def _one_hot(column: Column, values: np.ndarray) -> np.ndarray:
    cells = np.zeros((len(values), len(column.categories or ())))
    places: dict[Any, int | None] = {}
    unknown: list[tuple[int, Any]] = []
    for row, value in enumerate(values.tolist()):
        if is_missing(value):
            cells[row] = np.nan
            continue
        try:
            known = value in places
        except TypeError:
            raise RecordsError(f'row {row} of column "{column.name}" has a {type(value).__name__} in a cell; a cell '
                               "needs one value") from None
        if not known:
            places[value] = column.place(value)
        place = places[value]
        if place is None:
            unknown.append((row, value))
        else:
            cells[row, place] = 1.0
    if unknown:
        found = sorted({label(value) for _, value in unknown})
        row, value = unknown[0]
        raise RecordsError(f'Found unknown categories {found} in column "{column.name}": row {row} is {value!r}, which '
                           f"was not seen in fit; known categories: {column.known()}")
    return cells


def _cut(values: np.ndarray, binarize: float) -> np.ndarray:
    """Numbers as Booleans, by whether they are above a threshold; NaN stays missing."""
    if values.dtype.kind != "f":
        return values > binarize
    missing = np.isnan(values)
    above = values > binarize
    return np.where(missing, np.nan, above) if missing.any() else above
