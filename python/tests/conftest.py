"""What tests share: small models with their tables, and the data beside the project."""

import os
from pathlib import Path

import numpy as np
import pytest
import slopp
from oracle import Table

NAMES = ["a", "b", "c", "d", "e", "f"]


def shared(path: str) -> Path:
    """Data beside the project; without it a test says so and is skipped, unless it is required."""
    root = Path(os.environ.get("SLOPP_DATA", Path(__file__).parents[3] / "shared"))
    if not (root / path).exists():
        if os.environ.get("SLOPP_REQUIRE_DATA") == "1":
            raise FileNotFoundError(root / path)
        pytest.skip(f"{root / path} is not there; SLOPP_DATA says where shared data is")
    return root / path


def rows(seed: int, count: int = 60) -> np.ndarray:
    """Records in which columns depend on each other."""
    random = np.random.default_rng(seed)
    cells = random.random((count, len(NAMES))) < 0.5
    cells[:, 1] |= cells[:, 0]
    cells[:, 2] = np.where(random.random(count) < 0.8, cells[:, 1], cells[:, 2])
    cells[:, 5] = cells[:, 3] & ~cells[:, 4]
    return cells


def table_of(model: slopp.Model) -> Table:
    return Table.of(model._model.to_bytes().decode(), model.names)


SETTINGS = [
    dict(learner="slopp", world="open"),
    dict(learner="slopp", world="closed"),
    dict(learner="slopp-tree", world="closed", vtree="balanced"),
    dict(learner="slopp-tree", world="open", vtree="random"),
    dict(learner="chow-liu"),
    dict(learner="learnpsdd", steps=20),
]


@pytest.fixture(params=range(len(SETTINGS)), ids=lambda i: "-".join(str(v) for v in SETTINGS[i].values()))
def psdd(request):
    seed = request.param
    return slopp.learn(slopp.Records(rows(seed), names=NAMES), seed=seed, **SETTINGS[seed])


@pytest.fixture
def table(psdd):
    return table_of(psdd)
