"""The estimator keeps to the interface of scikit-learn."""

import pickle
import re
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
import slopp
from conftest import NAMES, rows, table_of
from slopp.learning import TABLE

sklearn = pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import KBinsDiscretizer  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

CELLS = rows(0, 300)

GUIDE = Path(__file__).parents[2] / "docs/guide/python.md"


@pytest.mark.filterwarnings("ignore:y is not looked at")
def test_all_checks_with_binarize():
    results = check_estimator(slopp.PSDD(binarize=0.0), on_skip=None)
    assert {result["status"] for result in results} <= {"passed", "skipped"}
    assert sum(result["status"] == "passed" for result in results) >= 40


@pytest.mark.filterwarnings("ignore:y is not looked at")
@pytest.mark.parametrize("model,reason", [
    (slopp.PSDD(), "neither 0 nor 1"), (slopp.PSDD(target=0, binarize=0.0), "y is not the column"),
], ids=["real numbers", "y"])
def test_checks_that_cannot_pass_are_those_of_the_guide(model, reason):
    settings = "PSDD()" if model.target is None else "PSDD(target=0, binarize=0.0)"
    item = GUIDE.read_text().partition(f"- `{settings}`, because")[2].partition("\n- ")[0]
    listed = set(re.findall(r"`(check_\w+)`", item))
    assert len(listed) > 20
    results = check_estimator(model, on_fail=None, on_skip=None)
    failed = {result["check_name"] for result in results if result["status"] == "failed"}
    # Another version of scikit-learn may lack some.
    assert failed == listed & {result["check_name"] for result in results}
    for result in results:
        if result["status"] == "failed":
            error, told = result["exception"], []
            while error is not None:
                told.append(str(error))
                error = error.__cause__ or error.__context__
            assert any(reason in text for text in told), (result["check_name"], told)


def test_scores_and_samples():
    model = slopp.PSDD(world="closed").fit(CELLS)
    table = table_of(model.model_)
    np.testing.assert_allclose(np.exp(model.score_samples(table.worlds)), table.p, atol=1e-12)
    assert model.score(CELLS) == pytest.approx(model.score_samples(CELLS).mean())
    drawn = model.sample(20_000, random_state=1)
    np.testing.assert_allclose(drawn.mean(axis=0), table.marginals(), atol=0.03)
    np.testing.assert_array_equal(drawn, model.sample(20_000, random_state=1))


def test_predictions_are_exact_conditionals():
    model = slopp.PSDD(target=2).fit(CELLS)
    table = table_of(model.model_)
    cells = CELLS[:40].astype(float)
    cells[np.random.default_rng(0).random(cells.shape) < 0.3] = np.nan
    found = model.predict_proba(cells)
    others = cells.copy()
    others[:, 2] = np.nan
    for row, shares in zip(others, found, strict=True):
        agree = table.agreeing(row)
        assert shares[1] == pytest.approx(table.p[agree & table.worlds[:, 2]].sum() / table.p[agree].sum())
    np.testing.assert_array_equal(model.predict(cells), found.argmax(axis=1) == 1)
    np.testing.assert_array_equal(model.classes_, [False, True])
    # What stands in the column of the target does not matter.
    flipped = cells.copy()
    flipped[:, 2] = 1 - flipped[:, 2]
    np.testing.assert_array_equal(model.predict_proba(flipped), found)


def test_the_target_can_be_set_later_and_be_left_out():
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(0)
    colours = random.choice(["red", "green", "blue"], 300)
    frame = pandas.DataFrame({"hot": colours == "red", "colour": colours, "old": random.random(300) < 0.5})
    model = slopp.PSDD().fit(frame)
    assert not hasattr(model, "predict") and not hasattr(model, "classes_")
    model.set_params(target="colour")
    shares = model.predict_proba(frame.drop(columns="colour"))
    np.testing.assert_allclose(shares, model.predict_proba(frame))
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert list(model.classes_) == ["blue", "green", "red"]
    assert (model.predict(frame[frame.hot]) == "red").all()
    expected = model.model_.prob({"colour": "blue"}, given={"hot": False, "old": True})
    row = pandas.DataFrame({"hot": [False], "old": [True]})
    assert model.predict_proba(row)[0, 0] == pytest.approx(expected)
    drawn = model.sample(5)
    assert isinstance(drawn, pandas.DataFrame) and list(drawn.columns) == ["hot", "colour", "old"]


def test_impossible_rows():
    model = slopp.PSDD(world="closed", target=3, rules="x1 -> x2").fit(CELLS)
    impossible = np.array([[1, 0, 0, 0, 0, 0]])
    assert model.score_samples(impossible)[0] == -np.inf
    assert np.isnan(model.predict_proba(impossible)).all()
    with pytest.raises(slopp.errors.ImpossibleError, match="the first is row 0"):
        model.predict(impossible)


def test_clone_pickle_and_params():
    model = slopp.PSDD(learner="slopp-tree", world="closed", vtree="balanced", rules=["x1 -> x2"], random_state=3)
    again = clone(model)
    assert again.get_params() == model.get_params()
    fitted = model.fit(CELLS)
    restored = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(restored.score_samples(CELLS), fitted.score_samples(CELLS))
    assert repr(restored) == repr(fitted)


def score(model, cells):
    return model.score(cells)


def test_other_processes():
    model = slopp.PSDD().fit(CELLS)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        scores = list(pool.map(score, [model] * 3, [CELLS] * 3))
    assert scores == [model.score(CELLS)] * 3


def test_pipelines_and_searches():
    numbers = np.random.default_rng(0).normal(size=(200, 3))
    bins = KBinsDiscretizer(4, encode="onehot", strategy="uniform")
    pipeline = make_pipeline(bins, slopp.PSDD()).fit(numbers)
    assert np.isfinite(pipeline.score(numbers))
    scores = cross_val_score(slopp.PSDD(), CELLS, cv=3)
    assert scores.shape == (3,) and np.isfinite(scores).all()
    grid = GridSearchCV(slopp.PSDD(learner="slopp-tree"), {"world": ["open"], "vtree": ["balanced", "chow-liu"]}, cv=2)
    grid.fit(CELLS)
    assert grid.best_estimator_.score(CELLS) == pytest.approx(grid.score(CELLS))
    accuracy = cross_val_score(slopp.PSDD(target=5), CELLS, CELLS[:, 5], cv=3, scoring="accuracy")
    assert (accuracy > 0.9).all()
    for scoring in ("roc_auc", "neg_log_loss", "neg_brier_score"):
        scores = cross_val_score(slopp.PSDD(target=5), CELLS, CELLS[:, 5], cv=3, scoring=scoring, error_score="raise")
        assert np.isfinite(scores).all()


def test_sample_weight():
    weights = np.arange(len(CELLS)) % 3
    weighted = slopp.PSDD(learner="chow-liu").fit(CELLS, sample_weight=weights)
    repeated = slopp.PSDD(learner="chow-liu").fit(np.repeat(CELLS, weights, axis=0))
    np.testing.assert_allclose(weighted.score_samples(CELLS), repeated.score_samples(CELLS))


@pytest.mark.parametrize("act,error,match", [
    (lambda: slopp.PSDD().score_samples(CELLS), NotFittedError, "not fitted yet"),
    (lambda: slopp.PSDD().fit(CELLS).score_samples(CELLS[:, :3]), ValueError, "3 features, but PSDD is expecting 6"),
    (lambda: slopp.PSDD().fit(CELLS[:0]), ValueError, "0 sample"),
    (lambda: slopp.PSDD().fit(CELLS[:, :0]), ValueError, "0 feature"),
    (lambda: slopp.PSDD().fit(CELLS[0]), ValueError, "Reshape your data"),
    (lambda: slopp.PSDD().fit(np.array([[0.0, np.nan]])), ValueError, 'Input X contains NaN.*missing="em"'),
    (lambda: slopp.PSDD().fit(np.array([[0.0, np.inf]])), ValueError, "infinity"),
    (lambda: slopp.PSDD().fit(np.array([[0.0, 3.0]])), ValueError, 'row 0 of column "x2"'),
    (lambda: slopp.PSDD().fit(np.array([["a", "b"]])), ValueError, "could not convert string"),
    (lambda: slopp.PSDD().fit(np.array([["2020-01-01"]], dtype="M8[D]")), ValueError, "datetime64.* cannot be read"),
    (lambda: slopp.learn(np.array([[0.0, np.nan], [1.0, 1.0]])), ValueError, '1 of 2 records miss cells.*missing="em"'),
    (lambda: slopp.PSDD(learner="what").fit(CELLS), ValueError, "the learners are"),
    (lambda: slopp.PSDD(target=17).fit(CELLS).predict(CELLS), ValueError, "no column 17"),
    (lambda: slopp.PSDD(random_state=-1).fit(CELLS), ValueError, "random_state"),
    (lambda: slopp.PSDD().fit(CELLS).predict(CELLS), AttributeError, "which column"),
    (lambda: slopp.PSDD().fit(CELLS, sample_weight=np.zeros(300)), ValueError, "weight zero"),
])
def test_bad_input(act, error, match):
    with pytest.raises(error, match=match):
        act()


def test_frames_that_changed():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(CELLS, columns=NAMES)
    model = slopp.PSDD().fit(frame)
    assert list(model.feature_names_in_) == NAMES
    with pytest.raises(ValueError, match="feature names should match"):
        model.score_samples(frame.rename(columns={"a": "z"}))
    with pytest.raises(ValueError, match="0 sample"):
        model.score_samples(frame[:0])
    with pytest.warns(UserWarning, match="feature names"):
        model.score_samples(CELLS)


def test_without_scikit_learn():
    """NumPy is all that is needed."""
    code = """
import sys
for name in ("sklearn", "pandas", "polars", "pyarrow", "scipy", "tqdm"):
    sys.modules[name] = None
import numpy as np
import slopp
cells = np.random.default_rng(0).random((200, 4)) < 0.5
model = slopp.PSDD(target=1, random_state=2)
try:
    model.score(cells)
except ValueError as error:
    assert "not fitted yet" in str(error)
model.fit(cells)
assert model.predict_proba(cells).shape == (200, 2)
assert slopp.PSDD(**model.get_params()).get_params() == model.get_params()
assert repr(model) == "PSDD(random_state=2, target=1)", repr(model)
try:
    model.score_samples(cells[:, :2])
except ValueError as error:
    assert "expecting 4 features" in str(error)
print(type(slopp.learn({"a": [1, 0], "b": ["x", "y"]})).__name__)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "Psdd\n", done.stderr


def ordered_frame(count=400):
    """A target whose categories are in no order of the alphabet."""
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(1)
    level = random.choice(["low", "mid", "high"], count)
    return pandas.DataFrame({"level": pandas.Categorical(level, ["low", "mid", "high"], ordered=True),
                             "warm": level == "high", "cold": (level == "low") ^ (random.random(count) < 0.1)})


def test_classes_are_sorted_so_that_scorers_are_right():
    from sklearn.metrics import get_scorer, log_loss

    frame = ordered_frame()
    model = slopp.PSDD(target="level").fit(frame)
    assert list(model.classes_) == ["high", "low", "mid"]
    shares = model.predict_proba(frame)
    for i, level in enumerate(model.classes_):
        expected = model.model_.prob({"level": level}, given={"warm": False, "cold": True})
        assert model.predict_proba(frame.assign(warm=False, cold=True)[:1])[0, i] == pytest.approx(expected)
    assert (model.predict(frame[frame.warm]) == "high").all()
    own = shares[np.arange(len(frame)), [list(model.classes_).index(level) for level in frame.level]]
    assert get_scorer("neg_log_loss")(model, frame, frame.level) == pytest.approx(np.log(own).mean())
    assert log_loss(frame.level, shares, labels=model.classes_) == pytest.approx(-np.log(own).mean())
    # What cannot be compared stays as it is.
    mixed = {"value": ["b", 10, "b", 9] * 20, "hot": [1, 0, 1, 0] * 20}
    model = slopp.PSDD(target="value").fit(mixed)
    assert list(model.classes_) == list(model.columns_.categories["value"])
    assert model.predict({"hot": [1]})[0] == "b"


@pytest.mark.parametrize("learner", slopp.LEARNERS)
def test_the_world_is_that_of_the_learner_unless_given(learner):
    model = slopp.PSDD(learner=learner).fit(CELLS).model_
    assert model.origin["world"] == TABLE[learner]["world"]
    assert model == slopp.learn(CELLS, learner=learner)


@pytest.mark.parametrize("params,match", [
    ({"learner": "learnspn", "world": "closed"}, "only an open world"),
    ({"learner": "chow-liu", "effort": "best"}, "effort= belongs to slopp, slopp-bag, not to chow-liu"),
    ({"learner": "slopp-em", "effort": "best"}, "effort= belongs to .*, not to slopp-em"),
])
def test_parameters_that_a_learner_does_not_have_are_refused(params, match):
    with pytest.raises(slopp.errors.LearnError, match=match):
        slopp.PSDD(**params).fit(CELLS)
    slopp.PSDD(learner=params["learner"]).fit(CELLS)


@pytest.mark.filterwarnings("error")
def test_records_keep_their_columns():
    frame = ordered_frame()
    for data in (slopp.Records(frame), {"level": list(frame.level), "warm": list(frame.warm)}):
        drawn = slopp.PSDD().fit(data).sample(3)
        assert set(drawn["level"]) <= {"low", "mid", "high"}
    model = slopp.PSDD().fit(slopp.Records(frame))
    assert model.columns_.categories["level"] == ["low", "mid", "high"]
    assert model.sample(3).dtypes.to_dict() == frame.dtypes.to_dict()
    np.testing.assert_array_equal(model.score_samples(frame), slopp.PSDD().fit(frame).score_samples(frame))
    assert model.feature_names_in_.tolist() == list(frame.columns)
    assert not hasattr(model.fit(slopp.Records(CELLS)), "feature_names_in_")
    # Bins too, and weights.
    ages = {"age": [3, 17, 25, 31] * 20, "free": [1, 1, 0, 0] * 20}
    records = slopp.Records(ages, bins={"age": "child:18:adult"})
    weights = np.arange(80) % 3
    model = slopp.PSDD(learner="chow-liu").fit(records, sample_weight=weights)
    assert model.columns_ == records.columns
    same = slopp.PSDD(learner="chow-liu", bins={"age": "child:18:adult"}).fit(ages, sample_weight=weights)
    np.testing.assert_allclose(model.score_samples(ages), same.score_samples(ages))
    np.testing.assert_allclose(model.score_samples(records), same.score_samples(ages))
    with pytest.raises(slopp.errors.ArgumentError, match="come too late"):
        slopp.PSDD(bins={"age": 2}).fit(records)


def test_probabilities_of_classes_pack_their_rows_once(monkeypatch):
    from slopp import _slopp

    rows = {"colour": ["red", "green", "blue", "red"] * 20, "hot": [1, 0, 0, 1] * 20}
    model = slopp.PSDD(target="colour").fit(rows)
    expected = np.array([[model.model_.prob(f"colour={colour}", given=f"hot={hot}") for colour in model.classes_]
                         for hot in (1, 0)])
    packed, parts = [], _slopp.Parts
    monkeypatch.setattr(_slopp, "Parts", lambda *names: packed.append(names) or parts(*names))
    assert model.predict_proba({"hot": [1, 0]}) == pytest.approx(expected)
    assert len(packed) == 1
