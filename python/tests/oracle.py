"""Brute force over all worlds: reads the text of a .psdd file by itself and shares no code with slopp."""

from __future__ import annotations

import itertools
import math

import numpy as np


class Table:
    """The probability of every world."""

    def __init__(self, names: list[str], probabilities: np.ndarray):
        self.names = names
        self.worlds = np.array(list(itertools.product([False, True], repeat=len(names))))
        self.p = probabilities

    @staticmethod
    def of(text: str, names: list[str]) -> Table:
        """From the text of a .psdd file."""
        lines = [line.split() for line in text.splitlines() if line and line[0] in "LTD"]
        p = [_probability(lines, world) for world in itertools.product([False, True], repeat=len(names))]
        return Table(names, np.array(p))

    def where(self, formula) -> np.ndarray:
        """The worlds in which a function of the names holds."""
        return np.array([formula(dict(zip(self.names, world, strict=True))) for world in self.worlds.tolist()])

    def given(self, holds: np.ndarray) -> Table:
        p = np.where(holds, self.p, 0.0)
        return Table(self.names, p / p.sum())

    def agreeing(self, cells: np.ndarray) -> np.ndarray:
        """The worlds that agree with the known cells of a record."""
        known = ~np.isnan(cells)
        return (self.worlds[:, known] == cells[known].astype(bool)).all(axis=1)

    def marginals(self) -> np.ndarray:
        return self.p @ self.worlds

    def entropy(self) -> float:
        p = self.p[self.p > 0]
        return float(-(p * np.log(p)).sum())

    def over(self, names: list[str]) -> Table:
        """The marginal table of some variables."""
        places = [self.names.index(name) for name in names]
        smaller = Table(names, np.zeros(2 ** len(names)))
        index = {tuple(world): i for i, world in enumerate(smaller.worlds.tolist())}
        for world, p in zip(self.worlds[:, places].tolist(), self.p, strict=True):
            smaller.p[index[tuple(world)]] += p
        return smaller


def _probability(lines: list[list[str]], world: tuple[bool, ...]) -> float:
    values: dict[str, float] = {}
    for kind, node, _, *rest in lines:
        if kind == "L":
            literal = int(rest[0])
            values[node] = float(world[abs(literal) - 1] == (literal > 0))
        elif kind == "T":
            true = math.exp(float(rest[1]))
            values[node] = true if world[int(rest[0]) - 1] else 1.0 - true
        else:
            elements = zip(rest[1::3], rest[2::3], rest[3::3], strict=True)
            values[node] = sum(values[prime] * values[sub] * math.exp(float(theta)) for prime, sub, theta in elements)
    return values[lines[-1][1]]
