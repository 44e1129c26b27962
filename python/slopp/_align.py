"""Data matched by name to what asks for it: the columns of a model, or the variables of rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from . import _frames, _slopp
from ._columns import Columns
from .errors import RecordsError
from .records import Records


def aligned(data: Any, names: list[str], columns: Columns | None = None) -> Records:
    """Data as records over these variables, matched by name where it has names."""
    columns = columns or Columns.of_names(names)
    if not isinstance(data, Records):
        return Records(data, columns=columns)
    if data.names == names:
        return data
    if sorted(data.names) != sorted(names):
        other = next((name for name in names if name not in data.names), None)
        what = f'"{other}" is missing' if other else f'"{next(n for n in data.names if n not in names)}" is too many'
        raise RecordsError(f"the records are over other variables than the model: {what}")
    return _over(data, names, columns)


def with_variables(data: Any, names: list[str]) -> Records:
    """Data as records over some of its variables, matched by name; an array has just these."""
    if not isinstance(data, Records):
        table = _frames.read(data)
        if table.names is None:
            return aligned(table, names)
        data = _learned(table, names)
    missing = [name for name in names if name not in data.names]
    # A category that no record has holds in none of them.
    of_column = {name: next((c for c in data.columns.names if name.startswith(f"{c}=")), None) for name in missing}
    if lacking := [name for name, column in of_column.items() if column is None]:
        raise RecordsError(f"the records have no column {', '.join(lacking)}, of which the rules speak; the columns "
                           f"are {', '.join(data.columns.names)}")
    if not missing:
        return _over(data, names, Columns.of_names(names))
    cells = data.to_numpy().astype(np.float64)
    places = dict(zip(data.columns.names, data.columns.places(), strict=True))
    absent = [np.where(np.isnan(cells[:, places[column or ""].start]), np.nan, 0.0) for column in of_column.values()]
    every = Records(np.column_stack([cells, *absent]), names=[*data.names, *missing], weights=data.record_weights())
    return _over(every, names, Columns.of_names(names))


def _learned(table: _frames.Table, names: Sequence[str]) -> Records:
    """The records of those columns of a table of which there are variables."""
    table = table.by_column()
    assert table.names is not None and table.columns is not None
    kept = [i for i, column in enumerate(table.names)
            if column in names or any(name.startswith(f"{column}=") for name in names)]
    of_categories = [table.names[i] for i in kept if table.names[i] not in names]
    few = replace(table, names=[table.names[i] for i in kept], columns=[table.columns[i] for i in kept])
    if not kept:
        raise RecordsError(f"the records have no column {', '.join(names)}, of which the rules speak; the columns are "
                           + ", ".join(table.names))
    return Records(few, categories=of_categories)


def _over(data: Records, names: list[str], columns: Columns) -> Records:
    cells = data.to_numpy()[:, [data.names.index(name) for name in names]]
    weights = data.record_weights()
    return Records._of(_slopp.Records.from_array(cells, names, weights, columns.groups), columns, weights)
