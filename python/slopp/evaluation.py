"""How well models explain records, and how far two are from each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from ._arguments import handle, number
from ._show import Rows, Values, card
from .errors import ArgumentError, KindError

if TYPE_CHECKING:
    from .circuit import Deterministic
    from .model import Model
    from .records import Records

#: The probability that a cell is changed before it is seen; "auto" is the one under which records are most likely.
Noise = float | Literal["auto"] | None


class Score(Values[Any]):
    """The log-likelihood of records in nats, the impossible ones apart, as `slopp eval --json` has them.

    `log_likelihood` is the sum over the possible records, None if there are records and all are impossible;
    `log_likelihood_per_record` is None if some are impossible, because the mean over the others is not a fair measure.
    """


class Fidelity(Values[Any]):
    """How far conditional probabilities of a model are from those of records, as `slopp eval --fidelity --json` has it.

    `conditionals` of them were compared, `mean` and `largest` are their absolute differences, the mean weighted by the
    records with the condition. `left_out` columns of little entropy are not compared, where there are too many values.
    """

    #: The largest differences: the probability by the model, and the share of so many records.
    worst: Rows[Values[Any]]

    def _repr_html_(self) -> str:
        return card("Fidelity", "conditional probabilities of model and records", super()._repr_html_(),
                    self.worst._repr_html_())


class Comparison(Values[Any]):
    """The divergences of two models from each other in nats, and their sizes, as `slopp compare --json` has them."""


def score(model: Model, records: Any, noise: Noise = None, valid: Any = None) -> Score:
    """How well a model explains records, also through a channel that changes cells."""
    known = model.records(records)
    plain = _score(model, known)
    if noise is None:
        if valid is not None:
            raise ArgumentError('valid= chooses the noise, and none is asked for; add noise="auto", or leave it out')
        return plain
    noisy: Any = model
    if not hasattr(type(model), "fit_noise"):
        raise KindError("the likelihood through a noisy channel cannot be asked of a sum-product network: it has no "
                        "vtree; learn a PSDD, or leave noise= out")
    by = "given"
    if noise == "auto":
        noise, by = noisy.fit_noise(known if valid is None else valid)["noise"], "data" if valid is None else "valid"
    elif valid is not None:
        raise ArgumentError('valid= chooses the noise, and noise= gives it already; noise="auto", or leave valid= out')
    elif isinstance(noise, str) or not 0 <= number("noise", noise) <= 0.5:
        raise ArgumentError(f'noise is {noise!r}, but must be "auto" or a probability from 0 to 0.5')
    found = _score(model, known, noise)
    found.update(noise=noise, noise_by=by, impossible_without_noise=plain["impossible"])
    return found


def _score(model: Model, known: Records, noise: Any = None) -> Score:
    names = ("records", "impossible", "log_likelihood", "log_likelihood_per_record",
             "log_likelihood_per_possible_record")
    return Score(zip(names, model._model.score(known._records, noise), strict=True))


def fidelity(model: Model, records: Any) -> Fidelity:
    """How well a model agrees with records, value by value."""
    compared, left_out, mean, worst, _ = model._model.fidelity(model.records(records)._records, False)
    rows: Rows[Values[Any]] = Rows(
        Values(conditional=conditional(value, given), probability=probability, share=share, records=support)
        for value, given, probability, share, support in worst)
    largest = abs(rows[0]["probability"] - rows[0]["share"]) if rows else 0.0
    found = Fidelity(conditionals=compared, left_out=left_out, mean=mean, largest=largest)
    found.worst = rows
    return found


def conditional(value: str, given: list[str]) -> str:
    """A conditional probability, as text."""
    return f"P({value} | {', '.join(given)})"


def compare(a: Deterministic, b: Deterministic) -> Comparison:
    """How far two models are from each other: KL divergence both ways, sizes, model counts.

    Exact, also for different structures, as long as both are deterministic circuits over the same variables and one
    vtree. The divergence of a from b is infinite if a makes worlds possible that b does not.

    >>> from slopp import compare, configurations, learn
    >>> cars = configurations(500)
    >>> open, closed = (learn(cars, learner="chow-liu", world=world) for world in ("open", "closed"))
    >>> found = compare(closed, open)
    >>> found["kl_a_b"] < found["kl_b_a"], found["same_structure"]
    (True, False)
    """
    for name, model in (("a", a), ("b", b)):
        handle(name, model, "a deterministic circuit")
        model.kl_divergence  # noqa: B018, a model of another kind says why it has none

    def side(model: Deterministic) -> Values[Any]:
        size = model.size
        return Values(elements=size["elements"], parameters=size["parameters"], model_count=model.model_count(),
                      entropy=model.entropy())

    return Comparison(kl_a_b=a.kl_divergence(b), kl_b_a=b.kl_divergence(a),
                      same_structure=a._model.same_structure(b._model), a=side(a), b=side(b))
