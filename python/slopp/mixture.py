"""Mixtures: weighted circuits over the same variables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from . import _slopp
from ._arguments import Floats, handle, number, whole
from ._show import World, table
from .errors import ArgumentError
from .model import KINDS, Given, wrap
from .structured import Structured

if TYPE_CHECKING:
    from .circuit import Circuit


class Mixture(Structured):
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


KINDS["mixture"] = Mixture
