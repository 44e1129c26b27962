"""Learning: from records to a model."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable
from typing import Any

from . import _slopp
from ._show import Progress, listening
from .circuit import Circuit
from .errors import LearnError, RecordsError
from .knowledge import Rules
from .model import Model, aligned, wrap
from .records import Records
from .vtree import Vtree

#: The names of all learners.
LEARNERS: list[str] = list(_slopp.LEARNERS)


def learn(records: Any, *, learner: str = "slopp", valid: Any = None, vtree: Vtree | str | None = None,
          start: Circuit | None = None, rules: Rules | str | Iterable[str] | None = None,
          on_violation: str = "reject", missing: str = "reject", seed: int = 0, progress: Progress = None,
          **options: Any) -> Any:
    """A model of records, certified wherever the learner promises a PSDD.

    `learner` is one of `LEARNERS`; its options are keywords, such as `world="closed"`, `effort="best"` or
    `max_elements=1000`. `vtree` is a `Vtree`, a text, or a method such as "chow-liu". With `rules`, and for categorical
    columns, the base of the result implies them; records that break one are told (`on_violation="reject"`), left out
    ("drop") or changed in as few cells as possible ("repair"). Records with missing cells are told
    (`missing="reject"`), left out ("drop"), or left out of the structure and used for parameters ("em").

    >>> from slopp import learn, configurations
    >>> learn(configurations(500), world="closed").certificate
    'psdd'
    """
    for name, value, choices in (("on_violation", on_violation, ("reject", "drop", "repair")),
                                 ("missing", missing, ("reject", "drop", "em"))):
        if value not in choices:
            raise LearnError(f'{name} is "{value}", but must be one of {", ".join(choices)}')
    data = records if isinstance(records, Records) else Records(records)
    valid = None if valid is None else aligned(valid, data.names, data.columns)._records
    known = _rules(rules, data)
    if known is not None:
        data = _obeying(data, known, on_violation)
    complete = data
    if data.has_missing and missing != "reject":
        complete = data.where(~_incomplete(data))
        if len(complete) == 0:
            raise LearnError("every record misses a cell, so no complete record is left to learn from; fill cells in, "
                             "or leave out columns that are often missing")
    with listening(progress) as callback:
        model = _slopp.learn(learner, complete._records, valid, _vtree(vtree, complete, seed),
                             None if start is None else start._model, seed, dict(options), callback)
    learned = wrap(model)
    pseudocount = float(learned.origin.get("pseudocount", 1.0))
    if known is not None:
        learned = _inside(learned, known, complete, pseudocount)
    if missing == "em" and data.has_missing:
        if not isinstance(learned, Circuit):
            raise LearnError(f"the learner {learner} makes no single circuit, so it cannot be fitted to records with "
                             'missing cells; missing="drop" leaves them out')
        learned = learned.em(data, pseudocount=pseudocount, progress=progress)
    return _with_origin(learned, data, known)


def _rules(rules: Rules | str | Iterable[str] | None, data: Records) -> Rules | None:
    """Rules over the variables of the records, with those of categorical columns."""
    if isinstance(rules, (str, os.PathLike)):
        given = [os.fspath(rules)]
    elif isinstance(rules, Rules):
        given = rules.formulas
    else:
        given = list(rules or [])
    formulas = data.columns.rules() + [data.columns.quoted(formula) for formula in given]
    return Rules(formulas, data.names) if formulas else None


def _obeying(data: Records, rules: Rules, on_violation: str) -> Records:
    """The records that obey the rules, or that were made to."""
    conflict = rules.conflict()
    if conflict is not None:
        raise LearnError("no world obeys the rules; these contradict each other:\n  " + "\n  ".join(conflict))
    allowed = rules.compile().psdd()
    possible = allowed.possible(data)
    if possible.all():
        return data
    if on_violation == "reject":
        broken = ((i, found) for i, found in enumerate(rules.broken_by(data)) if not possible[i])
        lines = [f"record {i} breaks {found[0] if found else 'several rules together'}"
                 for i, found in itertools.islice(broken, 10)]
        raise RecordsError(f"{int((~possible).sum())} of {len(data)} records break a rule\n  " + "\n  ".join(lines)
                           + '\non_violation="drop" leaves them out, "repair" changes as few cells as possible')
    obeying = data.where(possible)
    if len(obeying) == 0:
        raise RecordsError("every record breaks a rule, so dropping leaves none; look at the rules")
    if on_violation == "drop":
        return obeying
    # Nearest worlds at the same distance are ranked by a fit to the records that need no repair.
    complete = obeying.where(~_incomplete(obeying))
    fitted = allowed.fit(complete) if len(complete) else allowed
    return data._with(fitted.repair(Records._of(data._records)))


def _inside(learned: Model, rules: Rules, data: Records, pseudocount: float) -> Model:
    """What was learned, given the rules, and fitted again: given the rules, other parameters fit best."""
    if not isinstance(learned, Circuit):
        if not hasattr(learned, "given"):
            raise LearnError("a sum-product network cannot be conditioned on rules; learner=\"slopp\" makes a PSDD")
        return learned.given(_formula(rules))  # type: ignore[no-any-return]
    given = learned.given(_formula(rules))
    return given.fit(data, pseudocount=pseudocount) if hasattr(given, "fit") else given  # type: ignore[no-any-return]


def _formula(rules: Rules) -> str:
    return " & ".join(f"({formula})" for formula in rules.formulas)


def _vtree(vtree: Vtree | str | None, data: Records, seed: int) -> _slopp.Vtree | None:
    if vtree is None:
        return None
    if isinstance(vtree, str):
        vtree = Vtree(vtree, data.names) if "(" in vtree else Vtree.learn(data, vtree, seed=seed)
    if vtree.names != data.names:
        vtree = Vtree(str(vtree), data.names)
    return vtree._vtree


def _incomplete(data: Records) -> Any:
    return (data._records.cells(False) < 0).any(axis=1)


def _with_origin(learned: Model, data: Records, rules: Rules | None) -> Model:
    origin = dict(learned.origin)
    if rules is not None:
        origin["rules"] = "; ".join(rules.formulas)
    if not data.columns.is_plain:
        origin["categories"] = data.columns.to_json()
    return wrap(learned._model.renamed(None, origin))

