"""Records: Boolean data with named variables."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _encode, _frames, _slopp
from ._arguments import limit, number, whole
from ._arguments import path as a_path
from ._columns import Columns, Group
from ._encode import Bins, Reading
from ._show import Rows, Values, card, table
from .errors import RecordsError

Path = str | os.PathLike[str]

#: How many variables a description shows.
SHOWN = 40

#: The weights of records that can be counted with, as in files.
LEAST_WEIGHT, MOST_WEIGHT = 1e-9, 1e15


class Records:
    """Weighted records over Boolean variables, cells possibly missing.

    `data` is a NumPy array (bool, int, or float with NaN for missing), a SciPy sparse matrix, a pandas or polars
    frame, anything with the Arrow stream interface, or a dict of columns. A column of texts, of a categorical type, or
    of a frame with few whole numbers becomes a variable `column=category` per category, at most `max_values` of them;
    `categories` names columns that have some even if they look Boolean. `bins={"age": 4}` or `{"age":
    "young:30:old:65:ancient"}` cuts numbers, `binarize=0.5` all of them in two. `columns` are those of records seen
    before: data is matched to them by name.

    >>> from slopp import Records
    >>> records = Records({"smoker": [1, 0, 1], "colour": ["red", "blue", "red"]})
    >>> records.names
    ['smoker', 'colour=blue', 'colour=red']
    >>> len(records), records.distinct
    (3, 2)
    """

    def __init__(self, data: Any, *, names: Sequence[str] | None = None, weights: Any = None,
                 columns: Columns | None = None, binarize: float | None = None, bins: Bins = None,
                 categories: Sequence[str] | None = None, max_values: int | None = None):
        if isinstance(data, Records):
            weights = data.record_weights() if weights is None else weights
            data = data.to_dict()
        binarize = None if binarize is None else number("binarize", binarize)
        max_values = limit("max_values", max_values)
        table = _frames.read(data if columns is None else _frames.by_known_columns(data, columns))
        if weights is not None:
            weights = _checked_weights(weights, table.rows)
        if columns is None:
            columns = _encode.learn_columns(table, names, Reading(binarize, bins, categories, max_values), weights)
            table = table if names is None else dataclasses.replace(table, names=columns.names)
        cells = _encode.encode(table, columns, binarize)
        # Records of weight zero are not there, nor are their places in a frame.
        if weights is not None and not (kept := weights > 0).all():
            weights, cells, table = weights[kept], cells[kept], table.of_rows(kept)
        self._records = _slopp.Records.from_array(cells, columns.variables, weights, columns.groups)
        self.columns = columns
        self._table = table
        self._weights: np.ndarray | None = weights

    @classmethod
    def _of(cls, records: _slopp.Records, columns: Columns | None = None,
            weights: np.ndarray | None = None) -> Records:
        self = cls.__new__(cls)
        self._records = records
        self.columns = columns or Columns.of_names(records.names, records.groups)
        self._table = _frames.Table("array", len(records), None)
        self._weights = weights
        return self

    @classmethod
    def read(cls, path: Path, *, names: Sequence[str] | None = None, header: bool | None = None, bins: Bins = None,
             categories: Sequence[str] | None = None, max_values: int | None = None,
             columns: Columns | None = None) -> Records:
        """Records from a file: CSV, .data or .wdata, gzipped or not; over these names or columns, if they are given."""
        reading = Reading(None, bins, categories, max_values)
        known = columns.variables if columns is not None else None if names is None else list(names)
        groups: list[Group] = [] if columns is None else columns.groups
        read = _slopp.Records.read(a_path("path", path), known, groups, header, _encode.bin_texts(bins),
                                   reading.forced, limit("max_values", max_values))
        return cls._of(read, columns)

    def write(self, path: Path, *, weighted: bool = False) -> None:
        """Into a CSV file, with names; each distinct row once with its weight if `weighted`."""
        self._records.write(a_path("path", path), weighted)

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
        return self._to("pandas")

    def to_polars(self) -> Any:
        """A frame of polars."""
        return self._to("polars")

    def to_arrow(self) -> Any:
        """A table of pyarrow."""
        return self._to("arrow")

    def _to(self, kind: str) -> Any:
        """A frame of some kind, with the types of the one it came from if it was of that kind."""
        table = self._table if self._table.kind == kind else _frames.Table(
            kind, len(self), None, categories=self._table.categories, ordered=self._table.ordered)
        return _frames.in_kind(table, self.to_dict(), self.columns)

    def weights(self) -> np.ndarray:
        """The weight of each distinct row, descending."""
        return self._records.weights()

    def record_weights(self) -> np.ndarray:
        """The weight of every record, in its order; where only that of its row is known, an even share of it."""
        return self._records.record_weights() if self._weights is None else self._weights

    def split(self, *shares: float, seed: int = 0) -> list[Records]:
        """Parts at random with these shares."""
        parts = self._records.split([number("a share", share) for share in shares], whole("seed", seed))
        return [Records._of(part, self.columns) for part in parts]

    def merged(self, other: Any) -> Records:
        """These records and others over the same variables."""
        other = other if isinstance(other, Records) else Records(other, columns=self.columns)
        return Records._of(self._records.merged(other._records), self.columns)

    def describe(self, *, pairs: int = 5) -> Description:
        """What the records look like: numbers, constants, how often what is true, the most dependent pairs."""
        numbers, constants, shares, strongest = self._records.describe(whole("pairs", pairs))
        facts = {name: int(number) if number == int(number) else number for name, number in numbers}
        found = Description({**facts, "constants": dict(constants)})
        found.frequencies = Values(zip(self.names, shares, strict=True))
        found.strongest_pairs = Rows(Values(a=a, b=b, mutual_information=bits) for a, b, bits in strongest)
        return found

    def information(self) -> np.ndarray:
        """The mutual information of all pairs of variables, in nats."""
        return self._records.information()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Records) and self._records == other._records and self.columns == other.columns

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        cells, weights = self._records.cells(False), self.record_weights()
        return _unpickled, (cells, self.names, weights, self.columns)

    def where(self, keep: Any) -> Records:
        """The records, in their order, that are to be kept: a Boolean for each."""
        keep = np.asarray(keep)
        if keep.dtype != bool or keep.shape != (len(self),):
            raise RecordsError(f"which records are kept must be told by {len(self)} Booleans, one for each record")
        return self._with(_as_numbers(self._records.cells(False)[keep]), keep)

    def reweighted(self, weights: Any) -> Records:
        """The same records with other weights, one for each; those of weight zero are left out."""
        weights = _checked_weights(weights, len(self))
        kept = weights > 0
        records = _slopp.Records.from_array(self.to_numpy()[kept], self.names, weights[kept], self.columns.groups)
        return Records._of(records, self.columns, weights[kept])

    def _with(self, cells: np.ndarray, keep: Any = slice(None)) -> Records:
        """The same records, or some of them, with other cells."""
        weights = self.record_weights()[keep]
        return Records._of(_slopp.Records.from_array(cells, self.names, weights, self.columns.groups), self.columns,
                           weights)

    def __repr__(self) -> str:
        missing = ", cells missing" if self.has_missing else ""
        return f"Records({len(self)} of {len(self.names)} variables, {self.distinct} distinct{missing})"

    def _repr_html_(self) -> str:
        columns = self.to_dict()
        rows = list(zip(*(values[:10].tolist() for values in columns.values()), strict=True))
        return f"<div>{self!r}</div>{table(rows, columns)}"


class Description(Values):
    """What records look like, as numbers by name."""

    #: How often each variable is true.
    frequencies: Values
    #: The pairs of variables that depend on each other most.
    strongest_pairs: Rows

    def _repr_html_(self) -> str:
        shares = [(name, share) for name, share in self.frequencies.items()]
        return card("Records", "what they look like", super()._repr_html_(),
                    table(shares[:SHOWN] + [("…", "")] * (len(shares) > SHOWN), ("variable", "share of true")),
                    self.strongest_pairs._repr_html_())


def _unpickled(cells: np.ndarray, names: list[str], weights: np.ndarray, columns: Columns) -> Records:
    records = _slopp.Records.from_array(_as_numbers(cells), names, weights, columns.groups)
    return Records._of(records, columns, weights)


def _as_numbers(cells: np.ndarray) -> np.ndarray:
    missing = cells < 0
    return np.where(missing, np.nan, cells) if missing.any() else cells.astype(bool)


def _checked_weights(weights: Any, rows: int) -> np.ndarray:
    """Weights as numbers, one for each row."""
    try:
        weights = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise RecordsError(f"weights must be numbers: {error}") from None
    if weights.ndim == 0:
        weights = np.full(rows, float(weights))
    if weights.ndim != 1:
        raise RecordsError("Sample weights must be 1D array or scalar")
    if len(weights) != rows:
        raise RecordsError(f"sample_weight.shape == {weights.shape}, expected ({rows},)!")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise RecordsError("weights must be finite and not negative")
    kept = weights > 0
    if ((weights[kept] < LEAST_WEIGHT) | (weights[kept] > MOST_WEIGHT)).any():
        raise RecordsError(f"weights must be zero, or between {LEAST_WEIGHT} and {MOST_WEIGHT}")
    return weights  # type: ignore[no-any-return]


def configurations(records: int, *, seed: int = 0) -> Records:
    """Generated records with known truth: configurations of cars, in which rules hold."""
    return Records._of(_slopp.configurations(whole("records", records), whole("seed", seed)))


def rankings(records: int, *, items: int = 4, dispersion: float = 0.5, seed: int = 0) -> Records:
    """Generated records with known truth: rankings of items after Mallows, a variable per item and place."""
    return Records._of(_slopp.rankings(whole("items", items), float(dispersion), whole("records", records),
                                       whole("seed", seed)))
