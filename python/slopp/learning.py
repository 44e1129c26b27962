"""Learning: from records to a model."""

from __future__ import annotations

import re
import textwrap
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, overload

from . import _slopp
from ._align import aligned
from ._arguments import handle, limit, whole
from ._columns import Columns, quote
from ._encode import Bins
from ._restrictions import (
    VIOLATIONS,
    Closed,
    check_world,
    choice,
    closed_groups,
    columns_of,
    incomplete,
    obeying,
    refuse_rules,
    rules_over,
)
from ._show import Progress, Rows, Values, listening
from .circuit import Circuit, Deterministic, Psdd
from .errors import ArgumentError, LearnError
from .knowledge import Rules
from .mixture import Mixture
from .model import Model, Spn, wrap
from .records import Records
from .vtree import Vtree

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: The names of all learners.
LEARNERS: list[str] = list(_slopp.LEARNERS)

#: The same for type checkers.
LearnerName = Literal["slopp", "slopp-bag", "slopp-em", "slopp-tree", "slopp-kmeans", "factorised", "chow-liu",
                      "learnpsdd", "slopp+learnpsdd", "strudel", "strudel-em", "learnspn"]

#: What the options of learners mean; which learner has which, the compiled half knows.
OPTIONS: dict[str, str] = {
    "world": '"open", everything is possible, or "closed", only what the records show, relaxed; open unless given, '
             "closed for slopp-kmeans",
    "effort": '"fast", "balanced" or "best": how much slopp tries, or whether slopp-bag has 16, 32 or 64 models',
    "max_classes": "the largest number of classes of records, nodes of the circuit, of an inner vtree node; what "
                   "columns, rules or closed= rule out may divide them, and a warning says so",
    "max_elements": "the largest number of elements, of a mixture in each component; it also holds where columns, "
                    "rules or closed= come after, or a warning says so",
    "pseudocount": "the weight of the prior in records; 0 needs a closed world",
    "components": "how many models slopp-bag has, or components slopp-em and strudel-em, up to 4096; otherwise by "
                  "effort, or by validation",
    "whole": "whether the models of slopp-bag stay whole, and are not divided into components where that is better",
    "max_clusters": "the largest number of clusters of a sum",
    "min_records": "the smallest number of records that may be clustered",
    "split_penalty": "what a cluster must gain to be split off, in units of ½ ln N nats",
    "parameter_penalty": "the same for each parameter that the split doubles, in nats",
    "variant": 'which reading of the paper: "notebook", the code of its authors, or "algorithm2", its pseudo-code',
    "k": "the number of clusters, 3 unless given",
    "d": "the number of records from which a sub-database is clustered, 20 unless given",
    "penalty": "what an operation of LearnPSDD must gain for each element it adds, in nats",
    "depth": "how many levels of nodes an operation may copy",
    "steps": "the largest number of operations; of learnspn, of sub-databases that are cut",
    "scope": 'by which variables Strudel splits an element: "prime", which gives a PSDD, or "whole", which gives a '
             "deterministic circuit",
    "independence": "the G statistic above which two columns are dependent",
    "cluster_penalty": "what a cluster must gain for each column, in nats",
    "leaves": 'what stands where records are not parted further: "chow-liu" trees or "independent" columns',
}


class Settings(TypedDict, total=False):
    """What every learner takes, and some of them; `learn` tells what it is."""

    valid: Any
    vtree: Vtree | str | None
    start: Circuit | None
    rules: Rules | str | Iterable[str] | None
    closed: Closed
    open: Sequence[str] | str | None
    on_violation: Literal["reject", "drop", "repair"]
    missing: Literal["reject", "drop", "em"]
    seed: int
    progress: Progress
    bins: Bins
    categories: Sequence[str] | None
    max_values: int | None
    # Options of some learners.
    world: Literal["open", "closed"] | None
    effort: Literal["fast", "balanced", "best"] | None
    pseudocount: float | None
    max_classes: int | None
    max_elements: int | None
    components: int | None
    whole: bool | None
    max_clusters: int | None
    min_records: float | None
    split_penalty: float | None
    parameter_penalty: float | None
    variant: Literal["notebook", "algorithm2"] | None
    k: int | None
    d: int | None
    penalty: float | None
    depth: int | None
    steps: int | None
    scope: Literal["prime", "whole"] | None
    independence: float | None
    cluster_penalty: float | None
    leaves: Literal["chow-liu", "independent"] | None


@overload
def learn(records: Any, *, learner: Literal["slopp", "slopp-tree", "factorised", "chow-liu", "learnpsdd",
                                            "slopp+learnpsdd"] = "slopp", **settings: Unpack[Settings]) -> Psdd: ...


@overload
def learn(records: Any, *, learner: Literal["strudel"], **settings: Unpack[Settings]) -> Deterministic: ...


@overload
def learn(records: Any, *, learner: Literal["slopp-kmeans"], **settings: Unpack[Settings]) -> Circuit: ...


@overload
def learn(records: Any, *, learner: Literal["slopp-bag", "slopp-em", "strudel-em"],
          **settings: Unpack[Settings]) -> Mixture: ...


@overload
def learn(records: Any, *, learner: Literal["learnspn"], **settings: Unpack[Settings]) -> Spn: ...


@overload
def learn(records: Any, *, learner: str, **settings: Any) -> Model: ...


def learn(records: Any, *, learner: LearnerName | str = "slopp", valid: Any = None, vtree: Vtree | str | None = None,
          start: Circuit | None = None, rules: Rules | str | Iterable[str] | None = None,
          closed: Closed = None, open: Sequence[str] | str | None = None, on_violation: str = "reject",
          missing: str = "reject", seed: int = 0, progress: Progress = None, bins: Bins = None,
          categories: Sequence[str] | None = None, max_values: int | None = None, **options: Any) -> Any:
    """A model of records, certified wherever the learner promises a PSDD.

    What the model tells of worlds, as `sample` does, is of the kind of the records: a frame if they were one.

    Parameters
    ----------
    records : an array, a frame, a dict of columns, a list of dicts, or `Records`.
    learner : one of `LEARNERS`; its options are keywords, such as `world="closed"`, `effort="best"` or
        `max_elements=1000`; which ones it has, and what they mean, is below.
    valid : complete records to choose by; without them the learner holds some out.
    vtree : a `Vtree`, a text of columns or variables such as "((a,b),c)", or a method such as "chow-liu".
    start : the model that a learner refines: learnpsdd, strudel or strudel-em.
    rules : formulas that the base of the result implies; that a column has one value is one of them anyway.
    closed : columns that are closed in a world that is open: with `["a", "b"]`, what no record shows together in a and
        b is impossible; `[["a", "b"], ["c", "d"]]` closes two groups.
    open : columns that stay open while all others are closed: what no record shows elsewhere is impossible, as far as
        the structure tells it apart.
    on_violation : records that break a rule are told ("reject"), left out ("drop") or changed in as few cells as
        possible ("repair").
    missing : records with missing cells are told ("reject"), left out ("drop"), or left out of the structure and used
        for parameters ("em").
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
    limit("components", options.get("components"), 1)
    data = as_records(records, bins, categories, max_values) if start is None else _of_start(
        start, records, bins or categories or max_values is not None)
    valid = _valid(valid, data)
    if learner == "learnspn":
        refuse_rules(rules, closed, open)
    known = None if learner == "learnspn" else rules_over(rules, data)
    groups = closed_groups(closed, data)
    free = None if open is None else columns_of("open", open, data)
    check_world(options, groups, free, start)
    if free is not None:
        # What is learned in an open world is closed afterwards, but for these columns.
        options.pop("world", None)
        options.update({"world": "open"} if learner == "slopp-kmeans" else {})
    if known is not None:
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
        model, too_large = _slopp.learn(
            learner, complete._records, valid, _vtree(vtree, complete, seed), begin, whole("seed", seed), dict(options),
            None if known is None else known._rules, _slopp.Rules.seen(shown._records, groups) if groups else None,
            None if free is None else data.columns.expanded(free), callback)
    if too_large is not None:
        _tell_size(*too_large)
    _tell_classes(model.most_classes(), options.get("max_classes"))
    learned = wrap(model, data._table.like())
    if missing == "em" and data.has_missing:
        learned = learned.em(data, pseudocount=float(learned.origin.get("pseudocount", 1.0)), progress=progress)
    facts = {"closed": "; ".join(text for text, _ in groups)} if groups else {}
    if free is not None:
        facts |= {"world": "closed", "open": ",".join(free)}
    if vtree is not None:
        facts["vtree"] = vtree if isinstance(vtree, str) and "(" not in vtree else "text"
    return _with_origin(learned, data, known, facts)


def _described() -> str:
    """What learners have which options, and what these mean, for the documentation of `learn`."""
    def entry(name: str, text: str) -> str:
        return textwrap.fill(text, 116, initial_indent=f"    {name} : ", subsequent_indent=" " * 8)

    learners = [entry(learner, ", ".join(options)) for learner, options in _slopp.OPTIONS]
    options = [entry(name, meaning + ".") for name, meaning in OPTIONS.items()]
    return "\n".join(["Options of the learners", "    -----------------------", *learners, "",
                      "    What the options mean", "    ---------------------", *options])


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

    What is impossible for a teacher that is `Deterministic` is impossible for the student: its base implies that of the
    teacher, exactly; `free=True` lets it go. Of mixtures, sum-product networks and records it is not kept. Every column
    has one value either way, and `rules` are obeyed as by `learn`.
    """
    is_model = isinstance(teacher, Model)
    choice("on_violation", on_violation, VIOLATIONS)
    if is_model:
        data = teacher.records(train)
    else:
        if samples is not None:
            raise ArgumentError("samples is for a teacher that is a model; all records of others are used")
        data = as_records(train)
        teacher = aligned(teacher, data.names, data.columns)
    valid = _valid(valid, data)
    known = rules_over(rules, data)
    if known is not None:
        data = obeying(data, known, on_violation)
    count = limit("samples", samples, 1)
    with listening(progress) as callback:
        lessons = (teacher._model, count) if is_model else teacher._records
        most_elements = limit("max_elements", max_elements, 1)
        model, (drawn, strength, held_out), keeps_base = _slopp.distil(
            lessons, data._records, valid, limit("max_classes", max_classes, 1), most_elements,
            None if known is None else known._rules, bool(free), whole("seed", seed), callback)
    student: Psdd = wrap(model, data._table.like())
    _tell_classes(model.most_classes(), max_classes)
    elements = student.size["elements"]
    if most_elements is not None and elements > most_elements:
        _tell_size(elements, most_elements)
    facts = {"learner": "slopp", "world": "open", "teacher": type(teacher).__name__, "samples": f"{drawn:g}",
             "seed": str(seed), "records": f"{data.total:g}", "strength": f"{strength:g}", "held_out": f"{held_out:g}"}
    facts |= {"base": "of the teacher"} if keeps_base else {}
    return _with_origin(student, data, known, facts)  # type: ignore[no-any-return]


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
    """Merged SLoPP at several sizes: without a limit, then with half the elements, a quarter and so on.

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
    known, judge = rules_over(None, data), parts.get("valid")
    with listening(progress) as callback:
        found = _slopp.curve(
            data._records, None if judge is None else judge._records, _vtree(vtree, data, seed), whole("seed", seed),
            whole("points", points, 1), None if known is None else known._rules, callback)
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
    weights = records.record_weights()
    return float(model.log_likelihoods(records) @ weights / weights.sum())


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
        warnings.warn(f"a vtree node has {classes} nodes, more than max_classes={most}: what columns, rules, a base or "
                      "closed= rule out divides classes", stacklevel=3)


def _tell_size(elements: int, most: int) -> None:
    warnings.warn(f"{elements} elements are more than max_elements={most}: with what columns, rules, a base or closed= "
                  "rule out, nothing smaller was found", stacklevel=3)


def _vtree(vtree: Vtree | str | None, data: Records, seed: int) -> _slopp.Vtree | None:
    if vtree is None:
        return None
    if isinstance(vtree, str) and "(" in vtree:
        vtree = Vtree(_with_variables(vtree, data.columns), data.names)
    elif isinstance(vtree, str):
        vtree = Vtree.learn(data, vtree, seed=seed)
    if not isinstance(vtree, Vtree):
        raise ArgumentError(f'vtree is {vtree!r}, but must be a Vtree, a text such as "((a,b),c)", or a method')
    if vtree.names != data.names:
        vtree = Vtree(str(vtree), data.names)
    return vtree._vtree


def _with_variables(text: str, columns: Columns) -> str:
    """The text of a vtree with the variables of a categorical column, one after the other, in the place of its name."""
    variables = {column.name: column.variables for column in columns if column.categories is not None}

    def leaf(found: re.Match[str]) -> str:
        name = found[0].strip()
        name = name[1:-1].replace('""', '"') if name.startswith('"') else name
        last, *others = [quote(variable) for variable in reversed(variables.get(name, []))] or [found[0]]
        for other in others:
            last = f"({other},{last})"
        return last

    return re.sub(r'"(?:[^"]|"")*"|[^(),"]+', leaf, text)


def _with_origin(learned: Model, data: Records, rules: Rules | None, facts: Mapping[str, str]) -> Any:
    origin = {**learned.origin, **facts}
    if rules is not None:
        origin["rules"] = "; ".join(rules.formulas)
    if (labels := data.columns.to_json()) != "{}":
        origin["categories"] = labels
    return learned._same(learned._model.renamed(None, origin))
