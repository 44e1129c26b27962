"""Categories: the texts by which the library knows them, and what they were before."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np

#: Whole numbers up to this are exact as floating ones.
EXACT = 2**53


def plain(value: Any) -> Any:
    """A value of NumPy as one of Python."""
    return value.item() if isinstance(value, np.generic) and value.dtype.kind not in "mM" else value


def label(value: Any) -> str:
    """The text of a category; `3.0` is `3`, as a column of whole numbers is written once a cell is missing."""
    value = plain(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < EXACT:
        return str(int(value))
    text = str(value).strip()
    whole = text.removesuffix(".0")
    return whole if whole.removeprefix("-").isascii() and whole.removeprefix("-").isdigit() else text


def is_missing(value: Any) -> bool:
    """Whether a cell is empty, in the way of any library."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating, np.datetime64, np.timedelta64)) and bool(value != value)


def is_boolean(value: Any) -> bool:
    """Whether a cell is a truth value, or a number that stands for one."""
    return isinstance(value, (bool, np.bool_)) or (isinstance(value, (int, float)) and value in (0, 1))


def to_json(value: Any) -> Any:
    """A category as JSON that `from_json` knows again; what it cannot know again is its text."""
    value = plain(value)
    if isinstance(value, (str, int, float)):
        return value
    if type(value).__name__ == "Interval":
        return {"interval": [to_json(value.left), to_json(value.right), value.closed]}
    if type(value).__name__ in ("Timestamp", "Timedelta", "Period"):
        return {type(value).__name__.lower(): str(value)}
    if isinstance(value, (datetime.datetime, datetime.date)):
        return {"datetime" if isinstance(value, datetime.datetime) else "date": value.isoformat()}
    return str(value)


def from_json(value: Any) -> Any:
    """What a category was. Kinds of pandas are texts where pandas is not installed, or the kind is not known."""
    if not isinstance(value, dict):
        return value
    (kind, text), = value.items()
    if kind in ("datetime", "date"):
        return getattr(datetime, kind).fromisoformat(text)
    try:
        import pandas
    except ImportError:
        return str(text)
    if kind == "interval":
        left, right, closed = text
        return pandas.Interval(from_json(left), from_json(right), closed)
    if kind in ("timestamp", "timedelta", "period"):
        return getattr(pandas, kind.capitalize())(text)
    return str(text)
