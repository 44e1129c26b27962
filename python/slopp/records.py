"""Records: Boolean data with named variables."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Sequence
from typing import Any, SupportsIndex, overload

import numpy as np

from . import _columns, _encode, _frames, _slopp
from ._arguments import Floats, counted, limit, number, seeded, whole
from ._arguments import path as a_path
from ._columns import Columns, Group
from ._encode import Bins, Reading
from ._show import Rows, Values, card, table
from .errors import ArgumentError, PlaceError, RecordsError

Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]

#: How many rows are packed at a time.
ROWS = 1 << 16

#: How many variables a description shows.
SHOWN = 40

#: The weights of records that can be counted with, as in files.
LEAST_WEIGHT, MOST_WEIGHT = 1e-9, 1e15


class Records(Sequence[Values[Any]]):
    """Weighted records over Boolean variables, cells possibly missing.

    `data` is a NumPy array (bool, int, or float with NaN for missing), a SciPy sparse matrix, a pandas or polars
    frame, anything with the Arrow stream interface, or a dict of columns. A column of texts, of a categorical type, or
    of a frame with few whole numbers becomes a variable `column=category` per category, at most `max_values` of them;
    `categories` names columns that have some even if they look Boolean. `bins={"age": 4}` or `{"age":
    "young:30:old:65:ancient"}` cuts numbers, `binarize=0.5` all of them in two. `columns` are those of records seen
    before: data is matched to them by name, an array by its width: a column for each column, or else for each variable.
    Records of records have the columns they had.

    >>> from slopp import Records
    >>> records = Records({"smoker": [1, 0, 1], "colour": ["red", "blue", "red"]})
    >>> records.names
    ['smoker', 'colour=blue', 'colour=red']
    >>> len(records), records.distinct
    (3, 2)
    """

    #: What each column is, and which variables it has.
    columns: Columns
    _records: _slopp.Records
    _table: _frames.Table
    _weights: np.ndarray | None

    def __init__(self, data: Any, *, names: Sequence[str] | None = None, weights: Any = None,
                 columns: Columns | None = None, binarize: float | None = None, bins: Bins = None,
                 categories: Sequence[str] | None = None, max_values: int | None = None):
        if isinstance(data, Records):
            if names is not None or binarize is not None or bins or categories or max_values is not None:
                raise ArgumentError("these are Records already, so names=, binarize=, bins=, categories= and "
                                    "max_values= come too late; give them to Records(...) or Records.read(...)")
            if columns is None:
                # They know their columns better than their cells show.
                same = data if weights is None else data.reweighted(weights)
                self._records, self.columns, self._table = same._records, same.columns, same._table
                self._weights = same._weights
                return
            weights = data.record_weights() if weights is None else weights
            data = data.to_dict()
        binarize = None if binarize is None else threshold(binarize)
        max_values = limit("max_values", max_values, 1)
        table = _frames.read(data if columns is None else _frames.by_known_columns(data, columns))
        if weights is not None:
            weights = checked_weights(weights, table.rows)
        if columns is None:
            columns = _encode.learn_columns(table, names, Reading(binarize, bins, categories, max_values), weights)
            table = table if names is None else dataclasses.replace(table, names=columns.names)
        # Records of weight zero are not there, nor are their places in a frame.
        kept = None if weights is None or (weights > 0).all() else weights > 0
        parts = _slopp.Parts(columns.variables, columns.groups)
        for rows, part in table.parts():
            cells, shares = _encode.encode(part, columns, binarize), None if weights is None else weights[rows]
            if kept is not None and shares is not None:
                cells, shares = cells[kept[rows]], shares[kept[rows]]
            # Between some rows and the next, Ctrl-C is seen.
            for start in range(0, len(cells), ROWS):
                some = slice(start, start + ROWS)
                parts.push(cells[some], None if shares is None else shares[some])
        if kept is not None and weights is not None:
            weights, table = weights[kept], table.of_rows(kept)
        self._records = parts.finish()
        self.columns = columns
        self._table = dataclasses.replace(table, sparse=None)
        self._weights = weights

    @classmethod
    def _of(cls, records: _slopp.Records, columns: Columns | None = None, weights: np.ndarray | None = None,
            like: _frames.Table | None = None) -> Records:
        self = cls.__new__(cls)
        self._records = records
        self.columns = columns or Columns.of_names(records.names, records.groups)
        known = _frames.Table("array", 0, None) if like is None else like.like()
        self._table = dataclasses.replace(known, rows=len(records), index=None if like is None else like.index)
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
                                   reading.forced, limit("max_values", max_values, 1))
        return cls._of(read, columns)

    def write(self, path: Path, *, weighted: bool | None = None) -> None:
        """Into a file by its ending: CSV with names, or distinct rows with their weights.

        `.csv` and `.data` have a line per record; `.wdata` has each distinct row once with its weight, and
        names unless they are x1, x2, …, as in the files of LearnPSDD. All may be followed by `.gz`. `weighted` need not
        be said; where it is, it must agree with that.
        """
        name = a_path("path", path)
        ending = os.path.splitext(name.lower().removesuffix(".gz"))[1]
        if ending not in (".csv", ".data", ".wdata"):
            raise ArgumentError(f"{name} does not say what to write; it must end in .csv or .data, or in .wdata for "
                                "weighted rows, also with .gz; to_pandas() and to_arrow() go into other files")
        if weighted is not None and weighted != (ending == ".wdata"):
            raise ArgumentError(f"{name} ends in {ending}, but weighted is {weighted}: rows with weights go into "
                                ".wdata, others into .csv or .data")
        self._records.write(name, ending == ".wdata")

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

    @property
    def shape(self) -> tuple[int, int]:
        """How many records and columns there are."""
        return len(self), len(self.columns)

    @overload
    def __getitem__(self, place: SupportsIndex) -> Values[Any]: ...

    @overload
    def __getitem__(self, place: Any) -> Records: ...

    def __getitem__(self, place: Any) -> Any:
        """A record as names with values, None for missing; or some records, by a slice, places or Booleans."""
        # So scikit-learn asks for rows of what has a shape.
        if isinstance(place, tuple) and len(place) == 2 and place[1] is Ellipsis:
            place = place[0]
        if isinstance(place, (int, np.integer)) and not isinstance(place, bool):
            if not -len(self) <= place < len(self):
                raise PlaceError(f"there is no record {place}: there are {len(self)}, and places count from 0")
            return next(iter(self[[place]]))
        if not isinstance(place, slice):
            place = np.asarray(place) if np.size(place) else np.zeros(0, dtype=int)
            if place.dtype.kind not in "iub" or place.ndim != 1:
                raise ArgumentError("records are indexed by a place, a slice, places, or a Boolean for each; columns "
                                    'are those of to_dict(), such as records.to_dict()["smoker"]')
        try:
            places = np.arange(len(self))[place]
        except IndexError as error:
            raise PlaceError(f"there are no such records, of {len(self)}: {error}") from None
        return self._with(_as_numbers(self._records.cells(False)[places]), places)

    def __iter__(self) -> Iterator[Values[Any]]:
        """Every record as names with values, None for missing."""
        columns = {name: _frames.with_none(cells) for name, cells in self.to_dict().items()}
        return (Values(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """The cells by column: as `to_numpy` has them, or objects if some columns are categorical."""
        if copy is False:
            raise ValueError("records are kept packed, so an array of them is always a copy")
        if self.columns.is_plain:
            return self.to_numpy().astype(dtype) if dtype is not None else self.to_numpy()
        columns = [_columns.objects(_frames.with_none(cells)) for cells in self.to_dict().values()]
        return np.column_stack(columns).astype(object if dtype is None else dtype)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """For whatever reads Arrow."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

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

    def weights(self) -> Floats:
        """The weight of each distinct row, descending."""
        return self._records.weights()

    def record_weights(self) -> Floats:
        """The weight of every record, in its order; where only that of its row is known, an even share of it."""
        return self._records.record_weights() if self._weights is None else self._weights

    def split(self, *shares: float, seed: int | None = 0) -> list[Records]:
        """Parts at random with these shares: fractions that are 1 together, such as 0.8, 0.2, or numbers such as 8, 2.

        The same `seed` gives the same parts; None gives others every time.
        """
        sizes = [number("a share", share) for share in shares]
        if len(sizes) < 2:
            raise ArgumentError("split needs a share for each part, at least two: split(0.8, 0.2) makes one of 80 % "
                                "and one of 20 %")
        if all(share < 1 for share in sizes) and abs(sum(sizes) - 1) > 1e-9:
            raise ArgumentError(f"the shares {', '.join(map(str, shares))} are {sum(sizes):g} together, not 1; shares "
                                "such as 8, 1, 1 are divided by their sum")
        parts = self._records.split(sizes, seeded("seed", seed))
        return [Records._of(part, self.columns, like=self._table.like()) for part in parts]

    def _held_out(self, seed: int) -> tuple[Records, Records] | None:
        """The records without a tenth, and that tenth, as learners hold it out; None if there are too few."""
        parts = self._records.hold_out(seed)
        if parts is None:
            return None
        rest, held = (Records._of(part, self.columns, like=self._table.like()) for part in parts)
        return rest, held

    def merged(self, other: Any) -> Records:
        """These records and others over the same variables."""
        other = other if isinstance(other, Records) else Records(other, columns=self.columns)
        return Records._of(self._records.merged(other._records), self.columns, like=self._table.like())

    def describe(self, *, pairs: int = 5) -> Description:
        """What the records look like: numbers, constants, how often what is true, the most dependent pairs."""
        numbers, constants, shares, strongest = self._records.describe(whole("pairs", pairs))
        facts = {name: int(number) if number == int(number) else number for name, number in numbers}
        found = Description({**facts, "constants": dict(constants)})
        found.frequencies = Values(zip(self.names, shares, strict=True))
        found.strongest_pairs = Rows(Values(a=a, b=b, mutual_information=bits) for a, b, bits in strongest)
        return found

    def information(self) -> Floats:
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
            raise RecordsError(f"which records to keep must be given as {len(self)} Booleans, one for each record")
        return self._with(_as_numbers(self._records.cells(False)[keep]), keep)

    def reweighted(self, weights: Any) -> Records:
        """The same records with other weights, one for each; those of weight zero are left out."""
        weights = checked_weights(weights, len(self))
        kept = weights > 0
        records = _slopp.Records.from_array(self.to_numpy()[kept], self.names, weights[kept], self.columns.groups)
        return Records._of(records, self.columns, weights[kept], self._table.of_rows(kept))

    def _with(self, cells: np.ndarray, keep: Any = slice(None)) -> Records:
        """The same records, or some of them, with other cells."""
        weights = self.record_weights()[keep]
        like = self._table if isinstance(keep, slice) else self._table.of_rows(keep)
        return Records._of(_slopp.Records.from_array(cells, self.names, weights, self.columns.groups), self.columns,
                           weights, like)

    def __repr__(self) -> str:
        missing = ", cells missing" if self.has_missing else ""
        return f"Records({len(self)} of {counted(len(self.names), 'variable')}, {self.distinct} distinct{missing})"

    def _repr_html_(self) -> str:
        columns = self.to_dict()
        rows = list(zip(*(values[:10].tolist() for values in columns.values()), strict=True))
        return f"<div>{self!r}</div>{table(rows, columns)}"


class Description(Values[Any]):
    """What records look like, as numbers by name."""

    #: How often each variable is true.
    frequencies: Values[float | None]
    #: The pairs of variables that depend on each other most.
    strongest_pairs: Rows[Values[Any]]

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


def threshold(binarize: Any) -> float:
    """The number above which numbers are true."""
    found = number("binarize", binarize)
    if found != found:
        raise ArgumentError("binarize is NaN, but must be a number: nothing is above it or below")
    return found


def checked_weights(weights: Any, rows: int) -> np.ndarray:
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
