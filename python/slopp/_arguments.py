"""Arguments that are looked at before they go to the compiled half, whose own errors do not name them."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from ._labels import is_missing
from .errors import ArgumentError, NamesError

#: Numbers and truth values as answers have them.
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

#: The largest whole number that the compiled half takes.
MOST = 2**64 - 1


def whole(name: str, value: Any, least: int = 0) -> int:
    """A whole number, such as a count or a seed."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value >= least:
        if value <= MOST:
            return int(value)
        raise ArgumentError(f"{name} is {value!r}, but must be a whole number of at most {MOST}")
    raise ArgumentError(f"{name} is {value!r}, but must be a whole number of at least {least}")


def seeded(name: str, value: Any) -> int:
    """A seed; none is another one every time."""
    return int(np.random.SeedSequence().generate_state(1)[0]) if value is None else whole(name, value)


def number(name: str, value: Any) -> float:
    """A number, such as a pseudocount."""
    if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
        return float(value)
    raise ArgumentError(f"{name} is {value!r}, but must be a number")


def path(name: str, value: Any) -> str:
    """The path of a file."""
    if isinstance(value, (str, bytes, os.PathLike)):
        return os.fsdecode(value)
    raise ArgumentError(f"{name} is {value!r}, but must be the path of a file")


def handle(name: str, value: Any, what: str = "a circuit") -> Any:
    """The compiled half of a model."""
    found = getattr(value, "_model", None)
    if found is None:
        raise ArgumentError(f"{name} is {value!r}, but must be {what}")
    return found


def limit(name: str, value: Any, least: int = 0) -> int | None:
    """A whole number, or none."""
    return None if value is None else whole(name, value, least)


def names(name: str, value: Any) -> list[str]:
    """Names, of which one may stand for itself."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    found = list(value) if isinstance(value, Iterable) else [value]
    if all(isinstance(part, str) for part in found):
        return found
    raise ArgumentError(f"{name} is {value!r}, but must be names, such as [\"smoker\", \"cancer\"]")


def truth(name: str, value: Any) -> bool | None:
    """A Boolean value as people write it; None if it is missing."""
    if is_missing(value):
        return None
    known = {"0": False, "false": False, "no": False, "1": True, "true": True, "yes": True}
    if isinstance(value, str) and value.strip().lower() in known:
        return known[value.strip().lower()]
    if not isinstance(value, str) and value in (0, 1):
        return bool(value)
    raise NamesError(f'"{name}" is Boolean and cannot be {value!r}; give True, False, 0, 1, or None for missing')


def counted(count: int, noun: str) -> str:
    """A number with its noun: 1 variable, 2 variables."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def no_column(name: Any, known: list[str]) -> str:
    """That there is no such column, and what there is."""
    near = difflib.get_close_matches(name, known, 1) if isinstance(name, str) else []
    shown = ", ".join(known[:20]) + (", …" if len(known) > 20 else "")
    return f'there is no column "{name}"; ' + (f'did you mean "{near[0]}"?' if near else f"the columns are {shown}")
