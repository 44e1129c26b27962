"""What is ruled out of what is learned: rules, closed and open columns, and records that break a rule."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from . import _slopp
from ._arguments import names as some_names
from .errors import ArgumentError, LearnError, NamesError, RecordsError
from .knowledge import Rules
from .records import Records

#: What can become of records that break a rule.
VIOLATIONS = ("reject", "drop", "repair")

#: How many records that break rules are listed, and how many rules of each.
TOLD_RECORDS, TOLD_RULES = 10, 5

#: Columns that are closed: the names of one group, or several groups.
Closed = str | Sequence[str] | Sequence[str | Sequence[str]] | None


def choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Refuses a value that is not one of these words."""
    if value not in choices:
        raise LearnError(f'{name} is "{value}", but must be one of {", ".join(choices)}')


def closed_groups(closed: Closed, data: Records) -> list[list[str]]:
    """Groups of columns that are closed, by their variables: names alone are one group."""
    if closed is None or (not isinstance(closed, str) and isinstance(closed, Sequence) and len(closed) == 0):
        return []
    parts = [closed] if isinstance(closed, str) else list(closed) if isinstance(closed, Iterable) else [closed]
    groups = [columns_of("closed", group, data)
              for group in (parts if any(not isinstance(part, str) for part in parts) else [closed])]
    return [data.columns.expanded(group) for group in groups]


def columns_of(argument: str, given: Any, data: Records) -> list[str]:
    """The columns or variables of a list of names."""
    columns = some_names(argument, given)
    if not columns:
        world = "open" if argument == "closed" else "closed"
        raise ArgumentError(f'{argument}= names no column; give names such as ["a", "b"], or world="{world}" alone')
    known = {*data.columns.names, *data.names}
    for name in columns:
        if name not in known:
            lists = '; several groups are a list of lists, such as [["a", "b"], ["c", "d"]]' if "," in name else ""
            raise NamesError(f'{argument}= names "{name}", but there is no such column; the columns are '
                             + ", ".join(data.columns.names) + lists)
    return columns


def rules_over(rules: Rules | str | Iterable[str] | None, data: Records) -> Rules:
    """Rules over the variables of the records; that columns have one value is not among them."""
    every = rules.formulas if isinstance(rules, Rules) else [] if rules is None else rules
    if isinstance(every, os.PathLike):
        every = os.fspath(every)
    if not isinstance(every, str):
        every = list(every) if isinstance(every, Iterable) else [every]
        if not all(isinstance(rule, str) for rule in every):
            raise ArgumentError(f"rules are {rules!r}, but must be Rules, a text with a formula per line, or a list")
    return Rules._over(every, data.columns)


def obeying(data: Records, rules: Rules, on_violation: str) -> Records:
    """The records that obey the rules, and have one value in every column, or that were made to."""
    changed, broken = _slopp.enforce(rules._rules, data._records, on_violation)
    if broken is not None:
        weight, total, violations = broken
        lines = [f"record {place} breaks {_in_words(found, together)}"
                 for place, found, together in violations[:TOLD_RECORDS]]
        if (more := len(violations) - len(lines)) > 0:
            lines.append(f"and {more} more")
        raise RecordsError(f"{weight:g} of {total:g} records break a rule\n  " + "\n  ".join(lines)
                           + '\non_violation="drop" leaves them out, "repair" changes as few cells as possible')
    return data if changed is None else Records._of(changed, data.columns, like=data._table.like())


def _in_words(broken: list[str], together: str) -> str:
    """The rules that a record breaks, the first few of many; what several say together if it breaks none by itself."""
    more = len(broken) - TOLD_RULES
    words = broken[:TOLD_RULES] + ([f"and {more} more rule{'s' * (more > 1)}"] if more > 0 else [])
    return "; ".join(words) or f"several rules together: {together}"


def incomplete(data: Records) -> Any:
    """Which records miss a cell."""
    return (data._records.cells(False) < 0).any(axis=1)
