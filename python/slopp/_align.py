"""Data matched by name to what asks for it: the columns of a model, or the variables of rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from . import _frames
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
    return _over(data, names, Columns.of_names(names))


def _learned(table: _frames.Table, names: Sequence[str]) -> Records:
    """The records of those columns of a table of which there are variables."""
    table = table.by_column()
    assert table.names is not None and table.columns is not None
    kept = [i for i, column in enumerate(table.names)
            if column in names or any(name.startswith(f"{column}=") for name in names)]
    of_categories = [table.names[i] for i in kept if table.names[i] not in names]
    few = replace(table, names=[table.names[i] for i in kept], columns=[table.columns[i] for i in kept])
    if not kept:
        raise RecordsError(f"the records have no column {', '.join(names)}; the columns are {', '.join(table.names)}")
    return Records(few, categories=of_categories)


def _over(data: Records, names: list[str], columns: Columns) -> Records:
    return Records._of(data._records.over(names, columns.groups), columns, data.record_weights())
