"""Learning: from records to a model."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from . import _slopp
from ._arguments import handle, limit, whole
from ._arguments import names as some_names
from ._encode import Bins
from ._show import Progress, Rows, Values, listening
from .circuit import Circuit, Psdd
from .errors import ArgumentError, LearnError, NamesError, RecordsError
from .knowledge import Rules
from .model import Model, aligned, wrap
from .records import Records
from .vtree import Vtree

#: The names of all learners.
LEARNERS: list[str] = list(_slopp.LEARNERS)

#: Records drawn from a teacher for each real one; at least, and at most in all.
DRAWN = (10, 50_000, 600_000)


def learn(records: Any, *, learner: str = "slopp", valid: Any = None, vtree: Vtree | str | None = None,
          start: Circuit | None = None, rules: Rules | str | Iterable[str] | None = None,
          closed: Sequence[str | Sequence[str]] = (), on_violation: str = "reject", missing: str = "reject",
          seed: int = 0, progress: Progress = None, bins: Bins = None, categories: Sequence[str] | None = None,
          max_values: int | None = None, **options: Any) -> Any:
    """A model of records, certified wherever the learner promises a PSDD.

    `learner` is one of `LEARNERS`; its options are keywords, such as `world="closed"`, `effort="best"` or
    `max_elements=1000`. `vtree` is a `Vtree`, a text, or a method such as "chow-liu". With `rules`, and for categorical
    columns, the base of the result implies them; records that break one are told (`on_violation="reject"`), left out
    ("drop") or changed in as few cells as possible ("repair"). `closed=["a,b", "c,d"]` closes columns in a world that
    is open: what no record shows together in a and b is impossible, and so for c and d. Records with missing cells are
    told (`missing="reject"`), left out ("drop"), or left out of the structure and used for parameters ("em"). `bins`,
    `categories` and `max_values` are for records that are not yet `Records`, which take them.

    >>> from slopp import learn, configurations
    >>> learn(configurations(500), world="closed").certificate
    'psdd'
    """
    for name, value, choices in (("on_violation", on_violation, ("reject", "drop", "repair")),
                                 ("missing", missing, ("reject", "drop", "em"))):
        if value not in choices:
            raise LearnError(f'{name} is "{value}", but must be one of {", ".join(choices)}')
    data = as_records(records, bins, categories, max_values)
    valid = None if valid is None else aligned(valid, data.names, data.columns)._records
    if learner == "learnspn":
        _refuse_rules(rules, closed)
    known = None if learner == "learnspn" else _rules(rules, data)
    if closed and options.get("world") == "closed":
        raise LearnError('closed= names columns in a world that is open, and world="closed" closes all of it; leave '
                         "one of them out")
    groups = _groups(closed, data)
    if known is not None:
        data = _obeying(data, known, on_violation)
    complete = data
    if data.has_missing and missing != "reject":
        complete = data.where(~_incomplete(data))
        if len(complete) == 0:
            raise LearnError("every record misses a cell, so no complete record is left to learn from; fill cells in, "
                             "or leave out columns that are often missing")
    with listening(progress) as callback:
        begin = None if start is None else handle("start", start)
        model = _slopp.learn(learner, complete._records, valid, _vtree(vtree, complete, seed), begin,
                             whole("seed", seed), dict(options), callback)
        weight = _prior_weight(model.origin)
        if known is not None:
            model = model.inside(known._rules, complete._records, weight, callback)
        if groups:
            seen = _slopp.Rules.seen(data._records, groups)
            model = model.inside(seen, complete._records, weight, callback)
    learned = wrap(model)
    if missing == "em" and data.has_missing:
        learned = learned.em(data, pseudocount=float(learned.origin.get("pseudocount", 1.0)), progress=progress)
    facts = {"closed": "; ".join(text for text, _ in groups)} if groups else {}
    if vtree is not None:
        facts["vtree"] = vtree if isinstance(vtree, str) and "(" not in vtree else "text"
    return _with_origin(learned, data, known, facts)


def distil(teacher: Any, train: Any, *, valid: Any = None, samples: int | None = None, max_classes: int | None = None,
           max_elements: int | None = None, seed: int = 0, progress: Progress = None) -> Psdd:
    """One certified PSDD from a teacher: a model of any kind, or records that were drawn from anything else.

    The structure is learned from the records of the teacher and the real ones together, and the parameters are fitted
    to the real ones with those as the prior, how strong a prior by the validation records. The student answers what the
    teacher may not: most probable worlds, entropy, rules.
    """
    is_model = isinstance(teacher, Model)
    if is_model:
        data = teacher.records(train)
    else:
        if samples is not None:
            raise ArgumentError("samples is for a teacher that is a model; all records of others are used")
        data = as_records(train)
        teacher = aligned(teacher, data.names, data.columns)
    valid = None if valid is None else aligned(valid, data.names, data.columns)._records
    each, least, most = DRAWN
    count = int(min(max(each * data.total, least), most)) if samples is None else whole("samples", samples, 1)
    with listening(progress) as callback:
        lessons = (teacher._model, count) if is_model else teacher._records
        model, drawn, strength, held_out = _slopp.distil(
            lessons, data._records, valid, limit("max_classes", max_classes, 1), limit("max_elements", max_elements, 1),
            whole("seed", seed), callback)
    student = wrap(model)
    known = _rules(None, data)
    if known is not None:
        student = student.given(_formula(known))
    facts = {"learner": "slopp", "world": "open", "teacher": type(teacher).__name__, "samples": f"{drawn:g}",
             "seed": str(seed), "records": f"{data.total:g}", "strength": f"{strength:g}", "held_out": f"{held_out:g}"}
    return _with_origin(student, data, None, facts)  # type: ignore[return-value]


class Curve(Rows):
    """Sizes with their log-likelihoods per record: a list of dicts that shows itself as a chart and a table."""

    def svg(self) -> str:
        """The chart."""
        parts = [name for name in ("train", "valid", "test") if self and name in self[0]]
        lines = [(part, [(float(size["elements"]), float(size[part]), f"{size['elements']} elements") for size in self])
                 for part in parts]
        return _slopp.chart("Log-likelihood against size", "elements", "log-likelihood per record", lines)

    def _repr_html_(self) -> str:
        return self.svg() + super()._repr_html_()


def curve(train: Any, *, valid: Any = None, test: Any = None, points: int = 8, vtree: Vtree | str | None = None,
          seed: int = 0, progress: Progress = None) -> Curve:
    """Merged SLoPP at several sizes: without a limit, then with half the elements, a quarter and so on.

    Choose the size that is worth its elements, and learn it with `learn(train, max_elements=n)`.
    """
    data = as_records(train)
    parts = {name: aligned(part, data.names, data.columns)
             for name, part in (("train", data), ("valid", valid), ("test", test)) if part is not None}
    least = len(data.names) - 1
    sizes, most = Curve(), None
    with listening(progress) as callback:
        for done in range(whole("points", points, 1)):
            if callback is not None:
                callback("learning at several sizes", done, points)
            model = learn(data, valid=parts.get("valid"), vtree=vtree, seed=seed, max_elements=most)
            elements = model.size["elements"]
            if sizes and elements >= sizes[-1]["elements"]:
                break
            scores = {name: _mean(model, part) for name, part in parts.items()}
            sizes.append(Values(max_elements=most, elements=elements, **scores))
            if elements <= least:
                break
            most = max(elements // 2, least)
    return sizes


def _mean(model: Model, records: Records) -> float:
    weights = records.record_weights()
    return float(model.log_likelihoods(records) @ weights / weights.sum())


def as_records(data: Any, bins: Bins = None, categories: Sequence[str] | None = None,
               max_values: int | None = None) -> Records:
    """Whatever people have as records; settings for columns are for data that is not yet records."""
    if not isinstance(data, Records):
        return Records(data, bins=bins, categories=categories, max_values=max_values)
    if bins or categories or max_values is not None:
        raise ArgumentError("these are Records already, so bins=, categories= and max_values= come too late; give them "
                            "to Records(...) or Records.read(...)")
    return data


def _groups(closed: Sequence[str | Sequence[str]], data: Records) -> list[tuple[str, list[str]]]:
    """Groups of columns that are closed, as they are told and by their variables."""
    if isinstance(closed, str):
        closed = [closed]
    groups = []
    for group in closed or ():
        columns = some_names("closed", group)
        variables = data.columns.expanded(columns)
        for name in variables:
            if name not in data.names:
                raise NamesError(f'closed= names "{name}", but there is no such column; the columns are '
                                 + ", ".join(data.columns.names))
        groups.append((",".join(columns), variables))
    return groups


def _prior_weight(origin: Mapping[str, str]) -> float:
    """How many records what was learned weighs where it is fitted again: what a learner chose for that, if it did."""
    return float(origin.get("strength", origin.get("pseudocount", 1.0)))


def _rules(rules: Rules | str | Iterable[str] | None, data: Records) -> Rules | None:
    """Rules over the variables of the records, with those of categorical columns."""
    if isinstance(rules, (str, os.PathLike)):
        given = [os.fspath(rules)]
    elif isinstance(rules, Rules):
        given = rules.formulas
    else:
        given = [] if rules is None else list(rules) if isinstance(rules, Iterable) else [rules]
        if not all(isinstance(rule, str) for rule in given):
            raise ArgumentError(f"rules are {rules!r}, but must be Rules, a text with a formula per line, or a list")
    formulas = data.columns.rules() + [data.columns.quoted(formula) for formula in given]
    return Rules(formulas, data.names) if formulas else None


def _refuse_rules(rules: Any, closed: Any) -> None:
    """A sum-product network gives columns one value by itself, and can obey nothing else."""
    given = rules.formulas if isinstance(rules, Rules) else rules
    for name, value in (("rules", given), ("closed", closed)):
        if value is not None and value != "" and value != [] and value != ():
            raise LearnError(f"{name}= needs a circuit on a vtree, and learnspn learns a sum-product network, which "
                             "cannot be conditioned on rules; choose another learner")


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


def _formula(rules: Rules) -> str:
    return " & ".join(f"({formula})" for formula in rules.formulas)


def _vtree(vtree: Vtree | str | None, data: Records, seed: int) -> _slopp.Vtree | None:
    if vtree is None:
        return None
    if isinstance(vtree, str):
        vtree = Vtree(vtree, data.names) if "(" in vtree else Vtree.learn(data, vtree, seed=seed)
    if not isinstance(vtree, Vtree):
        raise ArgumentError(f'vtree is {vtree!r}, but must be a Vtree, a text such as "((a,b),c)", or a method')
    if vtree.names != data.names:
        vtree = Vtree(str(vtree), data.names)
    return vtree._vtree


def _incomplete(data: Records) -> Any:
    return (data._records.cells(False) < 0).any(axis=1)


def _with_origin(learned: Model, data: Records, rules: Rules | None, facts: Mapping[str, str]) -> Model:
    origin = {**learned.origin, **facts}
    if rules is not None:
        origin["rules"] = "; ".join(rules.formulas)
    if (labels := data.columns.to_json()) != "{}":
        origin["categories"] = labels
    return wrap(learned._model.renamed(None, origin))
