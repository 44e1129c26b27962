"""What type checkers know of the package: `test_types.py` has mypy look at this, and it is run as well."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import slopp

if TYPE_CHECKING:
    from typing_extensions import assert_type
else:
    def assert_type(value: object, kind: object) -> object:
        return value

Floats = npt.NDArray[np.float64]

cars = slopp.configurations(500, seed=1)
psdd = slopp.learn(cars, world="closed", max_elements=200)
assert_type(psdd, slopp.Psdd)
assert_type(cars[0], slopp.Values[Any])
assert_type(cars[:5], slopp.Records)
assert_type(slopp.learn(cars, learner="slopp-bag", components=2), slopp.Mixture)
assert_type(slopp.learn(cars, learner="learnspn"), slopp.Spn)
assert_type(slopp.learn(cars, learner=slopp.LEARNERS[0]), slopp.Model)
assert_type(psdd.given("engine_electric"), slopp.Psdd)
assert_type(psdd.fit(cars), slopp.Psdd)
assert_type(psdd.prob("engine_electric"), float)
assert_type(psdd.prob(), float)
assert_type(psdd.prob("engine_electric", cars), Floats)
assert_type(psdd.prob(records=cars), Floats)
assert_type(psdd.marginals(), slopp.Values[float])
assert_type(psdd.marginals(np.zeros((1, 24), np.int8)), Floats)
assert_type(psdd.possible(cars), npt.NDArray[np.bool_])
assert_type(psdd.mpe(), slopp.World)
assert_type(psdd.mpe().log_probability, float)
assert_type(psdd.mpe(given="engine_electric").probability_given, float)
assert_type(psdd.top_worlds(2)[0], slopp.World)
assert_type(psdd.top_worlds(3)[1:], slopp.Rows[slopp.World])
assert_type(psdd.top_worlds(2, cars.to_numpy()[:1]), list[slopp.Rows[slopp.World]])
assert_type(psdd.log_likelihoods(cars), Floats)
with tempfile.TemporaryDirectory() as folder:
    psdd.write(f"{folder}/it.psdd")
    assert_type(slopp.read(f"{folder}/it.psdd"), slopp.Model)
assert_type(slopp.PSDD(learner="chow-liu", world="closed", missing="drop").fit(cars).model_, slopp.Model)
assert_type(slopp.PSDD().fit(cars).score_samples(cars), Floats)
assert_type(psdd.model_count(), int)
assert_type(psdd.size["elements"], int)
assert_type(psdd.origin["learner"], str)
assert_type(psdd.eval(cars), slopp.Score)
assert_type(slopp.compare(psdd, psdd), slopp.Comparison)
assert_type(slopp.diff(psdd, psdd)["both"], int)
assert_type(slopp.distil(psdd, cars, samples=500), slopp.Psdd)
assert_type(slopp.Rules(["a -> b"]).compile().psdd(), slopp.Psdd)
