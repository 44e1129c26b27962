"""Arrays and frames of any library as tables, and answers back in kind."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any

import numpy as np

from ._columns import Columns, objects
from ._labels import is_missing, label
from .errors import RecordsError

#: How many cells of a sparse matrix are made dense at a time.
CELLS = 1 << 22

#: The types that the compiled half reads as they are, without a copy.
READ_AS_IS = {np.dtype(t) for t in (np.bool_, np.uint8, np.int8, np.int32, np.int64, np.float32, np.float64)}


@dataclass
class Table:
    """Data as it came: a matrix, or columns by name."""

    kind: str  # "array", "pandas", "polars" or "arrow"
    rows: int
    names: list[str] | None
    matrix: np.ndarray | None = None
    #: A sparse matrix of SciPy in rows, in place of the other.
    sparse: Any = None
    columns: list[np.ndarray] | None = None
    categories: dict[str, list[Any]] = field(default_factory=dict)
    #: Those of the categorical columns whose categories have an order that counts.
    ordered: set[str] = field(default_factory=set)
    index: Any = None
    #: The types of the columns of a frame, by name: answers have them too.
    types: dict[str, Any] = field(default_factory=dict)
    #: What columns were called if that was no text.
    labels: dict[str, Any] = field(default_factory=dict)

    @property
    def width(self) -> int:
        matrix = self.sparse if self.matrix is None else self.matrix
        return int(matrix.shape[1]) if matrix is not None else len(self.columns or [])

    def dense(self) -> Table:
        """The same with all cells of a sparse matrix there."""
        return self if self.sparse is None else replace(self, matrix=_plain(self.sparse.toarray()), sparse=None)

    def parts(self) -> Iterator[tuple[slice, Table]]:
        """Itself, or a sparse matrix some rows at a time, so that all of its cells are never there at once."""
        if self.sparse is None:
            yield slice(0, self.rows), self
            return
        step = max(CELLS // max(self.width, 1), 1)
        for start in range(0, self.rows, step):
            rows = slice(start, min(start + step, self.rows))
            yield rows, replace(self, rows=rows.stop - start, sparse=self.sparse[rows]).dense()

    def like(self) -> Table:
        """What it is, without rows: for answers in kind."""
        return replace(self, rows=0, matrix=None, sparse=None, columns=None, index=None)

    def by_column(self, names: list[str] | None = None) -> Table:
        """The same as columns, by these names if it has none."""
        if self.sparse is not None:
            return self.dense().by_column(names)
        if self.matrix is None:
            return self
        return replace(self, matrix=None, columns=list(self.matrix.T), names=self.names or names)

    def truths(self, names: list[str]) -> list[Any]:
        """The type of NumPy in which each of its columns, by name, writes truth values; bool where it is not known."""
        matrix = self.sparse if self.matrix is None else self.matrix
        if matrix is not None:
            return [_truth_type(matrix.dtype)] * len(names)
        values = dict(zip(self.names or (), self.columns or (), strict=False))
        return [_truth_type(values[name].dtype, values[name]) if name in values else _truth_type(self.types.get(name))
                for name in names]

    def of_rows(self, keep: np.ndarray) -> Table:
        """What is known of some of its rows, without their cells."""
        index = None if self.index is None else self.index[keep]
        return replace(self.like(), rows=len(np.arange(self.rows)[keep]), index=index)


def _truth_type(dtype: Any, values: np.ndarray | None = None) -> Any:
    """The type of truth values in a column: numbers stay numbers."""
    if values is not None and values.dtype == object:
        kinds = {np.asarray(value).dtype.kind for value in values.tolist() if not is_missing(value)}
        return np.int64 if kinds and kinds <= set("iu") else np.float64 if kinds and kinds <= set("iuf") else np.bool_
    dtype = getattr(dtype, "numpy_dtype", dtype)
    return dtype if isinstance(dtype, np.dtype) and dtype.kind in "iuf" else np.bool_


def is_sparse(data: Any) -> bool:
    """Whether data is a sparse matrix of SciPy, of which one kind is also a dict."""
    return hasattr(data, "toarray") and hasattr(data, "format")


def is_frame(data: Any) -> bool:
    """Whether data has columns with names."""
    named = hasattr(data, "columns") or _is_arrow(data) or isinstance(data, Mapping) or is_dicts(data)
    return named and not is_sparse(data)


def is_dicts(data: Any) -> bool:
    """Whether data is a list with a dict for each record."""
    return isinstance(data, (list, tuple)) and bool(data) and all(isinstance(row, Mapping) for row in data)


def _is_arrow(data: Any) -> bool:
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")


def read(data: Any) -> Table:
    """Whatever people have as a table; no copy where the layout allows that."""
    if isinstance(data, Table):
        return data
    module = type(data).__module__.partition(".")[0]
    if module == "pandas" and hasattr(data, "columns"):
        return _read_pandas(data)
    if module == "polars" and hasattr(data, "collect_schema"):
        return _read_polars(data.collect() if hasattr(data, "collect") else data)
    if _is_arrow(data) and module not in ("pandas", "polars"):
        return _read_arrow(data)
    if isinstance(data, (str, PathLike)):
        raise RecordsError(f"records are {str(data)!r}; if that is a file, Records.read({str(data)!r}) reads it")
    if is_dicts(data):
        names = dict.fromkeys(name for row in data for name in row)
        data = {name: [row.get(name) for row in data] for name in names}
    if isinstance(data, Mapping) and not is_sparse(data):
        # Names with single values are one record.
        single = bool(data) and all(isinstance(value, str) or not hasattr(value, "__len__") for value in data.values())
        columns = [[value] if single else value for value in data.values()]
        return _by_column("array", [str(name) for name in data], [_as_array(values) for values in columns])
    data = unmasked(data)
    if is_sparse(data) and data.ndim == 2:
        if np.iscomplexobj(data):
            raise RecordsError("Complex data not supported: cells must be 0, 1 or missing")
        return Table("array", data.shape[0], None, sparse=data.tocsr())
    check_no_series(data)
    matrix = data.toarray() if is_sparse(data) else np.asarray(data)
    if matrix.ndim != 2:
        raise RecordsError(
            f"Expected 2D array, got {matrix.ndim}D array instead: records need a row each and a column per variable. "
            "Reshape your data: array.reshape(1, -1) makes one record, array.reshape(-1, 1) one column"
        )
    return Table("array", matrix.shape[0], None, matrix=_plain(matrix))


def unmasked(data: Any) -> Any:
    """A masked array of NumPy with what is masked missing; anything else as it is."""
    if not isinstance(data, np.ma.MaskedArray):
        return data
    if data.dtype.kind in "biuf":
        return np.ma.filled(data.astype(np.float64), np.nan)
    cells = np.array(data.data, dtype=object)
    cells[np.ma.getmaskarray(data)] = None
    return cells


def check_no_series(data: Any) -> None:
    """Refuses a series of pandas or polars, which is one record or one column, and does not say which."""
    if getattr(data, "ndim", 2) == 1 or (not hasattr(data, "ndim") and type(data).__name__ == "Series"):
        if type(data).__module__.partition(".")[0] in ("pandas", "polars"):
            raise RecordsError("Expected 2D array, got 1D array instead: a series is not a table. Of a frame, "
                               'frame.iloc[[0]] is one record and frame[["name"]] one column, with a list in the '
                               "brackets")


def by_known_columns(data: Any, columns: Columns) -> Any:
    """An array of objects or texts as known columns, if some are categorical; anything else as it is."""
    data = unmasked(data)
    if columns.is_plain or not isinstance(data, np.ndarray) or data.dtype.kind not in "OUS":
        return data
    if data.ndim != 2 or data.shape[1] != len(columns):
        return data
    return dict(zip(columns.names, data.T, strict=True))


def _as_array(values: Any) -> np.ndarray:
    """A column as an array; values that NumPy would take apart or make alike stay as they are."""
    if isinstance(values, np.ndarray) or hasattr(values, "dtype"):
        return np.asarray(values)
    values = list(values)
    array = np.asarray(values) if all(isinstance(value, (bool, int, float, str)) for value in values) else None
    alike = array is not None and (array.dtype.kind not in "US" or all(isinstance(value, str) for value in values))
    return array if alike and array is not None else objects(values)


def _plain(matrix: np.ndarray) -> np.ndarray:
    """An array as one of those that are read."""
    if matrix.dtype in READ_AS_IS:
        return matrix
    if np.iscomplexobj(matrix):
        raise RecordsError("Complex data not supported: cells must be 0, 1 or missing")
    if matrix.dtype.kind in "iu":
        return matrix.astype(np.int64)
    if matrix.dtype.kind in "mM":
        raise RecordsError(f"an array of type {matrix.dtype} cannot be read: cells must be 0, 1 or missing; in a "
                           "frame, dates with few values are categories")
    try:
        return matrix.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise RecordsError(
            f"an array of type {matrix.dtype} cannot be read ({error}; argument must be a string or a number): give "
            "bool, int or float with NaN for missing, or a frame for categorical columns"
        ) from None


def _read_pandas(frame: Any) -> Table:
    names = [str(name) for name in frame.columns]
    _check_names(names)
    types = dict(zip(names, frame.dtypes, strict=True))
    labels = {str(label): label for label in frame.columns if not isinstance(label, str)}
    if all(dtype in READ_AS_IS for dtype in frame.dtypes) and len(set(frame.dtypes)) == 1:
        return Table("pandas", len(frame), names, matrix=frame.to_numpy(), index=frame.index, types=types,
                     labels=labels)
    columns, categories = [], {}
    ordered = {name for name, dtype in types.items() if getattr(dtype, "ordered", False)}
    for name, (_, series) in zip(names, frame.items(), strict=True):
        if hasattr(series.dtype, "categories"):
            categories[name] = list(series.dtype.categories)
        if isinstance(series.dtype, np.dtype) and series.dtype in READ_AS_IS:
            columns.append(series.to_numpy())
            continue
        values = series.astype(object).to_numpy(dtype=object, copy=True)
        values[series.isna().to_numpy(dtype=bool)] = None
        columns.append(values)
    table = _by_column("pandas", names, columns, categories, types)
    return replace(table, rows=len(frame), index=frame.index, labels=labels, ordered=ordered)


def _read_polars(frame: Any) -> Table:
    columns, categories = [], {}
    for name in frame.columns:
        series = frame[name]
        if str(series.dtype).startswith("Enum"):
            categories[name] = series.dtype.categories.to_list()
        numeric = series.dtype.is_numeric() or str(series.dtype) == "Boolean"
        columns.append(series.to_numpy() if numeric and series.null_count() == 0 else objects(series.to_list()))
    table = _by_column("polars", list(frame.columns), columns, categories, dict(frame.schema))
    return replace(table, rows=frame.height)


def _read_arrow(data: Any) -> Table:
    try:
        import pyarrow
    except ImportError:
        raise RecordsError("Arrow data needs pyarrow to be read: pip install pyarrow") from None
    try:
        arrow = pyarrow.table(data) if hasattr(data, "__arrow_c_stream__") else pyarrow.Table.from_batches(
            [pyarrow.record_batch(data)])
    except (pyarrow.ArrowInvalid, TypeError) as error:
        raise RecordsError(f"the Arrow data is not a table with columns: {error}") from None
    categories, columns = {}, []
    for name, column in zip(arrow.column_names, arrow.columns, strict=True):
        if pyarrow.types.is_dictionary(column.type):
            # Chunks may have dictionaries of their own.
            column = column.unify_dictionaries()
            if column.num_chunks:
                categories[name] = column.chunk(0).dictionary.to_pylist()
        plain = pyarrow.types.is_boolean(column.type) or pyarrow.types.is_floating(column.type) \
            or pyarrow.types.is_integer(column.type)
        columns.append(column.to_numpy() if plain and column.null_count == 0 else objects(column.to_pylist()))
    types = dict(zip(arrow.column_names, arrow.schema.types, strict=True))
    ordered = {name for name, kind in types.items() if pyarrow.types.is_dictionary(kind) and kind.ordered}
    table = _by_column("arrow", arrow.column_names, columns, categories, types)
    return replace(table, rows=arrow.num_rows, ordered=ordered)


def _check_names(names: list[str]) -> None:
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise RecordsError(f'two columns are called "{twice}"; rename one of them')


def _by_column(kind: str, names: list[str], columns: list[np.ndarray], categories: dict[str, list[Any]] | None = None,
               types: dict[str, Any] | None = None) -> Table:
    _check_names(names)
    for i, (name, values) in enumerate(zip(names, columns, strict=True)):
        if values.ndim != 1:
            raise RecordsError(f'column "{name}" has {values.ndim} dimensions; a column needs one value per record')
        if values.dtype.kind in "mM":
            values = objects([None if value != value else value for value in values.astype(f"{values.dtype.kind}8[us]")
                              .astype(object)])
        columns[i] = values.astype(object) if values.dtype.kind in "US" else values
    rows = {len(values) for values in columns}
    if len(rows) > 1:
        raise RecordsError(f"the columns have different lengths: {sorted(rows)}")
    return Table(kind, rows.pop() if rows else 0, names, columns=columns, categories=categories or {},
                 types=types or {})


def in_kind(table: Table, values: Mapping[str, np.ndarray], columns: Columns | None = None) -> Any:
    """Columns as what the data came as, an array for an array; with the types it had if they are cells of `columns`."""
    types, known = {}, {}
    if columns is not None:
        uncut = [column for column in columns if column.cuts is None]
        types = {column.name: table.types[column.name] for column in uncut if column.name in table.types}
        known = {column.name: list(column.categories) for column in uncut
                 if column.categories is not None and column.name in table.categories}
        # Cells are numbers where another column misses one.
        values = {name: cells.astype(bool) if cells.dtype.kind == "f" and not np.isnan(cells).any() else cells
                  for name, cells in values.items()}
    if table.kind == "pandas":
        return _to_pandas(table, values, types, known)
    if table.kind == "array":
        return np.column_stack(list(values.values()))
    listed = {name: cells if columns is None else with_none(cells) for name, cells in values.items()}
    return (_to_polars if table.kind == "polars" else _to_arrow)(table, listed, types, known)


def with_none(cells: np.ndarray) -> list[Any]:
    """Cells with nothing where they are missing; Booleans stay such."""
    if cells.dtype.kind == "f":
        return [None if cell != cell else bool(cell) for cell in cells.tolist()]
    return cells.tolist()  # type: ignore[no-any-return]


def _to_pandas(table: Table, values: Mapping[str, np.ndarray], types: Mapping[str, Any],
               known: Mapping[str, list[Any]]) -> Any:
    import pandas

    made = {}
    for name, cells in values.items():
        series = pandas.Series(cells, index=table.index)
        if name in types:
            series = _like_pandas(series, types[name])
        elif name in known:
            series = pandas.Series(pandas.Categorical(cells, known[name], ordered=name in table.ordered), table.index)
        made[table.labels.get(name, name)] = series
    return pandas.DataFrame(made, index=table.index)


def _to_polars(_: Table, values: Mapping[str, Any], types: Mapping[str, Any], known: Mapping[str, list[Any]]) -> Any:
    import polars

    frame = polars.DataFrame(dict(values), strict=False)
    # Categories of polars are texts.
    texts = {name: polars.Enum(found) for name, found in known.items() if all(isinstance(text, str) for text in found)}
    for name, dtype in {**texts, **types}.items():
        with contextlib.suppress(polars.exceptions.PolarsError):
            frame = frame.with_columns(frame[name].cast(dtype))
    return frame


def _to_arrow(table: Table, values: Mapping[str, Any], types: Mapping[str, Any], known: Mapping[str, list[Any]]) -> Any:
    import pyarrow

    made = {}
    for name, cells in values.items():
        array, kind = pyarrow.array(cells, from_pandas=True), types.get(name)
        with contextlib.suppress(pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError, pyarrow.ArrowTypeError):
            if name in known:
                categories = pyarrow.array(known[name]) if kind is None else pyarrow.array(known[name], kind.value_type)
                places = {category: i for i, category in enumerate(known[name])}
                indices = pyarrow.array([places.get(cell) for cell in cells],
                                        pyarrow.int32() if kind is None else kind.index_type)
                array = pyarrow.DictionaryArray.from_arrays(indices, categories, ordered=name in table.ordered)
            elif kind is not None:
                array = array.cast(kind)
        made[name] = array
    return pyarrow.table(made)


def _like_pandas(series: Any, dtype: Any) -> Any:
    """A series with the type that its column had, where its values allow that."""
    import pandas

    if hasattr(dtype, "categories"):
        known = {label(category): category for category in dtype.categories}
        truth = {True: ("1", "True", "true"), False: ("0", "False", "false")}

        def category(value: Any) -> Any:
            if pandas.isna(value):
                return None
            texts = truth[bool(value)] if series.dtype != object else (label(value),)
            return next((known[text] for text in texts if text in known), value)

        found = [category(value) for value in series]
        new = [value for value in dict.fromkeys(found) if value is not None and value not in dtype.categories]
        categories = [*dtype.categories, *new]
        return pandas.Series(pandas.Categorical(found, categories=categories, ordered=dtype.ordered), series.index)
    missing = bool(series.isna().any())
    if missing and series.dtype != object and dtype in (np.dtype(bool), np.dtype(object)):
        return series.astype("boolean")
    # A missing cell would become something else.
    if missing and isinstance(dtype, np.dtype) and dtype.kind not in "fO":
        return series
    with contextlib.suppress(TypeError, ValueError):
        return series.astype(dtype)
    return series
