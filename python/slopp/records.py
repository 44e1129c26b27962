"""Records: Boolean data with named variables."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _frames, _slopp
from ._columns import Columns
from .errors import RecordsError

Path = str | os.PathLike[str]

#: The weights of records that can be counted with, as in files.
LEAST_WEIGHT, MOST_WEIGHT = 1e-9, 1e15


class Records:
    """Weighted records over Boolean variables, cells possibly missing.

    `data` is a NumPy array (bool, int, or float with NaN for missing), a SciPy sparse matrix, a pandas or polars
    frame, anything with the Arrow stream interface, or a dict of columns. A categorical column becomes a variable
    `column=category` per category. `columns` are those of records seen before: data is matched to them by name.

    >>> from slopp import Records
    >>> records = Records({"smoker": [1, 0, 1], "colour": ["red", "blue", "red"]})
    >>> records.names
    ['smoker', 'colour=blue', 'colour=red']
    >>> len(records), records.distinct
    (3, 2)
    """

    def __init__(self, data: Any, *, names: Sequence[str] | None = None, weights: Any = None,
                 columns: Columns | None = None, binarize: float | None = None):
        if isinstance(data, Records):
            weights = data.record_weights() if weights is None else weights
            data = data.to_dict()
        table = _frames.read(data)
        if columns is None:
            columns = _frames.learn_columns(table, names, binarize)
        cells = _frames.encode(table, columns, binarize)
        if weights is not None:
            weights, cells = _checked_weights(weights, cells)
        self._records = _slopp.Records.from_array(cells, columns.variables, weights, columns.groups)
        self.columns = columns
        self._table = table
        self._weights: np.ndarray | None = weights

    @classmethod
    def _of(cls, records: _slopp.Records, columns: Columns | None = None,
            weights: np.ndarray | None = None) -> Records:
        self = cls.__new__(cls)
        self._records = records
        self.columns = columns or Columns.of_names(records.names, dict(records.groups))
        self._table = _frames.Table("array", len(records), None)
        self._weights = weights
        return self

    @classmethod
    def read(cls, path: Path, *, names: Sequence[str] | None = None, header: bool | None = None) -> Records:
        """Records from a file: CSV, .data or .wdata, gzipped or not; over these names, if they are given."""
        return cls._of(_slopp.Records.read(path, None if names is None else list(names), header))

    def write(self, path: Path, *, weighted: bool = False) -> None:
        """Into a CSV file, with names; each distinct row once with its weight if `weighted`."""
        self._records.write(path, weighted)

    @property
    def names(self) -> list[str]:
        """The names of the variables."""
        return self._records.names

    @property
    def distinct(self) -> int:
        """How many distinct rows there are."""
        return self._records.distinct

    @property
    def total(self) -> float:
        """The total weight."""
        return self._records.total

    @property
    def has_missing(self) -> bool:
        """Whether cells are missing."""
        return self._records.has_missing

    def __len__(self) -> int:
        return len(self._records)

    def to_numpy(self, *, distinct: bool = False) -> np.ndarray:
        """The cells of every record in its order, or of the distinct rows: bool, or float where NaN is missing."""
        return _as_numbers(self._records.cells(distinct))

    def to_dict(self) -> dict[str, np.ndarray]:
        """The columns by name, categories as they were."""
        return self.columns.decode(self.to_numpy())

    def to_pandas(self) -> Any:
        """A frame of pandas."""
        import pandas

        return pandas.DataFrame(self.to_dict())

    def weights(self) -> np.ndarray:
        """The weight of each distinct row, descending."""
        return self._records.weights()

    def record_weights(self) -> np.ndarray:
        """The weight of every record, in its order; where only that of its row is known, an even share of it."""
        return self._records.record_weights() if self._weights is None else self._weights

    def split(self, *shares: float, seed: int = 0) -> list[Records]:
        """Parts at random with these shares."""
        return [Records._of(part, self.columns) for part in self._records.split(list(shares), seed)]

    def merged(self, other: Records) -> Records:
        """These records and others over the same variables."""
        return Records._of(self._records.merged(other._records), self.columns)

    def information(self) -> np.ndarray:
        """The mutual information of all pairs of variables, in nats."""
        return self._records.information()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Records) and self._records == other._records and self.columns == other.columns

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        cells, weights = self._records.cells(False), self.record_weights()
        return _unpickled, (cells, self.names, weights, self.columns.categories)

    def where(self, keep: Any) -> Records:
        """The records, in their order, that are to be kept: a Boolean for each."""
        return self._with(_as_numbers(self._records.cells(False)[keep]), keep)

    def _with(self, cells: np.ndarray, keep: Any = slice(None)) -> Records:
        """The same records, or some of them, with other cells."""
        weights = self.record_weights()[keep]
        return Records._of(_slopp.Records.from_array(cells, self.names, weights, self.columns.groups), self.columns,
                           weights)

    def __repr__(self) -> str:
        missing = ", cells missing" if self.has_missing else ""
        return f"Records({len(self)} of {len(self.names)} variables, {self.distinct} distinct{missing})"

    def _repr_html_(self) -> str:
        from ._show import table

        columns = self.to_dict()
        rows = list(zip(*(values[:10].tolist() for values in columns.values()), strict=True))
        return f"<div>{self!r}</div>{table(rows, columns)}"


def _unpickled(cells: np.ndarray, names: list[str], weights: np.ndarray, categories: Mapping[str, Any]) -> Records:
    columns = Columns.of_names(names, categories)
    records = _slopp.Records.from_array(_as_numbers(cells), names, weights, columns.groups)
    return Records._of(records, columns, weights)


def _as_numbers(cells: np.ndarray) -> np.ndarray:
    missing = cells < 0
    return np.where(missing, np.nan, cells) if missing.any() else cells.astype(bool)


def _checked_weights(weights: Any, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weights as numbers; records of weight zero are not there."""
    weights = np.asarray(weights, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(len(cells), float(weights))
    if weights.ndim != 1:
        raise RecordsError("Sample weights must be 1D array or scalar")
    if len(weights) != len(cells):
        raise RecordsError(f"sample_weight.shape == {weights.shape}, expected ({len(cells)},)!")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise RecordsError("weights must be finite and not negative")
    kept = weights > 0
    if ((weights[kept] < LEAST_WEIGHT) | (weights[kept] > MOST_WEIGHT)).any():
        raise RecordsError(f"weights must be zero, or between {LEAST_WEIGHT} and {MOST_WEIGHT}")
    return (weights, cells) if kept.all() else (weights[kept], cells[kept])


def configurations(records: int, *, seed: int = 0) -> Records:
    """Generated records with known truth: configurations of cars, in which rules hold."""
    return Records._of(_slopp.configurations(records, seed))
