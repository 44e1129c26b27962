"""Mixtures: weighted circuits over the same variables."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _slopp
from ._arguments import Floats, handle, number, whole
from ._show import World, table
from .errors import ArgumentError, ImpossibleError
from .model import KINDS, Given, wrap
from .on_vtrees import OnVtrees

if TYPE_CHECKING:
    from typing_extensions import Self

    from .circuit import Circuit


class Mixture(OnVtrees):
    """Weighted circuits over the same variables."""

    def __init__(self, components: Iterable[tuple[float, Circuit]]):
        pairs = list(components) if isinstance(components, Iterable) else [components]
        if not all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in pairs):
            raise ArgumentError(f"components are {components!r}, but must be pairs of a weight and a circuit, such as "
                                "[(0.5, first), (0.5, second)]")
        self._model = _slopp.Model.mixture([(number("a weight", weight), handle("a component", circuit))
                                            for weight, circuit in pairs])

    @property
    def components(self) -> list[tuple[float, Circuit]]:
        """The weights and the circuits."""
        return [(weight, wrap(model, self._like)) for weight, model in self._model.components()]

    def fit_weights(self, records: Any, *, steps: int = 1000) -> Mixture:
        """The same components with weights fitted to records, such as validation records; those without are gone."""
        fitted = self._model.fit_weights(self.records(records)._records, whole("steps", steps, 1))
        return self._same(fitted)

    def component_posterior(self, records: Any) -> Floats:
        """`P(component | record)`, a line for each record."""
        return self._model.component_posterior(self.records(records)._records)

    def entails(self, formula: str) -> bool:
        """Whether a formula holds in every possible world, which is one that is possible in some component."""
        event = self._event(formula)
        return all(model.counterexample(event) is None for _, model in self._model.components())

    def mpe_bounds(self, *, given: Given = None) -> tuple[World, float]:
        """A world that is likely the most probable one, and the log-probability that no world exceeds."""
        model, event, log = self._under(given)
        cells, log_probability, log_upper = model._model.mpe_bounds(event)
        log_given = log + model._log_evidence(event)
        return World(self._world(cells), log_probability + log, log_given), log_upper + log

    def _more(self) -> str:
        parts = [(weight, *(circuit.size[name] for name in ("elements", "parameters")))
                 for weight, circuit in self.components]
        return table(sorted(parts, reverse=True), ("weight", "elements", "parameters"))

    def _log_probability(self, event: _slopp.Event) -> float:
        if not event.is_formula:
            return self._model.log_evidence(event)
        parts = [math.log(weight) + model.log_probability_of(event) for weight, model in self._model.components()]
        return min(float(np.logaddexp.reduce(parts)), 0.0)

    def _conditioned(self, event: _slopp.Event) -> tuple[Self, float]:
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
        mixture = _slopp.Model.mixture([(math.exp(log - total), model) for log, model in parts])
        return self._same(mixture.renamed(None, self._model.origin)), total


KINDS["mixture"] = Mixture
