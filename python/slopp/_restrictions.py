"""What is ruled out of what is learned: rules, closed and open columns, and records that break a rule."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ._arguments import names as some_names
from .errors import ArgumentError, LearnError, NamesError, RecordsError
from .knowledge import Rules
from .records import Records

#: What can become of records that break a rule.
VIOLATIONS = ("reject", "drop", "repair")

#: How many records that break rules are told, and how many rules of each.
TOLD_RECORDS, TOLD_RULES = 10, 5

#: Columns that are closed: the names of one group, or several groups.
Closed = str | Sequence[str] | Sequence[str | Sequence[str]] | None


def choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Refuses what is none of these words."""
    if value not in choices:
        raise LearnError(f'{name} is "{value}", but must be one of {", ".join(choices)}')


def closed_groups(closed: Closed, data: Records) -> list[tuple[str, list[str]]]:
    """Groups of columns that are closed, as they are told and by their variables: names alone are one group."""
    if closed is None or (not isinstance(closed, str) and isinstance(closed, Sequence) and len(closed) == 0):
        return []
    parts = [closed] if isinstance(closed, str) else list(closed) if isinstance(closed, Iterable) else [closed]
    groups = [columns_of("closed", group, data)
              for group in (parts if any(not isinstance(part, str) for part in parts) else [closed])]
    return [(",".join(group), data.columns.expanded(group)) for group in groups]


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


def check_world(options: Mapping[str, Any], closed: Any, open: Any, start: Any) -> None:
    """Refuses lists of columns that contradict each other, the world or what learning starts from."""
    if closed and options.get("world") == "closed":
        raise LearnError('closed= names columns in a world that is open, and world="closed" closes all of it; leave '
                         "one of them out; open= names the columns that stay open in a closed world")
    if open is None:
        return
    if options.get("world") == "open":
        raise LearnError('open= names columns in a world that is closed, and world="open" opens all of it; leave one '
                         "of them out; closed= names the columns that are closed in an open world")
    if start is not None:
        raise LearnError("start= gives a model, and what it makes impossible stays so, whatever open= says; leave one "
                         "of them out")
    if closed:
        raise LearnError("open= closes all columns but its own, and closed= none but its own; leave one of them out")


def rules_over(rules: Rules | str | Iterable[str] | None, data: Records) -> Rules | None:
    """Rules over the variables of the records, with those of categorical columns."""
    given: str | list[str]
    if isinstance(rules, (str, os.PathLike)):
        given = data.columns.quoted(os.fspath(rules))
    else:
        every = rules.formulas if isinstance(rules, Rules) else [] if rules is None else rules
        every = list(every) if isinstance(every, Iterable) else [every]
        if not all(isinstance(rule, str) for rule in every):
            raise ArgumentError(f"rules are {rules!r}, but must be Rules, a text with a formula per line, or a list")
        given = [data.columns.quoted(rule) for rule in every]
    formulas = Rules(given, data.names).formulas + data.columns.rules()
    return Rules(formulas, data.names) if formulas else None


def refuse_rules(rules: Any, closed: Any, open: Any) -> None:
    """A sum-product network gives columns one value by itself, and can obey nothing else."""
    given = rules.formulas if isinstance(rules, Rules) else rules
    for name, value in (("rules", given), ("closed", closed), ("open", open)):
        if value is not None and value != "" and value != [] and value != ():
            raise LearnError(f"{name}= needs a circuit on a vtree, and learnspn learns a sum-product network, which "
                             "cannot be conditioned on rules; choose another learner")


def obeying(data: Records, rules: Rules, on_violation: str) -> Records:
    """The records that obey the rules, or that were made to."""
    diagram = rules.compile()
    if diagram.model_count() == 0:
        conflict = rules.conflict() or rules.formulas
        raise LearnError("no world obeys the rules; these contradict each other:\n  " + "\n  ".join(conflict))
    allowed = diagram.psdd()
    possible = allowed.possible(data)
    if possible.all():
        return data
    if on_violation == "reject":
        broken = ((i, found) for i, found in enumerate(rules.broken_by(data)) if not possible[i])
        lines = [f"record {i} breaks {_in_words(found)}" for i, found in itertools.islice(broken, TOLD_RECORDS)]
        if (more := int((~possible).sum()) - len(lines)) > 0:
            lines.append(f"and {more} more")
        raise RecordsError(f"{int((~possible).sum())} of {len(data)} records break a rule\n  " + "\n  ".join(lines)
                           + '\non_violation="drop" leaves them out, "repair" changes as few cells as possible')
    left = data.where(possible)
    if on_violation == "drop":
        if len(left) == 0:
            raise RecordsError("every record breaks a rule, so dropping leaves none; look at the rules, or "
                               'on_violation="repair"')
        return left
    # Nearest worlds at the same distance are ranked by a fit to the records that need no repair.
    complete = left.where(~incomplete(left))
    fitted = allowed.fit(complete) if len(complete) else allowed
    return data._with(fitted.repair(Records._of(data._records)))


def _in_words(broken: list[str]) -> str:
    """The rules that a record breaks, the first few of many; none if only several together cannot hold."""
    more = len(broken) - TOLD_RULES
    words = broken[:TOLD_RULES] + ([f"and {more} more rule{'s' * (more > 1)}"] if more > 0 else [])
    return "; ".join(words) or "several rules together"


def incomplete(data: Records) -> Any:
    """Which records miss a cell."""
    return (data._records.cells(False) < 0).any(axis=1)
