"""What is given: both probabilities of worlds, against brute force, and other ways to give it."""

import numpy as np
import pytest
import slopp
from conftest import NAMES, rows

GIVEN = [("a, !d", lambda w: w["a"] and not w["d"]), ("a | d", lambda w: w["a"] or w["d"]), (None, lambda w: True)]


@pytest.mark.parametrize("given,holds", GIVEN)
def test_worlds_know_both_probabilities(psdd, table, given, holds):
    where = table.where(holds)
    total = table.p[where].sum()
    best = table.p[where].max()
    for world in (psdd.mpe(given=given), psdd.top_worlds(2, given=given)[0]):
        assert world.probability == pytest.approx(best)
        assert world.probability_given == pytest.approx(best / total)
        assert np.exp(world.log_probability_given) == pytest.approx(world.probability_given)
    found = psdd.marginal_map(["b", "c"], given=given)
    both = max(table.p[where & (table.worlds[:, 1:3] == values).all(axis=1)].sum()
               for values in [(0, 0), (0, 1), (1, 0), (1, 1)])
    assert found.probability == pytest.approx(both)
    assert found.probability_given == pytest.approx(both / total)


def test_completions_know_both_probabilities(psdd, table):
    cells = rows(3, 5).astype(float)
    cells[:, [1, 4]] = np.nan
    for record, worlds in zip(cells, psdd.top_worlds(2, cells), strict=True):
        total = table.p[table.agreeing(record)].sum()
        for world in worlds:
            assert world.probability_given == pytest.approx(world.probability / total)


def test_mixtures_know_both_probabilities():
    mixture = slopp.learn(slopp.Records(rows(1), names=NAMES), learner="slopp-bag", components=2)
    for given in ("a", "a | b"):
        world, _ = mixture.mpe_bounds(given=given)
        assert world.probability_given == pytest.approx(world.probability / mixture.prob(given))


def test_cards_tell_both():
    psdd = slopp.example()
    assert "given the evidence" in psdd.mpe(given="X1")._repr_html_()
    assert "given" not in psdd.mpe()._repr_html_()


def test_seeds():
    psdd = slopp.learn(rows(0, 300))
    np.testing.assert_array_equal(psdd.sample(50), psdd.sample(50, seed=0))
    assert (psdd.sample(50, seed=None) != psdd.sample(50, seed=None)).any()
    unknown = np.full((50, 6), np.nan)
    assert (psdd.complete(unknown, seed=None) != psdd.complete(unknown, seed=None)).any()
    with pytest.raises(slopp.errors.ArgumentError, match="seed is -1"):
        psdd.sample(5, seed=-1)


def test_a_series_is_given():
    pandas = pytest.importorskip("pandas")
    psdd = slopp.learn(slopp.Records(rows(0, 300), names=NAMES))
    series = pandas.Series({"a": 1, "d": None, "b": 0})
    assert psdd.prob("c", given=series) == psdd.prob("c", given={"a": 1, "b": 0})
    with pytest.raises(slopp.errors.FormulaError, match="the question or evidence is"):
        psdd.prob("c", given=pandas.DataFrame({"a": [1]}))
