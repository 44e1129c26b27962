"""From what people have, arrays and frames of any library, to cells of Boolean variables, and back in kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._columns import Column, Columns
from .errors import RecordsError

#: The types that the compiled half reads as they are, without a copy.
READ_AS_IS = {np.dtype(t) for t in (np.bool_, np.uint8, np.int8, np.int32, np.int64, np.float32, np.float64)}

#: A column of texts or whole numbers with more distinct values than this is more likely an identifier.
MOST_CATEGORIES = 50


@dataclass
class Table:
    """Data as it came: a matrix, or columns by name."""

    kind: str  # "array", "pandas", "polars" or "arrow"
    rows: int
    names: list[str] | None
    matrix: np.ndarray | None = None
    columns: list[np.ndarray] | None = None
    categories: dict[str, list[Any]] | None = None
    index: Any = None

    @property
    def width(self) -> int:
        return self.matrix.shape[1] if self.matrix is not None else len(self.columns or [])


def is_sparse(data: Any) -> bool:
    """Whether data is a sparse matrix of SciPy, of which one kind is also a dict."""
    return hasattr(data, "toarray") and hasattr(data, "format")


def is_frame(data: Any) -> bool:
    """Whether data has columns with names."""
    named = hasattr(data, "columns") or hasattr(data, "__arrow_c_stream__") or isinstance(data, Mapping)
    return named and not is_sparse(data)


def read(data: Any) -> Table:
    """Whatever people have as a table; no copy where the layout allows that."""
    if isinstance(data, Table):
        return data
    module = type(data).__module__.partition(".")[0]
    if module == "pandas" and hasattr(data, "columns"):
        return _read_pandas(data)
    if module == "polars" and hasattr(data, "columns"):
        return _read_polars(data)
    if hasattr(data, "__arrow_c_stream__"):
        return _read_arrow(data)
    if isinstance(data, Mapping) and not is_sparse(data):
        return _by_column("array", {str(name): np.asarray(values) for name, values in data.items()}, {})
    matrix = data.toarray() if is_sparse(data) else np.asarray(data)
    if matrix.ndim != 2:
        raise RecordsError(
            f"Expected 2D array, got {matrix.ndim}D array instead: records need a row each and a column per variable. "
            "Reshape your data: array.reshape(1, -1) makes one record, array.reshape(-1, 1) one column"
        )
    if matrix.dtype not in READ_AS_IS:
        matrix = _plain(matrix)
    return Table("array", matrix.shape[0], None, matrix=matrix)


def _plain(matrix: np.ndarray) -> np.ndarray:
    """An array of another type as one of those that are read."""
    if np.iscomplexobj(matrix):
        raise RecordsError("Complex data not supported: cells must be 0, 1 or missing")
    if matrix.dtype.kind in "iu":
        return matrix.astype(np.int64)
    try:
        return matrix.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise RecordsError(
            f"an array of type {matrix.dtype} cannot be read ({error}; argument must be a string or a number): give "
            "bool, int or float with NaN for missing, or a frame for categorical columns"
        ) from None


def _read_pandas(frame: Any) -> Table:
    names = [str(name) for name in frame.columns]
    if all(dtype in READ_AS_IS for dtype in frame.dtypes) and len(set(frame.dtypes)) == 1:
        return Table("pandas", len(frame), names, matrix=frame.to_numpy(), index=frame.index)
    columns, categories = {}, {}
    for name, (_, series) in zip(names, frame.items(), strict=True):
        if hasattr(series.dtype, "categories"):
            categories[name] = list(series.dtype.categories)
        missing = series.isna().to_numpy(dtype=bool)
        plain = series.dtype in READ_AS_IS if isinstance(series.dtype, np.dtype) else False
        values = series.to_numpy() if plain else series.astype(object).to_numpy(dtype=object, copy=True)
        if not plain:
            values[missing] = None
        columns[name] = values
    table = _by_column("pandas", columns, categories, names=names)
    table.rows, table.index = len(frame), frame.index
    return table


def _read_polars(frame: Any) -> Table:
    categories = {}
    columns = {}
    for name in frame.columns:
        series = frame[name]
        if type(series.dtype).__name__ == "Enum" or str(series.dtype).startswith("Enum"):
            categories[name] = series.dtype.categories.to_list()
        numeric = series.dtype.is_numeric() or str(series.dtype) == "Boolean"
        if numeric and series.null_count() == 0:
            columns[name] = series.to_numpy()
        else:
            columns[name] = np.array(series.to_list(), dtype=object)
    table = _by_column("polars", columns, categories)
    table.rows = frame.height
    return table


def _read_arrow(data: Any) -> Table:
    try:
        import pyarrow
    except ImportError:
        raise RecordsError("Arrow data needs pyarrow to be read: pip install pyarrow") from None
    arrow = pyarrow.table(data)
    categories, columns = {}, {}
    for name, column in zip(arrow.column_names, arrow.columns, strict=True):
        if pyarrow.types.is_dictionary(column.type):
            categories[name] = column.combine_chunks().unify_dictionaries().dictionary.to_pylist() \
                if hasattr(column.combine_chunks(), "unify_dictionaries") else sorted(set(column.to_pylist()) - {None})
        plain = pyarrow.types.is_boolean(column.type) or pyarrow.types.is_floating(column.type) \
            or pyarrow.types.is_integer(column.type)
        values = column.to_numpy() if plain and column.null_count == 0 else np.array(column.to_pylist(), dtype=object)
        columns[name] = values
    table = _by_column("arrow", columns, categories)
    table.rows = arrow.num_rows
    return table


def _by_column(kind: str, columns: dict[str, np.ndarray], categories: dict[str, list[Any]],
               names: list[str] | None = None) -> Table:
    names = names if names is not None else list(columns)
    if len(columns) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise RecordsError(f'two columns are called "{twice}"; rename one of them')
    columns = {name: values.astype(object) if values.dtype.kind in "US" else values for name, values in columns.items()}
    rows = {len(values) for values in columns.values()}
    if len(rows) > 1:
        raise RecordsError(f"the columns have different lengths: {sorted(rows)}")
    return Table(kind, rows.pop() if rows else 0, names, columns=list(columns.values()), categories=categories)


def learn_columns(table: Table, names: Sequence[str] | None, binarize: float | None) -> Columns:
    """The columns of data that is seen for the first time."""
    if names is not None:
        names = [str(name) for name in names]
        if len(names) != table.width:
            raise RecordsError(f"there are {len(names)} names, but the data has {table.width} columns")
    found = names or table.names or [f"x{i + 1}" for i in range(table.width)]
    if table.columns is None:
        return Columns([Column(name) for name in found])
    known = dict(zip(found, (dict(table.categories or {}).get(name) for name in table.names or found), strict=True))
    return Columns([_learn_column(name, values, known[name], binarize)
                    for name, values in zip(found, table.columns, strict=True)])


def _learn_column(name: str, values: np.ndarray, categories: list[Any] | None, binarize: float | None) -> Column:
    if categories is None:
        if values.dtype != object:
            return Column(name)
        present = {_plain_value(value) for value in values if not _is_missing(value)}
        if all(_is_boolean(value) for value in present):
            return Column(name)
        if binarize is not None and all(isinstance(value, (int, float)) for value in present):
            return Column(name)
        try:
            categories = sorted(present)
        except TypeError:
            categories = sorted(present, key=lambda value: (type(value).__name__, str(value)))
    categories = [_plain_value(value) for value in categories]
    if categories and all(_is_boolean(value) for value in categories):
        return Column(name)
    if len(categories) > MOST_CATEGORIES:
        raise RecordsError(
            f'column "{name}" has {len(categories)} distinct values, more than {MOST_CATEGORIES}: leave it out, or '
            "put its values into fewer categories"
        )
    if not categories:
        raise RecordsError(f'column "{name}" has no values at all; leave it out')
    return Column(name, tuple(categories))


def encode(table: Table, columns: Columns, binarize: float | None) -> np.ndarray:
    """The cells over the variables of known columns, matched by name where the data has names."""
    if table.matrix is not None:
        matrix = table.matrix
        if table.names is not None and table.names != columns.names:
            matrix = matrix[:, [_place(table.names, name) for name in columns.names]]
            _check_width(table, columns)
        if matrix.shape[1] != len(columns.variables):
            raise RecordsError(f"X has {matrix.shape[1]} features, but {len(columns.variables)} variables are expected")
        return matrix if binarize is None else _cut(matrix, binarize)
    assert table.names is not None and table.columns is not None
    _check_width(table, columns)
    cells = np.empty((table.rows, len(columns.variables)), dtype=np.float64)
    for column, place in zip(columns, columns.places(), strict=True):
        values = table.columns[_place(table.names, column.name)]
        cells[:, place.start:place.stop] = _encode_column(column, values, binarize)
    return cells


def _check_width(table: Table, columns: Columns) -> None:
    extra = [name for name in table.names or [] if name not in columns.names]
    if extra:
        raise RecordsError(
            "The feature names should match those that were passed during fit.\n"
            f"Feature names unseen at fit time:\n- {extra[0]}"
        )


def _place(names: list[str], name: str) -> int:
    try:
        return names.index(name)
    except ValueError:
        raise RecordsError(
            "The feature names should match those that were passed during fit.\n"
            f"Feature names seen at fit time, yet now missing:\n- {name}"
        ) from None


def _encode_column(column: Column, values: np.ndarray, binarize: float | None) -> np.ndarray:
    if column.categories is not None:
        place = {category: i for i, category in enumerate(column.categories)}
        cells = np.zeros((len(values), len(column.categories)))
        for row, value in enumerate(values.tolist() if values.dtype != object else values):
            if _is_missing(value):
                cells[row] = np.nan
                continue
            i = place.get(_plain_value(value))
            if i is None:
                known = ", ".join(map(str, column.categories))
                raise RecordsError(f'row {row} of column "{column.name}" is {value!r}, which was not seen in fit; '
                                   f"known categories: {known}")
            cells[row, i] = 1.0
        return cells
    if values.dtype == object:
        numbers = np.empty(len(values))
        for row, value in enumerate(map(_plain_value, values)):
            if _is_missing(value):
                numbers[row] = np.nan
            elif _is_boolean(value) or (binarize is not None and isinstance(value, (int, float))):
                numbers[row] = float(value)
            else:
                raise RecordsError(f'row {row} of column "{column.name}" is {value!r}, but must be 0, 1 or missing')
        values = numbers
    cut = values if binarize is None else _cut(values, binarize)
    wrong = ~((cut == 0) | (cut == 1) | (cut != cut))
    if wrong.any():
        row = int(wrong.argmax())
        raise RecordsError(f'row {row} of column "{column.name}" is {cut[row]}, but must be 0, 1 or missing; binarize= '
                           "cuts numbers in two, and a column of texts or of a categorical type has categories")
    return cut.reshape(-1, 1)


def _cut(values: np.ndarray, binarize: float) -> np.ndarray:
    """Numbers as Booleans, by whether they are above a threshold; NaN stays missing."""
    if values.dtype.kind != "f":
        return values > binarize
    missing = np.isnan(values)
    above = values > binarize
    return np.where(missing, np.nan, above) if missing.any() else above


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType") or value != value


def _is_boolean(value: Any) -> bool:
    return isinstance(value, (bool, np.bool_)) or (isinstance(value, (int, float)) and value in (0, 1))


def _plain_value(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def in_kind(table: Table, columns: Mapping[str, np.ndarray]) -> Any:
    """Columns as what the data came as; an array for an array."""
    if table.kind == "pandas":
        import pandas

        return pandas.DataFrame(dict(columns), index=table.index)
    if table.kind == "polars":
        import polars

        return polars.DataFrame({name: values.tolist() if values.dtype == object else values
                                 for name, values in columns.items()})
    if table.kind == "arrow":
        import pyarrow

        return pyarrow.table({name: pyarrow.array(values.tolist() if values.dtype == object else values)
                              for name, values in columns.items()})
    return np.column_stack(list(columns.values()))
