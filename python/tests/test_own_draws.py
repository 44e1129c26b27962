"""What belongs to each record and to each cell: draws of its own, masks, and columns with one category."""

import numpy as np
import pytest
import slopp
from conftest import NAMES, rows
from slopp.errors import RecordsError

CELLS = rows(0)
MODEL = slopp.learn(slopp.Records(CELLS, names=NAMES))


def test_equal_records_have_draws_of_their_own():
    for model in (MODEL, slopp.Mixture([(0.5, MODEL), (0.5, MODEL)])):
        unknown = np.full((4000, 6), np.nan)
        unknown[::2, 0] = 1
        drawn = model.complete(unknown, seed=1)
        np.testing.assert_array_equal(drawn, model.complete(unknown, seed=1))
        assert len(np.unique(drawn, axis=0)) > 20 and drawn[::2, 0].all()
        expected = [MODEL.marginals(given="a")[name] for name in NAMES]
        np.testing.assert_allclose(drawn[::2].mean(axis=0), expected, atol=0.05)
        np.testing.assert_allclose(drawn[1::2].mean(axis=0), list(MODEL.marginals().values()), atol=0.05)


def test_one_category_is_a_category():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [0] * 50, "b": [0, 1] * 25})
    model = slopp.learn(frame, categories=["a"])
    assert model.names == ["a=0", "b"]
    np.testing.assert_array_equal(model.log_likelihoods(frame), model.log_likelihoods(frame.to_numpy()))
    array = np.c_[np.zeros(60, int), CELLS]
    for data in (array, pytest.importorskip("scipy.sparse").csr_matrix(array)):
        fitted = slopp.PSDD(categories=["x1"]).fit(data)
        assert fitted.model_.names[0] == "x1=0" and np.isfinite(fitted.score(data))
    assert np.isfinite(slopp.learn(array, categories=["x1"]).log_likelihoods(array)).all()
    with pytest.raises(RecordsError, match="unknown categories"):
        model.log_likelihoods(np.array([[1, 0]]))
    # A width of its own still is that of the variables.
    colours = slopp.learn({"colour": ["red", "blue"] * 20, "b": [0, 0, 1, 1] * 10})
    assert np.isfinite(colours.log_likelihoods(np.array([[1, 0, 1]]))).all()


def test_masks_are_missing_cells():
    masked = np.ma.masked_array(CELLS.astype(int), mask=np.zeros_like(CELLS))
    masked[:30, 2] = np.ma.masked
    missing = masked.filled(0).astype(float)
    missing[:30, 2] = np.nan
    fitted = slopp.PSDD(target=2, missing="em").fit(masked)
    assert fitted.model_ == slopp.PSDD(target=2, missing="em").fit(missing).model_
    np.testing.assert_array_equal(fitted.score_samples(masked), fitted.score_samples(missing))
    np.testing.assert_array_equal(fitted.predict_proba(masked), fitted.predict_proba(missing))
    with pytest.raises(ValueError, match="contains NaN"):
        slopp.PSDD().fit(masked)
    texts = np.ma.masked_array(np.array([["red"], ["blue"]], dtype=object), mask=[[False], [True]])
    known = slopp.learn({"c": ["red", "blue"] * 9})
    np.testing.assert_allclose(known.log_likelihoods(texts), [np.log(0.5), 0.0])


def test_bins_part_whatever_can_be_parted():
    for values in ([1] * 45 + [0] * 5, [0] * 45 + [1] * 5):
        records = slopp.Records({"a": values, "b": [0, 1] * 25}, bins={"a": 2})
        assert records.names == ["a=..1", "a=1..", "b"]
