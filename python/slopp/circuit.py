"""Circuits on vtrees: mere ones, deterministic ones, and PSDDs."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from . import _slopp
from ._arguments import Floats, handle, whole
from ._arguments import limit as a_limit
from ._arguments import names as some_names
from ._arguments import path as a_path
from ._columns import Columns
from ._show import DRAWABLE, Rows, Values, World, number
from .errors import ArgumentError, CertificateError, QueryError
from .knowledge import Rules, Sdd, drawn
from .model import KINDS, Given, Model, not_both, or_missing, wrap
from .records import Path
from .structured import Structured
from .vtree import Vtree

if TYPE_CHECKING:
    from typing_extensions import Self


#: More worlds than this are not listed, whatever the limit.
MOST_WORLDS = 10_000_000


class Circuit(Structured):
    """A smooth, structured-decomposable circuit, of which nothing more is proved."""

    @property
    def vtree(self) -> Vtree:
        """The vtree."""
        return Vtree._of(self._model.vtree)

    def product(self, other: Circuit) -> tuple[Self, float]:
        """The circuit of the normalised product of two distributions, and the logarithm of its total.

        Both need the same variables and one vtree.
        """
        model, log = self._model.product(handle("other", other))
        return self._same(model), log

    def marginal(self, of: Sequence[str], *, given: Given = None) -> Circuit:
        """The circuit over some of the variables or columns, the others summed out."""
        model, event, _ = self._under(given)
        kept, variables = some_names("of", of), self._variables("of", of)
        columns = Columns([column for column in self.columns if column.name in kept])
        marginal = model._model.marginal(variables, columns.groups, event)
        labels = columns.to_json()
        return self._same(marginal.renamed(None, {} if labels == "{}" else {"categories": labels}))

    def information(self, between: Sequence[str], and_: Sequence[str], *, given: Given = None) -> Values[float]:
        """Mutual information of two sets of variables or columns, and their entropies, in nats."""
        event = self._event(given)
        model = self._model if event.is_empty else self._conditioned(event)[0]._model
        first, second = self._variables("between", between), self._variables("and_", and_)
        return Values(
            mutual_information=model.mutual_information(first, second),
            entropy_first=model.entropy_of(first),
            entropy_second=model.entropy_of(second),
            entropy_first_given_second=model.conditional_entropy(first, second),
            entropy_second_given_first=model.conditional_entropy(second, first),
        )

    def entropy_of(self, of: Sequence[str]) -> float:
        """The entropy of some variables or columns, in nats."""
        return self._model.entropy_of(self._variables("of", of))

    def marginal_map(self, of: Sequence[str], *, given: Given = None, budget: int = 10_000) -> MarginalMap:
        """The most probable values of some variables or columns, others summed out; exact within a budget of steps.

        `probability` is that of the values and of what is given together, `probability_given` that of the values given
        it.
        """
        model, event, log = self._under(given)
        variables = self._variables("of", of)
        values, lower, upper, steps = model._model.marginal_map(variables, event, whole("budget", budget))
        log_given = log + model._log_evidence(event)
        found = MarginalMap(self._by_name(zip(variables, values, strict=True), of), lower + log, log_given)
        found.log_upper, found.steps = upper + log, steps
        return found

    def rules(self, records: Any = None, *, max_length: int = 3, steps: int = 200_000,
              max_clauses: int = 1000) -> FoundRules:
        """The base as rules that people read, and how much of it they say; with records, how many had occasion to break
        each."""
        records = None if records is None else self.records(records)._records
        found, complete_to, minimal, said = self._model.rules(
            records, whole("max_length", max_length, 2), whole("steps", steps), whole("max_clauses", max_clauses))
        names = ("kind", "rule", "literals", "support", "excluded")
        rules = FoundRules(Values(zip(names, rule, strict=True)) for rule in found)
        rules.complete_to, rules.is_minimal, rules.names = complete_to, minimal, self.names
        rules.model_count, rules.allowed = said or (None, None)
        return rules

    def base(self) -> Sdd:
        """What is possible, as a diagram."""
        return Sdd._of(_slopp.Sdd.of_base(self._model))

    def certified(self) -> Psdd:
        """Itself, if it is proved a PSDD; else the error says why not."""
        if isinstance(self, Psdd):
            return self
        raise CertificateError(f"not a PSDD: {self.reason}")

    def renormalised(self) -> Circuit:
        """The circuit with the parameters of every sum divided by their total."""
        return self._same(self._model.renormalised())

    def svg(self, limit: int = 300) -> str:
        """A picture: in full up to `limit` nodes and elements; above, the vtree with the sizes at its nodes."""
        return self._model.svg(whole("limit", limit))

    def dot(self, limit: int = 300) -> str:
        """For Graphviz."""
        return self._model.dot(whole("limit", limit))

    def _variables(self, argument: str, names: Any) -> list[str]:
        return self.columns.expanded(some_names(argument, names))

    def _by_name(self, literals: Iterable[tuple[str, bool]], asked: Any) -> dict[str, Any]:
        """Literals by the names that were asked for."""
        found = list(literals)
        by_name = {**dict(found), **self.columns.by_name(found)}
        return {name: by_name[name] for name in some_names("of", asked)}

    def _drawing(self) -> str:
        """The picture of its card."""
        return drawn(self, DRAWABLE)


class Deterministic(Circuit):
    """A circuit whose elements are proved exclusive: every world has at most one derivation."""

    @overload
    def mpe(self, records: None = None, *, given: Given = None) -> World: ...

    @overload
    def mpe(self, records: np.ndarray, *, given: Given = None) -> tuple[np.ndarray, Floats]: ...

    @overload
    def mpe(self, records: Any, *, given: Given = None) -> tuple[Any, Floats]: ...

    def mpe(self, records: Any = None, *, given: Given = None) -> World | tuple[Any, Floats]:
        """The most probable world; with records, the most probable completion of each and its log-probability.

        The world has its `probability` and, given what is given, its `probability_given`. Where a record is impossible,
        its completion is NaN and the log-probability −∞.
        """
        if records is None:
            return self.top_worlds(1, given=given)[0]
        not_both(given)
        aligned_records = self.records(records)
        worlds, logs = self._model.mpe_batch(aligned_records._records)
        return self._in_kind(aligned_records, or_missing(worlds, logs > -math.inf)), logs

    @overload
    def top_worlds(self, k: int, records: None = None, *, given: Given = None) -> Rows[World]: ...

    @overload
    def top_worlds(self, k: int, records: Any, *, given: Given = None) -> list[Rows[World]]: ...

    def top_worlds(self, k: int, records: Any = None, *, given: Given = None) -> Rows[World] | list[Rows[World]]:
        """The `k` most probable worlds; with records, a list of them for each.

        Each has its `probability` and, given what is given or the known cells of a record, its `probability_given`.
        """
        if records is None:
            model, event, log = self._under(given)
            ranked = model._model.top_worlds(event, whole("k", k, 1))
            return self._ranked(ranked, log, log + model._log_evidence(event))
        not_both(given)
        known = self.records(records)._records
        found = self._model.top_worlds_batch(known, whole("k", k, 1))
        logs = self._model.log_likelihoods(known)
        return [self._ranked(ranked, 0.0, log) for ranked, log in zip(found, logs, strict=True)]

    def worlds(self, *, given: Given = None, limit: int | None = 1000) -> Any:
        """The possible worlds, each once, in the order of the circuit, as what `sample` gives.

        At most `limit` of them, and a warning if there are more; None lists all, if these are not too many.
        """
        model, event, _ = self._under(given)
        most = MOST_WORLDS if limit is None else whole("limit", limit)
        if most > MOST_WORLDS:
            raise ArgumentError(f"limit is {limit}, but at most {MOST_WORLDS} worlds are listed")
        found, complete = model._model.worlds(event, most)
        if not complete and limit is None:
            raise QueryError(f"more than {MOST_WORLDS} worlds are possible, too many to list; limit= lists some, "
                             "top_worlds the most probable ones, and model_count counts them")
        if not complete:
            warnings.warn(f"only the first {most} worlds are listed; limit=None lists all", stacklevel=2)
        return self._tabled(found)

    def model_count(self) -> int:
        """How many worlds are possible, exactly."""
        return self._model.model_count()

    def entropy(self) -> float:
        """The entropy, in nats."""
        return self._model.entropy()

    def kl_divergence(self, other: Deterministic) -> float:
        """The Kullback-Leibler divergence from another circuit over the same variables and vtree, in nats."""
        return self._model.kl_divergence(handle("other", other))

    def equals_closed_world(self, records: Any) -> bool:
        """Whether exactly these records are possible."""
        return self._model.equals_closed_world(self.records(records)._records)

    def explain(self, records: Any, *, k: int = 1, rules: Rules | Iterable[str] | None = None) -> Rows[Values[Any]]:
        """Why records are impossible: the rule they break, and what to change; only of those.

        The cells of `conflict` cannot hold together, and none of them is superfluous. The distance is the number of
        columns that change; a categorical one counts once. With `rules`, also which of them are broken.
        """
        found: Rows[Values[Any]] = Rows()
        columns, aligned_records = self.columns, self.records(records)
        formulas = rules.formulas if isinstance(rules, Rules) else [rules] if isinstance(rules, str) else rules or []
        broken = Rules([columns.quoted(formula) for formula in formulas], self.names).broken_by(aligned_records)
        for i, explanation in enumerate(self._model.explain(aligned_records._records, whole("k", k, 1))):
            if explanation is None:
                continue
            conflict, rule, near = explanation
            worlds = Rows(World(self._world(world), log) for _, _, log, world in near)
            found.append(Values(record=i, rule=rule, conflict=columns.by_name(conflict), distance=near[0][1],
                                change=columns.by_name(near[0][0]), nearest=worlds))
            if rules is not None:
                found[-1]["broken"] = broken[i]
        return found

    def repair(self, records: Any) -> Any:
        """The records with as few cells changed as it takes to make each possible, in the most probable way."""
        aligned_records = self.records(records)
        cells = aligned_records.to_numpy().astype(np.float64)
        for i, explanation in enumerate(self._model.explain(aligned_records._records, 1)):
            if explanation:
                # What is missing stays missing.
                cells[i] = np.where(np.isnan(cells[i]), np.nan, explanation[2][0][3])
        complete = not np.isnan(cells).any()
        return self._in_kind(aligned_records, cells.astype(bool) if complete else cells)

    def _ranked(self, ranked: tuple[np.ndarray, np.ndarray], log: float, log_given: float) -> Rows[World]:
        return Rows(World(self._world(world), p + log, log_given) for world, p in zip(*ranked, strict=True))

    def _facts(self) -> dict[str, Any]:
        facts = super()._facts()
        return {**facts, "possible worlds": self.model_count(), "entropy (nats)": number(self.entropy())}


class Psdd(Deterministic):
    """A probabilistic sentential decision diagram: the primes of every sum are proved exclusive."""

    def revise(self, records: Any = None, *, formula: str | None = None, by_rule: str | None = None,
               weight: float | None = None, formula_weight: float = 1.0) -> Psdd:
        """Room for records, or for the worlds of a formula, or without the worlds that break a rule; nothing else."""
        if (records is not None) + (formula is not None) + (by_rule is not None) != 1:
            raise ArgumentError("revise by records, by a formula or by a rule: give one of them")
        if by_rule is not None and weight is not None:
            raise ArgumentError("weight= is for records or a formula: a rule removes worlds, whatever they weigh")
        text = formula if by_rule is None else by_rule
        known = None if records is None else self.records(records)._records
        return self._same(self._model.revise(known, None if text is None else self.columns.quoted(text),
                                             by_rule is not None, formula_weight, weight))


class MarginalMap(World):
    """Values of some variables, with a bound on how probable any others can be."""

    #: What `log_probability` of any values is at most.
    log_upper: float
    steps: int

    @property
    def is_exact(self) -> bool:
        """Whether the values are proved to be the most probable ones."""
        return self.log_upper == self.log_probability


class FoundRules(Rows[Values[Any]]):
    """The base of a circuit as rules."""

    #: All entailed clauses of at most this length follow from the rules.
    complete_to: int
    #: Whether it is proved that no rule follows from the others.
    is_minimal: bool
    #: The names of the variables.
    names: list[str]
    #: How many worlds are possible, and how many the rules allow; None where that takes too large a diagram.
    model_count: int | None
    allowed: int | None

    @property
    def whole_base(self) -> bool | None:
        """Whether the rules say all that is impossible; None where that was not found out."""
        return None if self.model_count is None else self.model_count == self.allowed

    def to_rules(self) -> Rules:
        """As rules that can be written to a file, compiled, or learned with."""
        return Rules([rule["rule"] for rule in self], self.names)

    def cnf(self) -> str:
        """As DIMACS clauses, with the names in a comment."""
        return self.to_rules().cnf()


KINDS.update(circuit=Circuit, unproved=Circuit, unnormalised=Circuit, deterministic=Deterministic, psdd=Psdd)


def read(path: Path, vtree: Path | None = None, *, renormalise: bool = False, max_nodes: int | None = None,
         max_memory: int | None = None) -> Model:
    """A model from a file: a .psdd of any tool, with its vtree if the file does not hold it, a .spn or a .mix file.

    Its class says what it is proved to be, such as `Psdd`, to people and type checkers alike. With
    `renormalise`, parameters of a sum that do not add up to one are divided by their total. The proof may take
    `max_nodes` nodes and `max_memory` megabytes; what is not proved within them is read as a `Circuit`.
    """
    model: Model = wrap(_slopp.Model.read(a_path("path", path), None if vtree is None else a_path("vtree", vtree),
                                          a_limit("max_nodes", max_nodes, 1), a_limit("max_memory", max_memory, 1)))
    if model._model.kind != "unnormalised":
        return model
    if not renormalise:
        raise CertificateError(f"the model is not a distribution: {model.reason}; renormalise=True divides parameters "
                               "by their total")
    return wrap(model._model.renormalised())  # type: ignore[no-any-return]


def example() -> Psdd:
    """The example of the SLoPP paper."""
    return wrap(_slopp.Model.example())  # type: ignore[no-any-return]
