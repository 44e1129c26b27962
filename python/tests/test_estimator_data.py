"""What the estimator is fitted to and asked about: kinds of data, targets, weights, and what is wrong with them."""

import warnings

import numpy as np
import pytest
import slopp
from conftest import NAMES, rows

pytest.importorskip("sklearn")
pandas = pytest.importorskip("pandas")
CELLS = rows(0, 300)
FRAME = pandas.DataFrame(CELLS, columns=NAMES)


@pytest.mark.parametrize("seed", range(3))
def test_weights_are_repetitions_in_any_order(seed):
    """Also of the default learner, which holds records out."""
    random = np.random.default_rng(seed)
    weights = random.integers(0, 4, len(CELLS))
    repeated = np.repeat(CELLS, weights, axis=0)
    expected = slopp.PSDD().fit(repeated).score_samples(CELLS)
    weighted = slopp.PSDD().fit(CELLS, sample_weight=weights)
    np.testing.assert_allclose(weighted.score_samples(CELLS), expected, rtol=1e-12)
    shuffled = slopp.PSDD().fit(repeated[random.permutation(len(repeated))])
    np.testing.assert_allclose(shuffled.score_samples(CELLS), expected, rtol=1e-12)


def test_records_are_predicted():
    colours = np.random.default_rng(0).choice(["red", "green", "blue"], 300)
    frame = FRAME.assign(colour=colours, a=colours == "red")
    for target in ("a", "colour"):
        model = slopp.PSDD(target=target).fit(slopp.Records(frame))
        expected = slopp.PSDD(target=target).fit(frame)
        np.testing.assert_array_equal(model.predict(slopp.Records(frame)), expected.predict(frame))
        np.testing.assert_array_equal(model.predict_proba(slopp.Records(frame)), expected.predict_proba(frame))
    unnamed = slopp.PSDD(target=2).fit(CELLS)
    np.testing.assert_array_equal(unnamed.predict(slopp.Records(CELLS)), unnamed.predict(CELLS))


def test_frames_go_by_position_where_the_fit_had_no_names():
    model = slopp.PSDD(target=2).fit(CELLS)
    with pytest.warns(UserWarning, match="fitted without feature names"):
        assert model.score(FRAME) == model.score(CELLS)
    with pytest.warns(UserWarning, match="fitted without feature names"):
        np.testing.assert_array_equal(model.predict_proba(FRAME), model.predict_proba(CELLS))
    for named in (dict(FRAME), slopp.Records(FRAME), FRAME.to_dict("records")):
        with pytest.warns(UserWarning, match="fitted without feature names"):
            np.testing.assert_array_equal(model.score_samples(named), model.score_samples(CELLS))
    own = slopp.Records(CELLS).to_pandas()[["x2", "x1", "x3", "x4", "x5", "x6"]]
    with pytest.warns(UserWarning, match="fitted without feature names"):
        np.testing.assert_array_equal(model.score_samples(own), model.score_samples(CELLS))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frame = pandas.DataFrame(CELLS)
        np.testing.assert_array_equal(model.score_samples(frame), model.score_samples(CELLS))
        np.testing.assert_array_equal(model.predict_proba(frame), model.predict_proba(CELLS))
        numbered = slopp.PSDD(target=2).fit(pandas.DataFrame(CELLS))
        assert numbered.score(CELLS) == model.score(CELLS)
    with pytest.warns(UserWarning), pytest.raises(ValueError, match="5 features"):
        model.score(FRAME[NAMES[:5]])


@pytest.mark.parametrize("target", ["zz", 6, -7, True, 2.5])
def test_targets_that_are_no_column_are_refused_in_fit(target):
    for data in (CELLS, FRAME):
        with pytest.raises(slopp.errors.RecordsError, match=f"there is no column {target!r} to predict"):
            slopp.PSDD(target=target).fit(data)


def test_numbers_that_are_names_of_columns():
    frame = pandas.DataFrame({5: CELLS[:, 0], 7: CELLS[:, 1], 0: CELLS[:, 3]})
    for target, column in ((5, 5), (7, 7), (0, 0), (1, 7), ("5", 5)):
        model = slopp.PSDD(target=target).fit(frame)
        unknown = frame.astype(object)
        unknown[column] = None
        expected = model.model_.prob({str(column): True}, records=unknown)
        np.testing.assert_allclose(model.predict_proba(frame)[:, 1], expected)


@pytest.mark.parametrize("cells,kind", [
    (CELLS, "b"), (CELLS.astype(int), "i"), (CELLS.astype(np.uint8), "u"), (CELLS.astype(np.float32), "f"),
    (FRAME, "b"), (FRAME.astype(int), "i"), (FRAME.astype("Int64"), "i"), (FRAME.astype("boolean"), "b"),
    (FRAME.astype(int).assign(b=FRAME["b"]), "i"), ({name: list(map(int, FRAME[name])) for name in NAMES}, "i"),
    (slopp.Records(FRAME.astype(int)), "i"), (slopp.Records(FRAME.astype(int)).split(0.5, 0.5)[0], "i"),
    (slopp.configurations(50), "b"),
])
def test_classes_are_of_the_type_of_the_column(cells, kind):
    model = slopp.PSDD(target=2, learner="chow-liu").fit(cells)
    assert model.classes_.dtype.kind == kind and model.classes_.tolist() == [0, 1]
    assert model.predict(cells).dtype == model.classes_.dtype


def test_y_without_a_target():
    with pytest.warns(UserWarning, match="y is not looked at.*sample_weight="):
        model = slopp.PSDD().fit(CELLS, np.ones(300))
    assert model.model_ == slopp.PSDD().fit(CELLS).model_
    for target in (None, 2):
        with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[300, 3\]"):
            slopp.PSDD(target=target).fit(CELLS, CELLS[:3, 2])


def test_lists_of_dicts():
    dicts = FRAME.to_dict("records")
    model = slopp.PSDD(target="c").fit(dicts)
    assert model.feature_names_in_.tolist() == NAMES
    assert model.score(dicts) == slopp.PSDD().fit(FRAME).score(FRAME)
    without = [{name: value for name, value in row.items() if name != "c"} for row in dicts]
    np.testing.assert_array_equal(model.predict(without), model.predict(dicts))
