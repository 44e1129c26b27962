"""Learning: from records to a model."""

from __future__ import annotations

import math
import textwrap
import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from . import _slopp
from ._align import aligned
from ._arguments import handle, limit, whole
from ._encode import Bins
from ._learners import (
    DEFAULT,
    CircuitLearner,
    DeterministicLearner,
    LearnerName,
    MixtureLearner,
    Options,
    PsddLearner,
    SpnLearner,
)
from ._restrictions import (
    VIOLATIONS,
    Closed,
    choice,
    closed_groups,
    columns_of,
    incomplete,
    obeying,
    rules_over,
)
from ._show import Progress, Rows, Values, listening
from .circuit import Circuit, Deterministic, Psdd
from .errors import ArgumentError, LearnError
from .evaluation import conditional
from .knowledge import Rules
from .mixture import Mixture
from .model import Model, Spn, wrap
from .records import Records
from .vtree import Vtree

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: The worlds.
WorldName = Literal["open", "closed"]


def _meaning(option: _slopp._Option) -> str:
    """What an option means: the words it may be, and what it is unless given."""
    words = "; ".join(f'"{word}": {about}' for word, about in option["words"].items())
    return option["about"] + (f" ({words})" if words else "") + f"; {option['default']} unless given"


#: The learners, with what they make, take and can obey: the one table of the library.
TABLE: dict[str, _slopp._Learner] = {entry["name"]: entry for entry in _slopp.LEARNERS}

#: The names of all learners.
LEARNERS: list[str] = list(TABLE)

#: What the options of learners mean, and what they are unless given.
OPTIONS: dict[str, str] = {option["name"]: _meaning(option) for option in _slopp.OPTIONS}


class Settings(Options, total=False):
    """What every learner takes, and some of them; `learn` describes them."""

    valid: Any
    vtree: Vtree | str | None
    start: Circuit | None
    rules: Rules | str | Iterable[str] | None
    world: WorldName | None
    closed: Closed
    open: Sequence[str] | str | None
    on_violation: Literal["reject", "drop", "repair"]
    missing: Literal["reject", "drop", "em"]
    seed: int
    progress: Progress
    bins: Bins
    categories: Sequence[str] | None
    max_values: int | None


@overload
def learn(records: Any, *, learner: PsddLearner = DEFAULT, **settings: Unpack[Settings]) -> Psdd: ...


@overload
def learn(records: Any, *, learner: DeterministicLearner, **settings: Unpack[Settings]) -> Deterministic: ...


@overload
def learn(records: Any, *, learner: CircuitLearner, **settings: Unpack[Settings]) -> Circuit: ...


@overload
def learn(records: Any, *, learner: MixtureLearner, **settings: Unpack[Settings]) -> Mixture: ...


@overload
def learn(records: Any, *, learner: SpnLearner, **settings: Unpack[Settings]) -> Spn: ...


@overload
def learn(records: Any, *, learner: str, **settings: Any) -> Model: ...


def learn(records: Any, *, learner: LearnerName | str = DEFAULT, valid: Any = None, vtree: Vtree | str | None = None,
          start: Circuit | None = None, rules: Rules | str | Iterable[str] | None = None,
          world: WorldName | None = None, closed: Closed = None, open: Sequence[str] | str | None = None,
          on_violation: str = "reject", missing: str = "reject", seed: int = 0, progress: Progress = None,
          bins: Bins = None, categories: Sequence[str] | None = None, max_values: int | None = None,
          **options: Any) -> Any:
    """A model of records, certified wherever the learner promises a PSDD.

    Worlds that the model returns, as `sample` does, are of the kind of the records: a frame if they were one.

    Parameters
    ----------
    records : an array, a frame, a dict of columns, a list of dicts, or `Records`.
    learner : one of `LEARNERS`; its options are keywords, such as `effort="best"` or `max_elements=1000`; which ones it
        has, and what they mean, is below.
    valid : complete records to choose by; without them the learner holds some out.
    vtree : a `Vtree`, a text of columns or variables such as "((a,b),c)", or a method such as "chow-liu".
    start : the model to refine, for learners that do.
    rules : formulas that the base of the result implies; that a column has one value is one of them anyway.
    world : "open", everything is possible, or "closed", only what the records show, relaxed; that of the learner unless
        given.
    closed : columns to close in an open world: with `["a", "b"]`, combinations of a and b that no record has become
        impossible; `[["a", "b"], ["c", "d"]]` closes two groups.
    open : columns that stay open in a closed world: in the others, combinations that no record has become impossible,
        as far as the structure can tell them apart.
    on_violation : records that break a rule are an error ("reject"), left out ("drop") or changed in as few cells as
        possible ("repair").
    missing : records with missing cells are an error ("reject"), left out ("drop"), or left out of the structure and
        used for parameters ("em").
    seed : the same records and seed give the same model.
    progress : `True` for a bar, or a function of stage, steps done and steps.
    bins, categories, max_values : how columns are read, as `Records` takes them; for what is not yet `Records`.

    >>> from slopp import learn, configurations
    >>> learn(configurations(500), world="closed").certificate
    'psdd'
    """
    choice("on_violation", on_violation, VIOLATIONS)
    choice("missing", missing, ("reject", "drop", "em"))
    if not isinstance(learner, str):
        raise ArgumentError(f"learner is {learner!r}, but must be one of {', '.join(LEARNERS)}")
    if learner not in TABLE:
        raise LearnError(f'there is no learner "{learner}"; the learners are {", ".join(LEARNERS)}')
    if world is not None:
        choice("world", world, ("open", "closed"))
    data = as_records(records, bins, categories, max_values) if start is None else _of_start(
        start, records, bins or categories or max_values is not None)
    valid = _valid(valid, data)
    entry = TABLE[learner]
    groups = closed_groups(closed, data)
    free = None if open is None else columns_of("open", open, data)
    known = rules_over(rules, data)
    chosen_world = _slopp.world_for(learner, world, bool(groups), free is not None, len(known) > 0, start is not None)
    if entry["obeys_rules"]:
        data = obeying(data, known, on_violation)
    complete = data
    if data.has_missing:
        missed = incomplete(data)
        if missing == "reject":
            raise LearnError(f"{int(missed.sum())} of {len(data)} records miss cells, and learners need complete "
                             'ones: missing="em" learns the structure from complete records and the parameters from '
                             'all, missing="drop" leaves them out')
        complete = data.where(~missed)
        if len(complete) == 0:
            raise LearnError("every record misses a cell, so no complete record is left to learn from; fill cells in, "
                             "or leave out columns that are often missing")
    with listening(progress) as callback:
        begin = None if start is None else handle("start", start)
        # Records with missing cells show every way to fill them in.
        shown = data if missing == "em" else complete
        support = _slopp.Support(
            shown._records, known._rules if len(known) else None, chosen_world, groups,
            None if free is None else data.columns.expanded(free))
        model, facts = _slopp.learn(
            learner, complete._records, valid, _vtree(vtree, complete), begin, whole("seed", seed), options, support,
            callback)
    if facts["exceeded"] is not None:
        _tell_size(facts["elements"], facts["exceeded"])
    if facts["much_smaller"] is not None:
        warnings.warn(f"{facts['elements']} elements, {facts['much_smaller']} before: columns, rules or closed groups "
                      "made the model large on this vtree; fewer columns in each of closed=, or max_elements=, make it "
                      "smaller", stacklevel=2)
    if facts["few_judges"] is not None:
        judges, enough = facts["few_judges"]
        warnings.warn(f'{judges:g} records to choose by are too few for effort="best", so this is what '
                      f'effort="balanced" makes; valid= with at least {enough:g} gives more', stacklevel=2)
    if facts["class_limit"] is not None:
        columns, most = facts["class_limit"]
        warnings.warn(f"after {columns} columns there are {most} classes or more, as many as a structure starts with; "
                      f"max_classes={2 * most} may fit the records better", stacklevel=2)
    _tell_classes(model.most_classes(), options.get("max_classes"))
    learned = wrap(model, data._table.like())
    if missing == "em" and data.has_missing:
        learned = learned.em(data, progress=progress)
    *_, worst = learned._model.fidelity(data._records, True)
    if worst is not None:
        value, given, probability, share, support = worst
        warnings.warn(f"{conditional(value, given)} is {probability:.4f} by the model, but {share:.4f} of {support:g} "
                      "records; more effort= or another learner= may come closer", stacklevel=2)
    return _with_labels(learned, data)


def _described() -> str:
    """What learners have which options, and what these mean, for the documentation of `learn`."""
    def entry(name: str, text: str) -> str:
        return textwrap.fill(text, 116, initial_indent=f"    {name} : ", subsequent_indent=" " * 8)

    learners = [entry(name, f"{known['about']}. Options: {', '.join(known['options'])}.")
                for name, known in TABLE.items()]
    options = [entry(name, meaning + ".") for name, meaning in OPTIONS.items()]
    return "\n".join(["The learners", "    ------------", *learners, "",
                      "    Their options", "    -------------", *options])


# Once, at the end: help() and notebooks show it, and nothing is written down twice.
learn.__doc__ = (learn.__doc__ or "").replace("    >>> from slopp import learn", f"    {_described()}\n\n"
                                              "    >>> from slopp import learn", 1)


def distil(teacher: Any, train: Any, *, valid: Any = None, samples: int | None = None, max_classes: int | None = None,
           max_elements: int | None = None, free: bool = False, rules: Rules | str | Iterable[str] | None = None,
           on_violation: str = "reject", seed: int = 0, progress: Progress = None) -> Psdd:
    """One certified PSDD from a teacher: a model of any kind, or records that were drawn from anything else.

    The structure is learned from the records of the teacher and the real ones together, and the parameters are fitted
    to the real ones with those as the prior, how strong a prior by the validation records. The student answers what the
    teacher may not: most probable worlds, entropy, rules.

    The student keeps the impossible worlds of a `Deterministic` teacher: its base implies that of the teacher, exactly.
    `free=True` lifts this. The base of mixtures, sum-product networks and records is not kept. Every column has one
    value either way, and `rules` are obeyed as by `learn`.
    """
    is_model = isinstance(teacher, Model)
    choice("on_violation", on_violation, VIOLATIONS)
    if is_model:
        data = teacher.records(train)
    else:
        if samples is not None:
            raise ArgumentError("samples= is for a teacher that is a model; of records, all are used")
        data = as_records(train)
        teacher = aligned(teacher, data.names, data.columns)
    valid = _valid(valid, data)
    known = rules_over(rules, data)
    data = obeying(data, known, on_violation)
    count = limit("samples", samples, 1)
    with listening(progress) as callback:
        lessons = (teacher._model, count) if is_model else teacher._records
        options = {"max_classes": max_classes, "max_elements": max_elements}
        support = _slopp.Support(data._records, known._rules if len(known) else None, "open", [], None)
        model = _slopp.distil(
            lessons, data._records, valid, options, support, bool(free), whole("seed", seed), callback)
    student: Psdd = wrap(model, data._table.like())
    _tell_classes(model.most_classes(), max_classes)
    elements = student.size["elements"]
    if max_elements is not None and elements > max_elements:
        _tell_size(elements, max_elements)
    return _with_labels(student, data)  # type: ignore[no-any-return]


class Curve(Rows[Values[Any]]):
    """Sizes with their log-likelihoods per record: a list of dicts that shows itself as a chart and a table."""

    def svg(self) -> str:
        """The chart."""
        parts = [name for name in ("train", "valid", "test") if self and name in self[0]]
        lines = [(part, [(int(size["elements"]), float(size[part])) for size in self]) for part in parts]
        return _slopp.chart_of_sizes(lines)

    def _repr_html_(self) -> str:
        return self.svg() + super()._repr_html_()


def curve(train: Any, *, valid: Any = None, test: Any = None, points: int = 8, vtree: Vtree | str | None = None,
          seed: int = 0, progress: Progress = None) -> Curve:
    """The default learner at several sizes: without a limit, then with half the elements, a quarter and so on.

    Choose the size that is worth its elements by the validation records, and learn it with
    `learn(train, max_elements=n)`. Without `valid`, a tenth of the records is held out by seed.
    """
    data = as_records(train)
    # Records with missing cells are refused below, where all of them are to be counted.
    if valid is None and not data.has_missing and (parted := data._held_out(whole("seed", seed))) is not None:
        data, valid = parted
    parts = {name: aligned(part, data.names, data.columns)
             for name, part in (("train", data), ("valid", valid), ("test", test)) if part is not None}
    if data.has_missing:
        missed = int(incomplete(data).sum())
        raise LearnError(f"{missed} of {len(data)} records miss cells, and learners need complete ones: leave those "
                         "out, or fill cells in")
    judge = parts.get("valid")
    with listening(progress) as callback:
        found = _slopp.curve(
            data._records, None if judge is None else judge._records, _vtree(vtree, data), whole("seed", seed),
            whole("points", points, 1), callback)
    sizes = Curve()
    for most, model in found:
        learned = wrap(model, data._table.like())
        scores = {name: _mean(learned, part) for name, part in parts.items()}
        sizes.append(Values(max_elements=most, elements=learned.size["elements"], **scores))
    exceeded = (size for size in sizes if size["max_elements"] is not None and size["elements"] > size["max_elements"])
    if (size := next(exceeded, None)) is not None:
        _tell_size(size["elements"], size["max_elements"])
    return sizes


def _mean(model: Model, records: Records) -> float:
    mean = model.eval(records)["log_likelihood_per_record"]
    return -math.inf if mean is None else float(mean)


def as_records(data: Any, bins: Bins = None, categories: Sequence[str] | None = None,
               max_values: int | None = None) -> Records:
    """Whatever people have as records; settings for columns are for data that is not yet records."""
    settings = bins or categories or max_values is not None
    if isinstance(data, Records) and not settings:
        return data
    return Records(data, bins=bins, categories=categories, max_values=max_values)


def _valid(valid: Any, data: Records) -> _slopp.Records | None:
    """Records to choose by, over the variables of those to learn from."""
    if valid is None:
        return None
    found = aligned(valid, data.names, data.columns)
    if len(found) == 0:
        raise LearnError("valid= has no records to choose by; give some, or leave it out and some are held out")
    if found.has_missing:
        raise LearnError(f"{int(incomplete(found).sum())} of {len(found)} records of valid= miss cells, and learners "
                         "choose by complete ones; fill cells in, or leave these records out")
    return found._records


def _of_start(start: Any, records: Any, settings: Any) -> Records:
    """Records over the variables of the model that is refined, matched by name: its structure is about those."""
    handle("start", start)
    if not isinstance(start, Circuit):
        raise ArgumentError(f"start is a {type(start).__name__}, but must be a single circuit")
    if settings:
        raise ArgumentError("start= brings its own columns; leave bins=, categories= and max_values= out")
    return start.records(records)


def _tell_classes(classes: int, most: int | None) -> None:
    if most is not None and classes > most:
        warnings.warn(f"a vtree node has {classes} nodes, more than max_classes={most}: columns, rules, a base or "
                      "closed= split classes further", stacklevel=3)


def _tell_size(elements: int, most: int) -> None:
    warnings.warn(f"{elements} elements are more than max_elements={most}: columns, rules, a base or closed= need "
                  "this many; no smaller model was found", stacklevel=3)


def _vtree(vtree: Vtree | str | None, data: Records) -> tuple[_slopp.Vtree, bool] | str | None:
    """A vtree and whether it was a text, or the name of a method."""
    if vtree is None:
        return None
    if isinstance(vtree, str) and "(" in vtree:
        return _slopp.Vtree.parse(vtree, data.names, data.columns.groups), True
    if isinstance(vtree, str):
        return vtree
    if not isinstance(vtree, Vtree):
        raise ArgumentError(f'vtree is {vtree!r}, but must be a Vtree, a text such as "((a,b),c)", or a method')
    same = vtree if vtree.names == data.names else Vtree(str(vtree), data.names)
    return same._vtree, False


def _with_labels(learned: Model, data: Records) -> Any:
    """A model that knows what categories were before they were texts, where they were no texts."""
    labels = data.columns.to_json()
    if labels == "{}":
        return learned
    return learned._same(learned._model.renamed(None, {**learned.origin, "categories": labels}))
