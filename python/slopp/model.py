"""Models, and what can be asked of them.

Validity is carried by types, as in the library: a `Psdd` is a `Deterministic` is a `Circuit` is a `Model`. A question
that needs determinism is a method of `Deterministic`; asked of less, it is a `KindError` that tells why.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import json

import numpy as np

from . import _columns, _slopp
from ._columns import Columns
from ._show import Progress, Rows, Values, World, listening, number, table
from .errors import ImpossibleError, KindError, NamesError, RecordsError
from .records import Path, Records
from .vtree import Vtree

#: What is known: literals such as "smoker, !cancer", a formula such as "smoker -> cancer", or names with values.
Given = str | Mapping[str, Any] | None


class Model:
    """A distribution over named Boolean variables, of any kind."""

    _model: _slopp.Model

    @property
    def names(self) -> list[str]:
        """The names of the variables."""
        return self._model.names

    @property
    def columns(self) -> Columns:
        """The columns: Boolean ones are one variable, categorical ones a variable per category."""
        return Columns.of_names(self.names, json.loads(self._model.origin.get("categories", "{}")))

    @property
    def origin(self) -> Values:
        """How the model was made."""
        return Values(self._model.origin)

    @property
    def certificate(self) -> str:
        """What is proved: psdd, deterministic, mixture, spn or none."""
        return {"circuit": "mixture", "unnormalised": "none"}.get(self._model.kind, self._model.kind)

    @property
    def reason(self) -> str | None:
        """Why the certificate is not stronger."""
        return self._model.reason

    @property
    def size(self) -> Values:
        """How large it is."""
        return Values(self._model.size())

    def write(self, path: Path) -> None:
        """Into a file: .psdd, or .mix or .spn for other kinds."""
        self._model.write(path)

    def renamed(self, names: Sequence[str]) -> Any:
        """The same model with other names."""
        return wrap(self._model.renamed(list(names)))

    def records(self, data: Any) -> Records:
        """Data as records over the variables of this model, matched by name where it has names."""
        return aligned(data, self.names, self.columns)

    # Questions that every kind answers.

    def log_likelihoods(self, records: Any) -> np.ndarray:
        """The log-likelihood of every record, missing cells summed out; −∞ if it is impossible."""
        return self._model.log_likelihoods(self.records(records)._records)

    def log_probability(self, event: Given, *, given: Given = None) -> float:
        """The log-probability of literals or of a formula, also given others."""
        event_, given_ = self._event(event), self._event(given)
        log_given = self._log_probability(given_)
        if log_given == -math.inf:
            raise ImpossibleError("what is given has probability zero, so nothing can be conditioned on it; drop a "
                                  "part of it, or ask for the nearest possible world")
        return min(self._log_probability(event_.both(given_)) - log_given, 0.0)

    def prob(self, event: Given = None, records: Any = None, *, given: Given = None) -> Any:
        """The probability of an event, also given another one.

        With `records`, one answer per record: the probability of the record or, if there is an event, of the event
        given the record, which is NaN where the record is impossible.
        """
        if records is None:
            return math.exp(self.log_probability(event, given=given))
        if given is not None:
            raise TypeError("give records or what is given, not both")
        aligned_records = self.records(records)._records
        if event is None:
            return np.exp(self._model.log_likelihoods(aligned_records))
        event_ = self._event(event)
        if not event_.is_formula:
            return self._model.conditional_batch(event_, aligned_records)
        rows = self._model.log_likelihoods(aligned_records)
        log_event = self._log_probability(event_)
        both = np.full_like(rows, -math.inf)
        if log_event > -math.inf:
            both = self._conditioned(event_)[0]._model.log_likelihoods(aligned_records) + log_event
        with np.errstate(invalid="ignore"):
            return np.exp(np.minimum(both - rows, 0.0), where=rows > -math.inf, out=np.full_like(rows, math.nan))

    def marginals(self, records: Any = None, *, given: Given = None) -> Any:
        """`P(variable = 1 | given)` by name; with records, a line for each, NaN where it is impossible."""
        if records is None:
            model, event, _ = self._under(given)
            return Values(zip(self.names, model._model.marginals(event).tolist(), strict=True))
        aligned_records = self.records(records)
        answers = self._model.marginals_batch(aligned_records._records)
        columns = {name: answers[:, i] for i, name in enumerate(self.names)}
        return answers if aligned_records._table.kind == "array" else _columns.in_kind(aligned_records._table, columns)

    def sample(self, count: int = 1, *, given: Given = None, seed: int = 0) -> Any:
        """Worlds drawn at random: a matrix, or a dict of columns if some are categorical."""
        model, event, _ = self._under(given)
        worlds = model._model.sample(count, event, seed)
        columns = self.columns
        return worlds if columns.is_plain else Values(columns.decode(worlds))

    # Parts of the above.

    def _event(self, given: Given) -> _slopp.Event:
        if given is None or isinstance(given, str):
            return self._model.event(given)
        columns = {column.name: column for column in self.columns}
        literals: list[tuple[str, bool]] = []
        for name, value in given.items():
            column = columns.get(name)
            if column is None or column.categories is None:
                literals.append((name, bool(value)))
                continue
            if value not in column.categories:
                known = ", ".join(map(str, column.categories))
                raise NamesError(f'column "{name}" has no category {value!r}; known categories: {known}')
            literals += [(f"{name}={category}", category == value) for category in column.categories]
        return self._model.event(literals)

    def _log_probability(self, event: _slopp.Event) -> float:
        if event.is_formula:
            raise KindError("a formula cannot be asked of a sum-product network, only literals can: it has no vtree; "
                            "learn a PSDD")
        return self._model.log_evidence(event)

    def _conditioned(self, event: _slopp.Event) -> tuple[Model, float]:
        raise KindError("a sum-product network cannot be conditioned on a formula: it has no vtree; learn a PSDD")

    def _under(self, given: Given) -> tuple[Model, _slopp.Event, float]:
        """The model and the literals that stand for what is given, and its log-probability where it is a formula."""
        event = self._event(given)
        if not event.is_formula:
            return self, event, 0.0
        model, log = self._conditioned(event)
        return model, self._event(None), log

    def _world(self, cells: Iterable[bool]) -> dict[str, Any]:
        decoded = self.columns.decode(np.array([list(cells)]))
        return {name: values.tolist()[0] for name, values in decoded.items()}

    def __getattr__(self, name: str) -> Any:
        if any(name in vars(kind) for kind in (Circuit, Deterministic, Psdd)):
            raise KindError(_refusal(self, name))
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self._model == other._model

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        return _unpickled, (self._model.to_bytes(),)

    def __repr__(self) -> str:
        facts = ", ".join(f"{count} {name}" for name, count in self.size.items() if name in ("elements", "parameters"))
        return f"{type(self).__name__}({len(self.names)} variables, {facts})"

    def _facts(self) -> dict[str, Any]:
        return {"variables": len(self.names), **self.size, "certificate": self.certificate, **self.origin}

    def _repr_html_(self) -> str:
        return f"<b>{type(self).__name__}</b>{table(self._facts().items())}"


class Spn(Model):
    """A sum-product network: no vtree, and its sums overlap."""


class OnVtrees(Model):
    """What circuits on vtrees and mixtures of them answer."""

    def pair_marginals(self, *, given: Given = None) -> np.ndarray:
        """`P(x = 1, y = 1 | given)` of all pairs; `P(x = 1 | given)` on the diagonal."""
        model, event, _ = self._under(given)
        return model._model.pair_marginals(event)

    def possible(self, records: Any) -> np.ndarray:
        """Whether each record is possible."""
        return self._model.possible(self.records(records)._records)

    def nearest(self, records: Any) -> tuple[Any, np.ndarray]:
        """The possible world nearest to each record, and how many cells it changes."""
        aligned_records = self.records(records)
        worlds, distances = self._model.nearest(aligned_records._records)
        return self._in_kind(aligned_records, worlds), distances

    def complete(self, records: Any, *, seed: int = 0) -> Any:
        """Each record with its missing cells drawn at random given the others; NaN where it is impossible."""
        aligned_records = self.records(records)
        worlds, possible = self._model.sample_batch(aligned_records._records, seed)
        return self._in_kind(aligned_records, _or_missing(worlds, possible))

    def entailed_by(self, records: Any) -> bool:
        """Whether all records are possible."""
        return self._model.entailed_by(self.records(records)._records)

    def given(self, event: Given) -> Any:
        """The model of `P(world | event)`, of the same kind."""
        return self._conditioned(self._event(event))[0]

    def _in_kind(self, records: Records, worlds: np.ndarray) -> Any:
        if records._table.kind == "array" and self.columns.is_plain:
            return worlds
        decoded = self.columns.decode(worlds)
        return Values(decoded) if records._table.kind == "array" else _columns.in_kind(records._table, decoded)


class Mixture(OnVtrees):
    """Weighted circuits over the same variables."""

    def __init__(self, components: Iterable[tuple[float, Circuit]]):
        self._model = _slopp.Model.mixture([(weight, circuit._model) for weight, circuit in components])

    @property
    def components(self) -> list[tuple[float, Circuit]]:
        """The weights and the circuits."""
        return [(weight, wrap(model)) for weight, model in self._model.components()]  # type: ignore[misc]

    def component_posterior(self, records: Any) -> np.ndarray:
        """`P(component | record)`, a line for each record."""
        return self._model.component_posterior(self.records(records)._records)

    def mpe_bounds(self, *, given: Given = None) -> tuple[World, float]:
        """A world that is likely the most probable one, and the log-probability that no world exceeds."""
        model, event, log = self._under(given)
        cells, log_probability, log_upper = model._model.mpe_bounds(event)
        return World(self._world(cells), log_probability + log), log_upper + log

    def _log_probability(self, event: _slopp.Event) -> float:
        if not event.is_formula:
            return self._model.log_evidence(event)
        parts = [math.log(weight) + model.log_probability_of(event) for weight, model in self._model.components()]
        return min(float(np.logaddexp.reduce(parts)), 0.0)

    def _conditioned(self, event: _slopp.Event) -> tuple[Model, float]:
        parts = []
        for weight, model in self._model.components():
            # A component in which the event is impossible has no part in what is left.
            if model.log_probability_of(event) > -math.inf:
                given, log = model.given(event)
                parts.append((math.log(weight) + log, given))
        if not parts:
            raise ImpossibleError("the formula has probability zero, so nothing can be conditioned on it; weaken it, "
                                  "or revise the circuit by it")
        total = float(np.logaddexp.reduce([log for log, _ in parts]))
        return wrap(_slopp.Model.mixture([(math.exp(log - total), model) for log, model in parts])), total


class Circuit(OnVtrees):
    """A smooth, structured-decomposable circuit; a mixture, unless it is more."""

    @property
    def vtree(self) -> Vtree:
        """The vtree."""
        return Vtree._of(self._model.vtree)

    def product(self, other: Circuit) -> tuple[Any, float]:
        """The circuit of the normalised product of two distributions, and the logarithm of its total."""
        model, log = self._model.product(other._model)
        return wrap(model), log

    def marginal(self, of: Sequence[str], *, given: Given = None) -> Any:
        """The circuit over some of the variables, the others summed out."""
        model, event, _ = self._under(given)
        return wrap(model._model.marginal(list(of), event))

    def information(self, between: Sequence[str], and_: Sequence[str], *, given: Given = None) -> Values:
        """Mutual information of two sets of variables, and their entropies, in nats."""
        event = self._event(given)
        model = self._model if event.is_empty else self._conditioned(event)[0]._model
        first, second = list(between), list(and_)
        return Values(
            mutual_information=model.mutual_information(first, second),
            entropy_first=model.entropy_of(first),
            entropy_second=model.entropy_of(second),
            entropy_first_given_second=model.conditional_entropy(first, second),
            entropy_second_given_first=model.conditional_entropy(second, first),
        )

    def entropy_of(self, of: Sequence[str]) -> float:
        """The entropy of some variables, in nats."""
        return self._model.entropy_of(list(of))

    def marginal_map(self, of: Sequence[str], *, given: Given = None, budget: int = 10_000) -> MarginalMap:
        """The most probable values of some variables, the others summed out; exact within a budget of steps."""
        model, event, log = self._under(given)
        values, lower, upper, steps = model._model.marginal_map(list(of), event, budget)
        found = MarginalMap(zip(of, values, strict=True), lower + log)
        found.log_upper, found.steps = upper + log, steps
        return found

    def rules(self, records: Any = None, *, max_length: int = 3, steps: int = 200_000,
              max_clauses: int = 1000) -> FoundRules:
        """The base as rules that people read; with records, how many had occasion to break each."""
        records = None if records is None else self.records(records)._records
        found, complete_to, minimal = self._model.rules(records, max_length, steps, max_clauses)
        names = ("kind", "rule", "literals", "support", "excluded")
        rules = FoundRules(Values(zip(names, rule, strict=True)) for rule in found)
        rules.complete_to, rules.is_minimal = complete_to, minimal
        return rules

    def entails(self, formula: str) -> bool:
        """Whether a formula holds in every possible world."""
        return self.counterexample(formula) is None

    def counterexample(self, formula: str) -> Values | None:
        """A possible world in which a formula does not hold."""
        world = self._model.counterexample(self._event(formula))
        return None if world is None else Values(self._world(world))

    def log_likelihoods_noisy(self, records: Any, noise: float) -> np.ndarray:
        """The log-likelihood of every record if each cell is flipped with the probability `noise`."""
        return self._model.log_likelihoods_noisy(self.records(records)._records, noise)

    def fit_noise(self, records: Any) -> Values:
        """The noise under which records are most likely."""
        return Values(zip(("noise", "log_likelihood"), self._model.fit_noise(self.records(records)._records), strict=True))

    def em(self, records: Any, *, pseudocount: float = 1.0, steps: int = 100, progress: Progress = None) -> Any:
        """The circuit with parameters by expectation maximisation, for missing cells or sums that overlap."""
        with listening(progress) as callback:
            model, _, _ = self._model.em(self.records(records)._records, pseudocount, steps, callback)
        return wrap(model)

    def certified(self) -> Psdd:
        """Itself, if it is proved a PSDD; else the error tells why not."""
        from .errors import CertificateError

        if isinstance(self, Psdd):
            return self
        raise CertificateError(f"not a PSDD: {self.reason}")

    def renormalised(self) -> Any:
        """The circuit with the parameters of every sum divided by their total."""
        return wrap(self._model.renormalised())

    def svg(self, limit: int = 300) -> str:
        """A picture: in full up to `limit` nodes and elements, a summary above."""
        return self._model.svg(limit)

    def dot(self, limit: int = 300) -> str:
        """For Graphviz."""
        return self._model.dot(limit)

    def _log_probability(self, event: _slopp.Event) -> float:
        return self._model.log_probability_of(event)

    def _conditioned(self, event: _slopp.Event) -> tuple[Model, float]:
        model, log = self._model.given(event)
        return wrap(model), log

    def _repr_html_(self) -> str:
        card = super()._repr_html_()
        drawn = self.size["nodes"] + self.size["elements"] <= 300
        picture = self.svg() if drawn else ""
        why = f"<div>{escape(self.reason)}</div>" if self.reason else ""
        return f"{card}{why}{picture}"


class Deterministic(Circuit):
    """A circuit whose elements are proved exclusive: every world has at most one derivation."""

    def mpe(self, records: Any = None, *, given: Given = None) -> Any:
        """The most probable world; with records, the most probable completion of each and its log-probability.

        Where a record is impossible, its completion is NaN and the log-probability −∞.
        """
        if records is None:
            return self.top_worlds(1, given=given)[0]
        aligned_records = self.records(records)
        worlds, logs = self._model.mpe_batch(aligned_records._records)
        return self._in_kind(aligned_records, _or_missing(worlds, logs > -math.inf)), logs

    def top_worlds(self, k: int, records: Any = None, *, given: Given = None) -> Any:
        """The `k` most probable worlds; with records, a list of them for each."""
        if records is None:
            model, event, log = self._under(given)
            return self._ranked(model._model.top_worlds(event, k), log)
        found = self._model.top_worlds_batch(self.records(records)._records, k)
        return [self._ranked(ranked, 0.0) for ranked in found]

    def worlds(self, *, given: Given = None, limit: int = 1000) -> Any:
        """The possible worlds, each once, in the order of the circuit: a matrix, or columns if some are categorical."""
        model, event, _ = self._under(given)
        worlds, _ = model._model.worlds(event, limit)
        columns = self.columns
        return worlds if columns.is_plain else Values(columns.decode(worlds))

    def model_count(self) -> int:
        """How many worlds are possible, exactly."""
        return self._model.model_count()

    def entropy(self) -> float:
        """The entropy, in nats."""
        return self._model.entropy()

    def kl_divergence(self, other: Deterministic) -> float:
        """The Kullback-Leibler divergence from another circuit on the same vtree, in nats."""
        return self._model.kl_divergence(other._model)

    def equals_closed_world(self, records: Any) -> bool:
        """Whether exactly these records are possible."""
        return self._model.equals_closed_world(self.records(records)._records)

    def explain(self, records: Any, *, k: int = 1) -> Rows:
        """Why records are impossible: the cells that cannot hold together, and what to change. Possible ones are left out."""
        found = Rows()
        for i, explanation in enumerate(self._model.explain(self.records(records)._records, k)):
            if explanation is None:
                continue
            conflict, near = explanation
            worlds = Rows(World(self._world(world), log) for _, _, log, world in near)
            found.append(Values(record=i, conflict=dict(conflict), distance=near[0][1], change=dict(near[0][0]),
                                nearest=worlds))
        return found

    def repair(self, records: Any) -> Any:
        """The records with as few cells changed as it takes to make each possible, in the most probable way."""
        aligned_records = self.records(records)
        cells = aligned_records.to_numpy().astype(np.float64)
        place = {name: i for i, name in enumerate(self.names)}
        for i, explanation in enumerate(self._model.explain(aligned_records._records, 1)):
            for name, value in explanation[1][0][0] if explanation else ():
                cells[i, place[name]] = value
        complete = not np.isnan(cells).any()
        return self._in_kind(aligned_records, cells.astype(bool) if complete else cells)

    def fit(self, records: Any, *, pseudocount: float = 1.0, add: bool = False) -> Any:
        """The circuit with parameters by counting records; with `add`, added to the counts that it keeps."""
        return wrap(self._model.fit(self.records(records)._records, pseudocount, add)[0])

    def _ranked(self, ranked: tuple[np.ndarray, np.ndarray], log: float) -> Rows:
        return Rows(World(self._world(world), p + log) for world, p in zip(*ranked, strict=True))

    def _facts(self) -> dict[str, Any]:
        facts = super()._facts()
        return {**facts, "possible worlds": self.model_count(), "entropy (nats)": number(self.entropy())}


class Psdd(Deterministic):
    """A probabilistic sentential decision diagram: the primes of every sum are proved exclusive."""

    def revise(self, records: Any = None, *, formula: str | None = None, by_rule: str | None = None,
               weight: float | None = None, formula_weight: float = 1.0) -> Psdd:
        """Room for records, or for the worlds of a formula, or without the worlds that break a rule; nothing else."""
        if (records is not None) + (formula is not None) + (by_rule is not None) != 1:
            raise TypeError("revise by records, by a formula or by a rule: give one of them")
        if by_rule is not None:
            return self.given(by_rule)  # type: ignore[no-any-return]
        if formula is not None:
            return wrap(self._model.revise_by(self._event(formula), formula_weight, weight)[0])  # type: ignore[return-value]
        return wrap(self._model.revise(self.records(records)._records, weight)[0])  # type: ignore[return-value]


class MarginalMap(World):
    """Values of some variables, with a bound on how probable any others can be."""

    log_upper: float
    steps: int

    @property
    def is_exact(self) -> bool:
        """Whether the values are proved to be the most probable ones."""
        return self.log_upper == self.log_probability


class FoundRules(Rows):
    """The base of a circuit as rules."""

    #: All entailed clauses of at most this length follow from the rules.
    complete_to: int
    #: Whether it is proved that no rule follows from the others.
    is_minimal: bool


KINDS = {"psdd": Psdd, "deterministic": Deterministic, "circuit": Circuit, "unnormalised": Circuit,
         "mixture": Mixture, "spn": Spn}


def wrap(model: _slopp.Model) -> Model:
    """A model as what it is proved to be."""
    kind = KINDS[model.kind]
    made = kind.__new__(kind)
    made._model = model
    return made


def _unpickled(text: bytes) -> Model:
    return wrap(_slopp.Model.from_bytes(text))


def read(path: Path, vtree: Path | None = None) -> Any:
    """A model from a file: a .psdd of any tool, with its vtree if the file does not hold it, a .spn or a .mix file."""
    model = wrap(_slopp.Model.read(path, vtree))
    if model._model.kind == "unnormalised":
        from .errors import CertificateError

        raise CertificateError(f"the model is no distribution: {model.reason}; `slopp validate MODEL --fix -o FILE` "
                               "divides parameters by their total")
    return model


def example() -> Psdd:
    """The example of the SLoPP paper."""
    return wrap(_slopp.Model.example())  # type: ignore[return-value]


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
    cells = data.to_numpy()[:, [data.names.index(name) for name in names]]
    return Records._of(_slopp.Records.from_array(cells, names, data._records.record_weights()), columns)


def _or_missing(worlds: np.ndarray, answered: np.ndarray) -> np.ndarray:
    if answered.all():
        return worlds
    return np.where(answered[:, None], worlds, np.nan)


def _refusal(model: Model, question: str) -> str:
    instead = "of a mixture likelihoods, prob, marginals, sample and possible can be asked"
    if isinstance(model, Spn):
        return (f"{question} cannot be asked of a sum-product network: it has no vtree, and its sums overlap, so only a "
                "circuit can answer this; learn a PSDD")
    if isinstance(model, Mixture):
        return f"{question} is a question to a single circuit, and this is a mixture of several; {instead}"
    if isinstance(model, Deterministic):
        return f"{question} needs a PSDD, and the primes of this circuit overlap: {model.reason}"
    return f"{question} needs a deterministic circuit, and this one is a mixture: {model.reason}; {instead}"
