"""Arguments of a wrong type: errors of the package, which name them."""

import pickle

import numpy as np
import pytest
import slopp
from conftest import NAMES, rows
from slopp.errors import ArgumentError, FormulaError, LearnError, NamesError, RecordsError

CELLS = rows(0)
MODEL = slopp.learn(slopp.Records(CELLS, names=NAMES), world="closed")


@pytest.mark.parametrize("act,match", [
    (lambda: slopp.PSDD(bins=3).fit(CELLS), "bins is 3"),
    (lambda: slopp.PSDD(categories=3).fit(CELLS), "categories is 3"),
    (lambda: slopp.PSDD(closed=3).fit(CELLS), "closed is 3"),
    (lambda: slopp.PSDD(learner=3).fit(CELLS), "learner is 3"),
    (lambda: slopp.learn(CELLS, learner=None), "learner is None"),
    (lambda: slopp.PSDD(options={"seed": 3}).fit(CELLS), "options has 'seed'.*random_state="),
    (lambda: slopp.PSDD(options={"world": "open"}).fit(CELLS), "options has 'world'.*world="),
    (lambda: slopp.Mixture(3), "components are 3"),
    (lambda: slopp.Mixture([MODEL]), "pairs of a weight and a circuit"),
    (lambda: slopp.Vtree(3), "text is 3"),
    (lambda: slopp.Psdd(), "a Psdd is not made by hand: slopp.learn"),
    (lambda: slopp.Circuit(), "a Circuit is not made by hand"),
    (lambda: slopp.Spn(3), "a Spn is not made by hand"),
    (lambda: slopp.Sdd(), "an Sdd is not made by hand"),
])
def test_arguments_are_named(act, match):
    with pytest.raises(ArgumentError, match=match):
        act()


def test_records_name_all_columns_that_are_missing():
    with pytest.raises(RecordsError, match="no column b, c, d, e, f: every column must be there, with None"):
        MODEL.log_likelihoods([{"a": 1}])
    known = MODEL.log_likelihoods([{"a": 1, **dict.fromkeys("bcdef")}])
    assert known[0] == pytest.approx(MODEL.log_probability("a"))
    with pytest.raises(RecordsError, match="these names were made up"):
        slopp.learn(CELLS).log_likelihoods({name: CELLS[:, i] for i, name in enumerate(NAMES)})


def test_rules_about_some_columns_of_a_frame():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 0, None], "colour": ["red", "blue", None], "price": [1.5, 2.5, 3.5],
                              "name": ["x", "y", "z"]})
    rules = slopp.Rules(["a", '"colour=red" -> a', '!"colour=blue"', '"colour=green"'])
    expected = [['"colour=green"'], ["a", '!"colour=blue"', '"colour=green"'], []]
    assert rules.broken_by(frame) == expected
    assert rules.broken_by(slopp.Records(frame[["colour", "a"]])) == expected
    assert slopp.Rules(["b"]).broken_by(slopp.Records(CELLS, names=NAMES)) == [[] if b else ["b"] for b in CELLS[:, 1]]
    with pytest.raises(RecordsError, match="no column nope; the columns are"):
        slopp.Rules(["nope -> a"]).broken_by(frame)


def test_names_that_a_model_does_not_have():
    assert slopp.diff(MODEL, "a -> b")["only_first"] == 0
    for wrong in ("engine_electrik | b", ["engine_electrik | b"], slopp.Rules(["engine_electrik | b"]),
                  slopp.Rules(["engine_electrik | b"]).compile(), slopp.learn(CELLS)):
        for pair in ((MODEL, wrong), (wrong, MODEL)):
            with pytest.raises((NamesError, FormulaError), match='no variable "(engine_electrik|x1|a)"'):
                slopp.diff(*pair)
            with pytest.raises((NamesError, FormulaError), match='no variable "(engine_electrik|x1|a)"'):
                slopp.equivalent(*pair)
    # Rules against rules speak of all names.
    assert slopp.diff("a | b", slopp.Rules(["a | b | c"]))["only_second"] == 1


def test_rules_and_diagrams_are_equal():
    rules = slopp.Rules(["a -> b", "b -> c"])
    assert rules == slopp.Rules("a -> b\nb -> c") and rules != slopp.Rules(["a -> b"]) and rules != "a -> b"
    assert slopp.Rules(["a"], ["a", "b"]) != slopp.Rules(["a"])
    vtree = slopp.Vtree("((a,b),c)")
    assert rules.compile(vtree) == slopp.Rules(["!a | b", "c | !b"]).compile(vtree)
    assert rules.compile(vtree) != rules.compile(slopp.Vtree("(a,(b,c))", ["a", "b", "c"]))
    assert rules.compile(vtree) != slopp.Rules(["a -> b", "c | !c"]).compile(vtree)


def test_conflicts_say_how_few_they_are():
    found = slopp.Rules(["a -> b", "c | d", "a & !b"]).conflict()
    assert found == ["a -> b", "a & !b"] and found.minimal and found.smallest
    kept = pickle.loads(pickle.dumps(found))
    assert kept == found and kept.minimal and kept.smallest
    assert slopp.Rules(["a -> b"]).conflict() is None
    # Without variables there are no worlds to compile, but there may be a contradiction.
    assert slopp.Rules("true").conflict() is None
    assert slopp.Rules(["true", "false"]).conflict() == ["false"]


def test_rules_as_clauses():
    text = slopp.Rules(["exactly(1, a, b, c)", "a -> d", "a | !d"]).cnf()
    assert text.splitlines()[1:] == ["p cnf 4 6", "1 2 3 0", "-1 -2 0", "-1 -3 0", "-2 -3 0", "-1 4 0", "1 -4 0"]
    many = ", ".join(f"v{i}" for i in range(30))
    with pytest.raises(FormulaError, match="not a conjunction of few clauses: at_most"):
        slopp.Rules([f"at_most(15, {many})"]).cnf()
    with pytest.raises(FormulaError, match="not a conjunction of few clauses: exactly"):
        slopp.Rules([f"exactly(20, {', '.join(f'v{i}, !v{i}' for i in range(20))})"]).cnf()
    found = slopp.learn([[1, 1], [0, 1], [0, 0]] * 20, world="closed").rules()
    assert found.cnf() == "p cnf 2 1\n-1 2 0\n"


@pytest.mark.parametrize("act,error,match", [
    (lambda: MODEL.entails("nope"), FormulaError, 'column 1: there is no variable "nope"; the names are "a"'),
    (lambda: MODEL.prob("a &&& b"), FormulaError, "column 5: expected a variable"),
    (lambda: slopp.Records([[0, 3]]), RecordsError, r'"x2" is 3, neither.*categories=\["x2"\]'),
    (lambda: slopp.Records([[0.0, 0.5]]), RecordsError, '"x2" is 0.5, neither'),
    (lambda: slopp.learn(CELLS, learner="slopp-bag", components=0), LearnError, "components= is 0"),
    (lambda: slopp.Records(CELLS, max_values=0), ArgumentError, "max_values is 0"),
    (lambda: slopp.PSDD().fit(CELLS).score(CELLS, sample_weight=[1]), RecordsError, "expected"),
    (lambda: slopp.PSDD().fit(CELLS).score(CELLS, sample_weight=np.zeros(60)), RecordsError, "weight zero"),
])
def test_errors_speak_of_what_was_given(act, error, match):
    with pytest.raises(error, match=match):
        act()


def test_bins_have_short_names():
    records = slopp.Records({"age": np.random.default_rng(0).random(100)}, bins={"age": 4})
    cuts = records.columns[0].cuts
    assert all(len(str(cut)) <= 6 for cut in cuts) and records.columns[0].labels[0] == f"..{cuts[0]}"
    np.testing.assert_array_equal(records.to_numpy().sum(axis=0), [25] * 4)


def test_vtrees_over_columns():
    data = {"a colour": ["red", "blue", "dark green"] * 20, "big": [1, 0, 1] * 20, "old": [1, 0, 0, 0] * 15}
    for text in ("(a colour,(big,old))", '( "a colour" , (big,old))'):
        model = slopp.learn(data, vtree=text)
        assert model.vtree.order == [*model.columns[0].variables, "big", "old"]
    variables = slopp.Vtree("(((a colour=blue,a colour=dark green),a colour=red),(big,old))", model.names)
    assert slopp.learn(data, vtree=str(variables)).vtree == variables
    assert slopp.PSDD(vtree="((old,big),a colour)").fit(data).model_.vtree.order[:2] == ["old", "big"]


def test_stages_end_done():
    told = []
    slopp.learn(CELLS, progress=lambda *stage: told.append(stage))
    last = {what: (done, steps) for what, done, steps in told}
    assert last and all(done >= steps for done, steps in last.values()), last


def test_scores_are_weighted():
    model = slopp.PSDD().fit(CELLS)
    weights = np.arange(60) % 3
    expected = model.score(np.repeat(CELLS, weights, axis=0))
    assert model.score(CELLS, sample_weight=weights) == pytest.approx(expected)


@pytest.mark.filterwarnings("error")
def test_lazy_frames():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(CELLS, schema=NAMES)
    assert slopp.PSDD().fit(frame.lazy()).score(frame.lazy()) == slopp.PSDD().fit(frame).score(frame)
