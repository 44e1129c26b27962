"""Models of any kind, and what can be asked of all of them.

Validity is carried by types, as in the library: a `Psdd` is a `Deterministic` is a `Circuit` is a `Model`. A question
that needs determinism is a method of `Deterministic`; asked of less, it is a `KindError` that says why.
"""

from __future__ import annotations

import contextlib
import json
import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from . import _frames, _slopp
from ._align import aligned
from ._arguments import Floats, counted, limit, no_column, number, seeded, truth, whole
from ._arguments import path as a_path
from ._columns import Columns
from ._labels import is_missing
from ._show import Progress, Values, card, listening, table
from .errors import ArgumentError, FormulaError, KindError, NamesError, RecordsError
from .evaluation import Fidelity, Noise, Score, fidelity, score
from .records import Path, Records

if TYPE_CHECKING:
    from typing_extensions import Self

#: What is known: literals such as "smoker, !cancer", a formula such as "smoker -> cancer", or names with values.
Given = str | Mapping[str, Any] | None


#: What needs no determinism.
WITHOUT_DETERMINISM = "log_likelihoods, eval, prob, marginals, sample, possible, nearest, entails, given and fit"

#: What kinds of models are, for their cards.
KIND_IN_WORDS = {
    "Psdd": "a PSDD, proved", "Deterministic": "a deterministic circuit, proved", "Circuit": "a circuit",
    "Mixture": "a mixture of circuits", "Spn": "a sum-product network",
}


class Model:
    """A distribution over named Boolean variables, of any kind.

    Methods share their arguments. `records` is an array, a frame, a dict of columns, a list of dicts or `Records`, with
    all columns and None or NaN where a cell is missing; then there is one answer per record. `given` is what is known
    where there are no records: literals such as "smoker, !cancer", a formula such as "smoker -> cancer", or a dict of
    columns with values, of which None says nothing. `of`, `between` and `and_` are names of variables or columns.
    """

    _model: _slopp.Model
    #: What it was learned from, for answers in kind; a model from a file does not know.
    _like: _frames.Table | None = None

    def __init__(self, *_: Any, **__: Any):
        raise ArgumentError(f"a {type(self).__name__} is not made by hand: slopp.learn(records) learns a model, "
                            'slopp.read("model.psdd") reads one, slopp.example() is a small one')

    @property
    def names(self) -> list[str]:
        """The names of the variables."""
        return self._model.names

    @property
    def columns(self) -> Columns:
        """The columns: Boolean ones are one variable, categorical ones a variable per category."""
        # The library knows categories as texts; what they were, numbers say, is kept next to them.
        known: Any = None
        with contextlib.suppress(ValueError):
            known = json.loads(self._model.origin.get("categories", "{}"))
        # A file that was edited by hand may hold anything there; then texts are what they are.
        return Columns.of_names(self.names, self._model.groups, known if isinstance(known, dict) else {})

    @property
    def origin(self) -> Values[str]:
        """How the model was made."""
        return Values(self._model.origin)

    @property
    def certificate(self) -> str:
        """What is proved: psdd, deterministic, mixture, spn, none, or unproved where limits were too tight."""
        return {"circuit": "mixture", "unnormalised": "none"}.get(self._model.kind, self._model.kind)

    @property
    def reason(self) -> str | None:
        """Why the certificate is not stronger."""
        return self._model.reason

    @property
    def size(self) -> Values[int]:
        """How large it is."""
        return Values(self._model.size())

    def write(self, path: Path) -> None:
        """Into a file: .psdd, or .mix or .spn for other kinds."""
        kind = {"mixture": ".mix", "spn": ".spn"}.get(self._model.kind, ".psdd")
        name = a_path("path", path)
        if not name.removesuffix(".gz").endswith(kind):
            raise ArgumentError(f"{name} would be a file of another kind; this one ends in {kind}")
        self._model.write(name)

    def renamed(self, names: Sequence[str]) -> Self:
        """The same model with other names."""
        return wrap(self._model.renamed([str(name) for name in names]))  # type: ignore[no-any-return]

    def records(self, data: Any) -> Records:
        """Data as records over the variables of this model, matched by name where it has names."""
        return aligned(data, self.names, self.columns)

    # Questions that every kind answers.

    def log_likelihoods(self, records: Any) -> Floats:
        """The log-likelihood of every record, missing cells summed out; −∞ if it is impossible."""
        return self._model.log_likelihoods(self.records(records)._records)

    def eval(self, records: Any, *, noise: Noise = None, valid: Any = None) -> Score:
        """How well the model explains records: log-likelihood and impossible records.

        With `noise` every cell of a world is changed with a small probability before it is seen, which makes every
        record possible; "auto" is the one under which the records of `valid`, or else these, are most likely.
        """
        return score(self, records, noise, valid)

    def fidelity(self, records: Any) -> Fidelity:
        """How well the model agrees with records, value by value.

        Compares conditional probabilities: of each value given each other one that at least 100 records have, and given
        two values of the most dependent columns. `worst` has the largest differences.

        >>> from slopp import configurations, learn
        >>> cars = configurations(2000)
        >>> learn(cars).fidelity(cars)["mean"] < 0.02
        True
        """
        return fidelity(self, records)

    def log_probability(self, event: Given, *, given: Given = None) -> float:
        """The log-probability of literals or of a formula, also given others."""
        return self._model.log_probability(self._event(event, question=True), self._event(given))

    @overload
    def prob(self, event: Given = None, records: None = None, *, given: Given = None) -> float: ...

    @overload
    def prob(self, event: Given = None, *, records: Any, given: Given = None) -> Floats: ...

    @overload
    def prob(self, event: Given, records: Any, *, given: Given = None) -> Floats: ...

    def prob(self, event: Given = None, records: Any = None, *, given: Given = None) -> float | Floats:
        """The probability of an event, also given another one.

        With `records`, one answer per record: the probability of the record or, if there is an event, of the event
        given the record, which is NaN where the record is impossible.
        """
        if records is None:
            return math.exp(self.log_probability(event, given=given))
        not_both(given)
        aligned_records = self.records(records)._records
        if event is None:
            return np.exp(self._model.log_likelihoods(aligned_records))
        return np.exp(self._model.log_probabilities_given(self._event(event, question=True), aligned_records))

    @overload
    def marginals(self, records: None = None, *, given: Given = None) -> Values[float]: ...

    @overload
    def marginals(self, records: np.ndarray, *, given: Given = None) -> Floats: ...

    @overload
    def marginals(self, records: Any, *, given: Given = None) -> Any: ...

    def marginals(self, records: Any = None, *, given: Given = None) -> Any:
        """`P(variable = 1 | given)` by name; with records, a line for each, NaN where it is impossible."""
        if records is None:
            model, event, _ = self._under(given)
            return Values(zip(self.names, model._model.marginals(event).tolist(), strict=True))
        not_both(given)
        aligned_records = self.records(records)
        answers = self._model.marginals_batch(aligned_records._records)
        columns = {name: answers[:, i] for i, name in enumerate(self.names)}
        return answers if aligned_records._table.kind == "array" else _frames.in_kind(aligned_records._table, columns)

    def sample(self, count: int = 1, *, given: Given = None, seed: int | None = 0) -> Any:
        """Worlds drawn at random, as what the model was learned from: an array, or a frame or a dict of columns.

        The same `seed`, which is 0 unless given, draws the same worlds; None draws others every time.
        """
        model, event, _ = self._under(given)
        return self._tabled(model._model.sample(whole("count", count), event, seeded("seed", seed)))

    def complete(self, records: Any, *, seed: int | None = 0) -> Any:
        """Each record with its missing cells drawn at random given the others; NaN where it is impossible.

        Every record has a draw of its own, also where it equals another one.
        The same `seed` draws the same cells; None draws others every time.
        """
        aligned_records = self.records(records)
        worlds, possible = self._model.sample_batch(aligned_records._records, seeded("seed", seed))
        return self._in_kind(aligned_records, or_missing(worlds, possible))

    def em(self, records: Any, *, pseudocount: float | None = None, steps: int | None = None,
           progress: Progress = None) -> Self:
        """The model with parameters by expectation maximisation, for missing cells or sums that overlap.

        The components of a mixture and their weights are fitted together. For a sum-product network, its current
        parameters are the prior.
        """
        return self._refitted(records, pseudocount, False, True, steps, progress)

    def fit(self, records: Any, *, pseudocount: float | None = None, add: bool = False, steps: int | None = None,
            progress: Progress = None) -> Self:
        """The model with parameters fitted to records, its structure fixed.

        Exact, by counting, if it is deterministic and no cell is missing; otherwise by `em`. With `add`, the records
        are added to the counts that the model keeps. The pseudocount is that of the model unless given, else 1.
        """
        return self._refitted(records, pseudocount, add, False, steps, progress)

    # Parts of the above.

    def _some(self, data: Any) -> Records:
        """Data as records to fit to."""
        found = self.records(data)
        if len(found) == 0:
            raise RecordsError("there are no records to fit to; give at least one")
        return found

    def _refitted(self, records: Any, pseudocount: float | None, add: bool, em: bool, steps: int | None,
                  progress: Progress) -> Self:
        weight = None if pseudocount is None else number("pseudocount", pseudocount)
        aligned_records = self._some(records)
        with listening(progress) as callback:
            model, impossible = self._model.refit(aligned_records._records, weight, add, em, limit("steps", steps),
                                                  callback)
        if impossible:
            warnings.warn(f"records of weight {impossible:g} are impossible whatever the parameters, and left out",
                          stacklevel=3)
        return self._same(model)

    def _event(self, given: Given, *, question: bool = False) -> _slopp.Event:
        """What is given or, as only a question may contradict itself, asked."""
        if given is None:
            return self._model.event(None)
        if isinstance(given, str):
            return self._model.event(self.columns.quoted(given), question)
        if hasattr(given, "to_dict") and getattr(given, "ndim", 0) == 1:
            given = given.to_dict()  # a series of pandas, such as a row of a frame
        if not isinstance(given, Mapping):
            raise FormulaError(f"the question or evidence is {given!r}, but must be a text such as 'smoker, !cancer' "
                               "or 'smoker -> cancer', or a dict of names with values")
        columns = {column.name: column for column in self.columns}
        literals: list[tuple[str, bool]] = []
        variables = set(self.names)
        for name, value in given.items():
            if name not in columns and name not in variables:
                raise NamesError(no_column(name, list(dict.fromkeys([*columns, *self.names]))))
            column = columns.get(name)
            if column is None or column.categories is None:
                holds = truth(name, value)
                literals += [] if holds is None else [(name, holds)]
                continue
            if is_missing(value):
                continue
            place = column.place(value)
            if place is None:
                raise NamesError(f'column "{name}" has no category {value!r}; known categories: {column.known()}')
            literals += [(variable, i == place) for i, variable in enumerate(column.variables)]
        return self._model.event(literals, question)

    def _conditioned(self, event: _slopp.Event) -> tuple[Self, float]:
        model, log = self._model.given(event)
        return self._same(model), log

    def _under(self, given: Given) -> tuple[Self, _slopp.Event, float]:
        """The model and the literals that stand for what is given, and its log-probability where it is a formula."""
        event = self._event(given)
        if not event.is_formula:
            return self, event, 0.0
        model, log = self._conditioned(event)
        return model, self._event(None), log

    def _log_evidence(self, event: _slopp.Event) -> float:
        """The log-probability of literals that are given."""
        return 0.0 if event.is_empty else self._model.log_evidence(event)

    def _same(self, model: _slopp.Model) -> Self:
        """Another model over the same columns, which answers in the same kind."""
        return wrap(model, self._like)  # type: ignore[no-any-return]

    def _tabled(self, worlds: np.ndarray) -> Any:
        """Worlds as what the model was learned from; without that an array, or columns if some are categorical."""
        columns = self.columns
        if self._like is None or self._like.kind == "array":
            return worlds if columns.is_plain else Values(columns.decode(worlds))
        return _frames.in_kind(self._like, columns.decode(worlds), columns)

    def _in_kind(self, records: Records, worlds: np.ndarray) -> Any:
        if records._table.kind == "array" and self.columns.is_plain:
            return worlds
        decoded = self.columns.decode(worlds)
        if records._table.kind == "array":
            return Values(decoded)
        return _frames.in_kind(records._table, decoded, self.columns)

    def _world(self, cells: Iterable[bool]) -> dict[str, Any]:
        decoded = self.columns.decode(np.array([list(cells)]))
        return {name: values.tolist()[0] for name, values in decoded.items()}

    if not TYPE_CHECKING:
        # A type checker would take any misspelt name for something that is there.
        def __getattr__(self, name: str) -> Any:
            """Refuses what only another kind of model answers, and says why."""
            if not name.startswith("_") and any(hasattr(kind, name) for kind in KINDS.values()):
                raise KindError(_refusal(self, name))
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __eq__(self, other: object) -> bool:
        """Whether it is the same circuit over the same names, however both were made."""
        return isinstance(other, Model) and self._model == other._model

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        return _unpickled, (self._model.to_bytes(), self._like)

    def __repr__(self) -> str:
        facts = ", ".join(f"{count} {name}" for name, count in self.size.items() if name in ("elements", "parameters"))
        return f"{type(self).__name__}({counted(len(self.names), 'variable')}, {facts})"

    def _facts(self) -> dict[str, Any]:
        return {"variables": len(self.names), **self.size, "certificate": self.certificate}

    def _repr_html_(self) -> str:
        kind = type(self).__name__
        what = KIND_IN_WORDS[kind] + (f": {self.reason}" if self.reason else "")
        origin = {name: value for name, value in self.origin.items() if name != "categories"}
        return card(kind, what, table(self._facts().items()), table(origin.items()), self._more(),
                    picture=self._drawing())

    def _more(self) -> str:
        """A further table of its card."""
        return ""

    def _drawing(self) -> str:
        """The picture of its card."""
        return ""


class Spn(Model):
    """A sum-product network: no vtree, and its sums overlap."""


#: What models are, by the word of the compiled half; mixtures and circuits add themselves.
KINDS: dict[str, type[Model]] = {"spn": Spn}


def wrap(model: _slopp.Model, like: _frames.Table | None = None) -> Any:
    """A model as what it is proved to be, which answers as what is like that."""
    kind = KINDS[model.kind]
    made: Model = object.__new__(kind)
    made._model = model
    made._like = like
    return made


def _unpickled(text: bytes, like: _frames.Table | None = None) -> Model:
    made: Model = wrap(_slopp.Model.from_bytes(text), like)
    return made


def not_both(given: Given) -> None:
    """Refuses `given` together with records, which say themselves what is given."""
    if given is not None:
        raise ArgumentError("give records or what is given, not both: what a record does not say is missing in it")


def or_missing(worlds: np.ndarray, answered: np.ndarray) -> np.ndarray:
    """Worlds, NaN where there is no answer."""
    if answered.all():
        return worlds
    return np.where(answered[:, None], worlds, np.nan)


def _refusal(model: Model, question: str) -> str:
    if isinstance(model, Spn):
        return (f"{question} cannot be asked of a sum-product network: it has no vtree, and its sums overlap, so only "
                "a circuit can answer this; learn a PSDD")
    if model.certificate == "deterministic":
        return f"{question} needs a PSDD, and the primes of this circuit overlap: {model.reason}"
    instead = f"{WITHOUT_DETERMINISM} need no determinism, and slopp.distil makes one PSDD of the model"
    if model._model.kind == "mixture":
        return f"only a single circuit can answer {question}, and this is a mixture of several; {instead}"
    found = "has no proof" if model._model.kind == "unproved" else "is not"
    return f"{question} needs a deterministic circuit, and this one {found}: {model.reason}; {instead}"
