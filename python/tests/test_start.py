"""Refining a model: its variables are matched by name."""

import numpy as np
import pytest
import slopp
from slopp.errors import ArgumentError, SloppError

P, Q = [0, 1, 1, 1] * 20, [0, 0, 0, 1] * 20


@pytest.mark.parametrize("learner", ["learnpsdd", "strudel"])
def test_columns_in_another_order_are_matched_by_name(learner):
    start = slopp.learn({"p": P, "q": Q}, rules=["q -> p"])
    swapped = {"q": Q, "p": P}
    model = slopp.learn(swapped, learner=learner, start=start)
    assert model.entails("q -> p") and not model.entails("p -> q")
    assert np.all(model.possible(swapped))


def test_other_columns_are_refused():
    start = slopp.learn({"col": ["r", "g", "b", "r"] * 20, "x": P}, world="closed")
    for data in ({"col": ["r", "g", "y", "r"] * 20, "x": P}, {"s": P, "t": Q}):
        with pytest.raises(SloppError):
            slopp.learn(data, learner="learnpsdd", start=start)
    with pytest.raises(ArgumentError, match="brings its own columns"):
        slopp.learn({"a": [1, 2, 3] * 9}, learner="learnpsdd", start=start, bins={"a": 2})
    bag = slopp.learn({"p": P, "q": Q}, learner="slopp-bag", components=2)
    with pytest.raises(ArgumentError, match="start is a Mixture"):
        slopp.learn({"p": P, "q": Q}, learner="learnpsdd", start=bag)


def test_classes_that_columns_divide_are_told():
    data = {"c": ["a", "b", "c", "d"] * 50, "e": ["a", "b", "d", "c"] * 50}
    with pytest.warns(UserWarning, match="more than max_classes=1"):
        slopp.learn(data, max_classes=1)
