"""What is possible beyond the records: closed and open columns, sizes, the base of a teacher; and scores of it."""

import itertools
import pickle
import warnings

import numpy as np
import pytest
import slopp
from conftest import NAMES, rows, table_of
from slopp.errors import ArgumentError, FormulaError, KindError, LearnError, NamesError

CELLS = rows(0, 300)
RECORDS = slopp.Records(CELLS, names=NAMES)
WORLDS = list(itertools.product([False, True], repeat=len(NAMES)))


def seen(group):
    return {tuple(row) for row in CELLS[:, [NAMES.index(name) for name in group]].tolist()}


def possible_worlds(model):
    return {world for world in WORLDS if model.prob(dict(zip(NAMES, world, strict=True))) > 0}


@pytest.mark.parametrize("closed,groups", [
    (["a", "b"], [["a", "b"]]),
    ("a, b", [["a", "b"]]),
    ([["a", "b"], ["d", "e", "f"]], [["a", "b"], ["d", "e", "f"]]),
    (["a,b", ["d", "e", "f"]], [["a", "b"], ["d", "e", "f"]]),
    ([["a"], ["b"]], [["a"], ["b"]]),
    ((), []),
    (None, []),
])
def test_names_alone_are_one_group(closed, groups):
    model = slopp.learn(RECORDS, closed=closed)
    expected = {world for world in WORLDS if all(
        tuple(world[NAMES.index(name)] for name in group) in seen(group) for group in groups)}
    assert possible_worlds(model) == expected
    assert model.origin.get("closed", "") == "; ".join(",".join(group) for group in groups)


@pytest.mark.parametrize("learner", ["slopp", "slopp-tree", "slopp-bag", "slopp-em", "slopp-kmeans", "chow-liu"])
def test_open_columns_in_a_closed_world(learner):
    """Every record is possible, with any value of the open columns; less is than in an open world."""
    model = slopp.learn(RECORDS, learner=learner, open=["c", "f"])
    allowed = possible_worlds(model)
    for row in CELLS.tolist():
        for c, f in itertools.product([False, True], repeat=2):
            assert tuple([row[0], row[1], c, row[3], row[4], f]) in allowed, row
    # The clusters of k-means tell too little apart here.
    assert len(allowed) < len(WORLDS) or learner == "slopp-kmeans"
    assert (model.origin["world"], model.origin["open"]) == ("closed", "c,f")
    table = table_of(model) if isinstance(model, slopp.Circuit) else None
    assert table is None or table.p.sum() == pytest.approx(1)


def test_open_columns_of_the_estimator_and_with_categories():
    model = slopp.PSDD(open=["c"]).fit(slopp.Records(CELLS[:12], names=NAMES)).model_
    assert model == slopp.learn(slopp.Records(CELLS[:12], names=NAMES), open="c")
    assert slopp.PSDD(open=["c"], world="closed").fit(slopp.Records(CELLS[:12], names=NAMES)).model_ == model
    data = {"colour": ["red", "green"] * 20, "hot": [1, 0] * 20, "size": ["s", "m", "l", "s"] * 10}
    model = slopp.learn(data, open=["size"])
    assert model.prob("colour=red & !hot") == 0 and model.prob("colour=red & hot & size=m") > 0
    assert model.model_count() == 6


@pytest.mark.parametrize("options,error,match", [
    (dict(open=["nobody"]), NamesError, 'open= names "nobody"'),
    (dict(open=[]), ArgumentError, "open= names no column"),
    (dict(open=["a"], world="open"), LearnError, "leave one of them out"),
    (dict(open=["a"], closed=["b"]), LearnError, "leave one of them out"),
    (dict(open=["a"], learner="learnspn"), LearnError, "only an open world.*leave open= out"),
    (dict(open=["a"], learner="learnpsdd", start=slopp.learn(RECORDS)), LearnError, "given by start= is kept"),
])
def test_bad_open(options, error, match):
    with pytest.raises(error, match=match):
        slopp.learn(RECORDS, **options)


def test_sizes_hold_where_columns_are_closed_or_it_is_said():
    cars = slopp.configurations(1000, seed=1)
    closed = [["engine_electric", "fast_charging", "heat_pump"]]
    whole = slopp.learn(cars, closed=closed).size["elements"]
    with warnings.catch_warnings():
        # So small a model may well be unfaithful, and says so.
        warnings.filterwarnings("error", message=".* elements")
        model = slopp.learn(cars, closed=closed, max_elements=whole // 2)
    assert model.size["elements"] <= whole // 2
    assert model.origin["max_elements"] == str(whole // 2)
    least = len(cars.names) - 1
    with pytest.warns(UserWarning, match=f"elements are more than max_elements={least}"):
        assert slopp.learn(cars, closed=closed, max_elements=least).size["elements"] > least


def test_a_refinement_keeps_its_pseudocount_and_its_size():
    model = slopp.learn(RECORDS, learner="slopp+learnpsdd", max_elements=12, pseudocount=2.5)
    assert model.size["elements"] <= 12
    assert float(model.origin["pseudocount"]) == 2.5


def test_a_student_keeps_the_base_of_its_teacher():
    few = slopp.Records(CELLS[:40], names=NAMES)
    teacher = slopp.learn(few, world="closed")
    student = slopp.distil(teacher, few, samples=2000)
    assert possible_worlds(student) <= possible_worlds(teacher) != set(WORLDS)
    assert student.origin["base"] == "of the teacher" and isinstance(student, slopp.Psdd)
    free = slopp.distil(teacher, few, samples=2000, free=True)
    assert possible_worlds(free) == set(WORLDS) and "base" not in free.origin
    with pytest.raises(LearnError, match="impossible for the teacher; free=True"):
        slopp.distil(teacher, RECORDS, samples=2000)
    assert possible_worlds(slopp.distil(teacher, RECORDS, samples=2000, free=True)) == set(WORLDS)


def test_a_student_obeys_rules():
    student = slopp.distil(slopp.learn(RECORDS), RECORDS, samples=2000, rules=["a -> b"])
    assert student.entails("a -> b") and student.model_count() == 48
    assert "a -> b" in student.origin["rules"]
    with pytest.raises(slopp.errors.RecordsError, match="break a rule"):
        slopp.distil(slopp.learn(RECORDS), RECORDS, samples=2000, rules="b -> a")
    assert slopp.distil(slopp.learn(RECORDS), RECORDS, samples=2000, rules="b -> a",
                        on_violation="drop").entails("b -> a")


def test_a_rule_that_is_not_finished_is_told_and_swallows_no_other():
    data = {"colour": ["red", "green", "blue"] * 20, "hot": [1, 0, 0] * 20}
    with pytest.raises(FormulaError, match="rule 2 of the list: column 8"):
        slopp.learn(data, rules=["hot -> hot", "hot -> "])
    with pytest.raises(FormulaError, match="^line 2, column 8"):
        slopp.learn(data, rules="hot -> hot\nhot -> ")
    with pytest.raises(FormulaError, match="rule 1 of the list"):
        slopp.Rules(["a ->", "b", "c"])
    assert len(slopp.Rules("a ->\nb\nc")) == 2


def test_repair_where_every_record_breaks_a_rule():
    cells = np.array([[True, False], [True, False]])
    records = slopp.Records(cells, names=["a", "b"])
    with pytest.raises(slopp.errors.RecordsError, match="every record breaks a rule"):
        slopp.learn(records, rules="a -> b", on_violation="drop")
    assert slopp.learn(records, rules="a -> b", on_violation="repair").entails("a -> b")


def test_noise_of_mixtures():
    parts = [slopp.learn(RECORDS, learner=learner) for learner in ("slopp", "factorised")]
    mixture = slopp.Mixture(zip([0.75, 0.25], parts, strict=True))
    expected = np.logaddexp(*(np.log(weight) + part.log_likelihoods_noisy(CELLS, 0.1)
                              for weight, part in zip([0.75, 0.25], parts, strict=True)))
    np.testing.assert_allclose(mixture.log_likelihoods_noisy(CELLS, 0.1), expected)
    fit = mixture.fit_noise(CELLS)
    assert mixture.log_likelihoods_noisy(CELLS, fit["noise"]).mean() == pytest.approx(fit["log_likelihood"])


def test_scores():
    closed = slopp.learn(slopp.Records(CELLS[:20], names=NAMES), world="closed")
    cells = np.vstack([CELLS[:20], ~CELLS[:20]])
    weights = np.arange(1.0, 41.0)
    found = closed.eval(slopp.Records(cells, names=NAMES, weights=weights))
    logs = closed.log_likelihoods(cells)
    possible = logs > -np.inf
    assert found["records"] == weights.sum() and 0 < found["impossible"] == weights[~possible].sum()
    assert found["log_likelihood"] == pytest.approx((weights * logs)[possible].sum())
    assert found["log_likelihood_per_record"] is None
    assert found["log_likelihood_per_possible_record"] == pytest.approx(
        np.average(logs[possible], weights=weights[possible]))
    assert closed.eval(CELLS[:20])["log_likelihood_per_record"] == pytest.approx(logs[:20].mean())
    noisy = closed.eval(cells, noise=0.1)
    assert noisy["impossible"] == 0 and noisy["impossible_without_noise"] == (~possible).sum()
    assert noisy["log_likelihood"] == pytest.approx(closed.log_likelihoods_noisy(cells, 0.1).sum())
    auto = closed.eval(cells, noise="auto")
    assert auto["noise_by"] == "data" and auto["log_likelihood"] >= noisy["log_likelihood"] - 1e-6
    chosen = closed.eval(cells, noise="auto", valid=CELLS)
    assert chosen["noise_by"] == "valid" and chosen["noise"] == closed.fit_noise(CELLS)["noise"]
    for options in (dict(noise=0.7), dict(noise="much"), dict(noise=0.1, valid=CELLS), dict(valid=CELLS)):
        with pytest.raises(ArgumentError, match="noise"):
            closed.eval(cells, **options)
    with pytest.raises(KindError, match="noisy channel"):
        slopp.learn(RECORDS, learner="learnspn").eval(cells, noise=0.1)


def test_comparison():
    a, b = (slopp.learn(RECORDS, learner="chow-liu", pseudocount=weight) for weight in (1.0, 5.0))
    found = slopp.compare(a, b)
    p, q = table_of(a).p, table_of(b).p
    assert found["kl_a_b"] == pytest.approx((p * np.log(p / q)).sum())
    assert found["kl_b_a"] == pytest.approx((q * np.log(q / p)).sum())
    assert found["same_structure"] and found["a"]["model_count"] == 64
    assert found["b"]["entropy"] == pytest.approx(-(q * np.log(q)).sum())
    assert "kl_a_b" in found._repr_html_()
    with pytest.raises(KindError, match="kl_divergence"):
        slopp.compare(a, slopp.learn(RECORDS, learner="learnspn"))
    with pytest.raises(ArgumentError, match="b is 3"):
        slopp.compare(a, 3)


def test_nearest_counts_a_column_once():
    data = {"colour": ["red", "green", "blue"] * 20, "hot": [1, 0, 0] * 20}
    model = slopp.learn(data, world="closed")
    worlds, distances = model.nearest({"colour": ["red", "red"], "hot": [1, 0]})
    assert distances.tolist() == [0, 1]
    assert [worlds["colour"][0], bool(worlds["hot"][0])] == ["red", True]


def test_differences_know_columns():
    """That a column has one value goes without saying."""
    data = {"colour": ["red", "green", "blue"] * 20, "hot": [1, 0, 0] * 20}
    model = slopp.learn(data, world="closed")
    assert model.model_count() == 3
    found = slopp.diff(model, "colour=red <-> hot")
    assert (found["only_first"], found["only_second"], found["both"]) == (0, 0, 3)
    assert slopp.equivalent(model, ["colour=red -> hot", "hot -> colour=red"])
    assert not slopp.equivalent(model, "colour=red -> hot")


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_worlds_in_kind(kind):
    """A model tells worlds as what it was learned from."""
    columns = {"colour": ["red", "green", "blue", "red"] * 10, "hot": [True, False, False, True] * 10}
    frame = slopp.Records(columns)._to(kind)
    model = slopp.learn(frame)
    again = pickle.loads(pickle.dumps(model))
    conditioned = model.given("hot")
    for made in (model.sample(5), model.worlds(), again.sample(5), conditioned.sample(5, given="colour=red"),
                 model.fit(frame).sample(5), slopp.learn(slopp.Records(frame).split(0.5, 0.5)[0]).sample(5),
                 slopp.distil(model, frame, samples=500).sample(5), slopp.PSDD().fit(frame).sample(5)):
        assert type(made) is type(frame)
        assert list(made.column_names if kind == "arrow" else made.columns) == ["colour", "hot"]
        assert set((made.to_pandas() if kind != "pandas" else made)["colour"]) <= {"red", "green", "blue"}
    assert model.sample(0) is not None and len(model.sample(0)) == 0


def test_worlds_of_arrays_and_files(tmp_path):
    model = slopp.learn(CELLS)
    assert isinstance(model.sample(3), np.ndarray) and model.sample(3).dtype == bool
    model.write(tmp_path / "it.psdd")
    assert (slopp.read(tmp_path / "it.psdd").sample(3) == model.sample(3)).all()
    columns = slopp.learn({"colour": ["red", "green"] * 10, "hot": [1, 0] * 10}).sample(3)
    assert isinstance(columns, dict) and list(columns) == ["colour", "hot"]
