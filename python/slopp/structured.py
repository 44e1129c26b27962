"""What circuits on vtrees and mixtures of them answer alike, beyond what every model does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._arguments import Bools, Floats, number
from ._show import Values
from .model import Given, Model

if TYPE_CHECKING:
    from typing_extensions import Self


class Structured(Model):
    """What circuits on vtrees and mixtures of them answer."""

    def pair_marginals(self, *, given: Given = None) -> Floats:
        """`P(x = 1, y = 1 | given)` of all pairs; `P(x = 1 | given)` on the diagonal."""
        model, event, _ = self._under(given)
        return model._model.pair_marginals(event)

    def possible(self, records: Any) -> Bools:
        """Whether each record is possible."""
        return self._model.possible(self.records(records)._records)

    def nearest(self, records: Any) -> tuple[Any, npt.NDArray[np.uint32]]:
        """The possible world nearest to each record, and how many cells it changes; a column counts once.

        Of several at the same distance it is the most probable one if the model is `Deterministic`, otherwise any.
        """
        aligned_records = self.records(records)
        worlds, distances = self._model.nearest(aligned_records._records)
        return self._in_kind(aligned_records, worlds), distances

    def log_likelihoods_noisy(self, records: Any, noise: float) -> Floats:
        """The log-likelihood of every record if each cell is changed with the probability `noise`."""
        return self._model.log_likelihoods_noisy(self.records(records)._records, number("noise", noise))

    def fit_noise(self, records: Any) -> Values[float]:
        """The noise under which records are most likely."""
        noise, log_likelihood = self._model.fit_noise(self.records(records)._records)
        return Values(noise=noise, log_likelihood=log_likelihood)

    def entailed_by(self, records: Any) -> bool:
        """Whether all records are possible."""
        return self._model.entailed_by(self.records(records)._records)

    def given(self, event: Given) -> Self:
        """The model of `P(world | event)`, of the same kind."""
        return self._conditioned(self._event(event))[0]

    def entails(self, formula: Given) -> bool:
        """Whether a formula holds in every possible world; one of a mixture is possible in some component."""
        return self.counterexample(formula) is None

    def counterexample(self, formula: Given) -> Values[Any] | None:
        """A possible world in which a formula does not hold."""
        world = self._model.counterexample(self._event(formula, question=True))
        return None if world is None else Values(self._world(world))
