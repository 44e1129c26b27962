"""What the command line has beside queries, and what is wrong with bad arguments."""

import datetime
import itertools
import pickle
import warnings

import numpy as np
import pytest
import slopp
from conftest import NAMES, rows, table_of
from slopp.errors import (
    ArgumentError,
    FormulaError,
    ImpossibleError,
    LearnError,
    NamesError,
    RecordsError,
    TooLargeError,
)

RECORDS = slopp.Records(rows(0, 300), names=NAMES)
PSDD = slopp.learn(RECORDS)
SPN = slopp.learn(RECORDS, learner="learnspn", min_records=20)
BAG = slopp.learn(RECORDS, learner="slopp-bag", components=3)
COLOURS = slopp.learn({"colour": ["red", "green", "blue", "red"] * 20, "hot": [1, 0, 0, 1] * 20})


def mean(model, records):
    return model.log_likelihoods(records).mean()


@pytest.mark.parametrize("teacher", [SPN, BAG, RECORDS], ids=["spn", "mixture", "records"])
def test_distil(teacher):
    train, valid = RECORDS.split(0.8, 0.2)
    options = {} if isinstance(teacher, slopp.Records) else dict(samples=2000)
    student = slopp.distil(teacher, train, valid=valid, seed=1, **options)
    assert isinstance(student, slopp.Psdd) and student.model_count() == 64
    assert table_of(student).p.sum() == pytest.approx(1)
    assert mean(student, valid) > mean(slopp.learn(train, learner="factorised"), valid)
    assert student == slopp.distil(teacher, train, valid=valid, seed=1, **options)
    assert float(student.origin["samples"]) == (300 if teacher is RECORDS else 2000)
    assert slopp.distil(teacher, train, max_elements=12, **options).size["elements"] <= 12


def test_distil_keeps_columns():
    colours = np.random.default_rng(0).choice(["red", "green", "blue"], 300)
    data = {"colour": colours, "hot": colours == "red"}
    student = slopp.distil(slopp.learn(data, learner="slopp-bag", components=2), data, samples=1000)
    assert student.model_count() == 6 and student.mpe(given={"hot": True})["colour"] == "red"
    with pytest.raises(ArgumentError, match="samples= is for a teacher that is a model"):
        slopp.distil(data, data, samples=10)


def test_curve():
    train, valid, test = RECORDS.split(0.6, 0.2, 0.2)
    sizes = slopp.curve(train, valid=valid, test=test, points=4)
    elements = [size["elements"] for size in sizes]
    assert elements == sorted(elements, reverse=True) and len(set(elements)) == len(elements) > 1
    assert sizes[0]["max_elements"] is None and all(s["elements"] <= s["max_elements"] for s in sizes[1:])
    again = slopp.learn(train, valid=valid, max_elements=sizes[1]["max_elements"])
    assert again.size["elements"] == elements[1]
    assert sizes[1]["test"] == pytest.approx(mean(again, test))
    assert sizes.svg().startswith("<svg") and "test" in sizes.svg()


def test_curve_without_valid():
    """A tenth is held out by seed, as by learners, and shown; it is not learned from."""
    sizes = slopp.curve(RECORDS, points=2, seed=3)
    assert list(sizes[0]) == ["max_elements", "elements", "train", "valid"] and "valid, " in sizes.svg()
    rest, held = RECORDS._held_out(3)
    assert (rest.total, held.total) == (270, 30) and rest.merged(held).distinct == RECORDS.distinct
    assert sizes == slopp.curve(rest, valid=held, points=2, seed=3) != slopp.curve(RECORDS, points=2, seed=4)
    few = slopp.curve(RECORDS[:15], points=1)
    assert "valid" not in few[0]
    with pytest.raises(LearnError, match="30 of 60 records miss cells"):
        slopp.curve({"a": [1, None] * 30, "b": [0, 1] * 30})


def test_curve_with_columns():
    """Every size is what learn makes within it, and what columns need beyond it is told."""
    def row(i):
        i = i * i + i // 3
        colour, size = i % 3, i * i % 7 % 4
        return {"colour": "rgb"[colour], "size": "smlx"[size], "shape": "vwxyz"[(colour + 2 * size + i // 5) % 5],
                "b": i % 5 % 2, "c": (colour * size + i) % 3 % 2}

    train, valid = (slopp.Records([row(i) for i in rows]) for rows in (range(400), range(1000, 1100)))
    with pytest.warns(UserWarning, match="more than max_elements"):
        sizes = slopp.curve(train, valid=valid)
    assert len(sizes) > 1 and sizes[-1]["elements"] > sizes[-1]["max_elements"]
    with pytest.warns(UserWarning, match="more than max_elements"):
        again = slopp.learn(train, valid=valid, max_elements=sizes[-1]["max_elements"])
    assert again.size["elements"] == sizes[-1]["elements"] and sizes[-1]["valid"] == pytest.approx(mean(again, valid))


def test_curve_of_one_variable():
    sizes = slopp.curve({"a": [1, 0, 1] * 20})
    assert [size["elements"] for size in sizes] == [0]
    assert "train, 0 elements" in sizes.svg() and "valid, 0 elements" in sizes.svg()


def test_mixtures_can_be_asked_what_refusals_say():
    with pytest.raises(slopp.errors.KindError) as refused:
        BAG.mpe()
    listed = str(refused.value).split("; ")[1].split(" need no determinism, and slopp.distil")[0]
    names = listed.replace(" and ", ", ").split(", ")
    asked = {
        "log_likelihoods": [RECORDS], "eval": [RECORDS], "prob": ["a"], "marginals": [], "sample": [],
        "possible": [RECORDS], "nearest": [RECORDS], "entails": ["a | !a"], "given": ["a"], "fit": [RECORDS],
    }
    assert names == list(asked)
    for name, arguments in asked.items():
        getattr(BAG, name)(*arguments)
    assert isinstance(slopp.distil(BAG, RECORDS, samples=500), slopp.Psdd)


def test_mixtures_entail_what_all_components_do():
    obeying = slopp.learn(RECORDS, rules="a -> b", on_violation="drop")
    free = slopp.learn(RECORDS)
    both = slopp.Mixture([(0.5, obeying), (0.5, free)])
    assert obeying.entails("a -> b") and not free.entails("a -> b") and not both.entails("a -> b")
    assert slopp.Mixture([(0.5, obeying), (0.5, obeying)]).entails("a -> b")


@pytest.mark.parametrize("learner", ["slopp", "slopp-tree", "slopp-bag"])
def test_partly_closed_worlds(learner):
    """In the closed columns just what was seen together is possible, and everything beside."""
    cells = rows(0, 300)
    groups = [["a", "b"], ["d", "e", "f"]]
    model = slopp.learn(RECORDS, learner=learner, closed=["a,b", ["d", "e", "f"]])
    seen = [{tuple(row) for row in cells[:, [NAMES.index(name) for name in group]]} for group in groups]
    for world in itertools.product([False, True], repeat=6):
        cell = dict(zip(NAMES, world, strict=True))
        allowed = all(tuple(cell[name] for name in group) in shown for group, shown in zip(groups, seen, strict=True))
        assert (model.prob(cell) > 0) == allowed, cell
    assert model.origin["closed"] == "a,b; d,e,f"
    assert slopp.PSDD(closed=["a", "b"]).fit(RECORDS).model_.prob("a & !b") == 0


def test_closed_columns_with_categories():
    data = {"colour": ["red", "green", "blue"] * 40, "hot": [1, 0, 0] * 40, "old": [1, 0, 0, 1, 1, 0] * 20}
    model = slopp.learn(data, closed=["colour", "hot"])
    assert model.model_count() == 6
    assert model.prob("colour=red & !hot") == 0 and model.prob("colour=red & !old") > 0


@pytest.mark.parametrize("options,error,match", [
    (dict(closed="a,nobody"), NamesError, 'closed= names "nobody"'),
    (dict(closed=["a,b", "c,d"]), NamesError, "several groups are a list of lists"),
    (dict(closed=""), ArgumentError, "closed= names no column"),
    (dict(closed=[["a"], []]), ArgumentError, "closed= names no column"),
    (dict(closed=["a"], world="closed"), LearnError, "leave one of them out"),
    (dict(closed=[3]), ArgumentError, "closed is 3, but must be names"),
])
def test_bad_closed(options, error, match):
    with pytest.raises(error, match=match):
        slopp.learn(RECORDS, **options)


def test_describe():
    cells = rows(0, 300).astype(float)
    cells[:7, 2] = np.nan
    cells[:, 4] = 1
    found = slopp.Records(cells, names=NAMES).describe(pairs=3)
    assert found["records"] == 300 and found["variables"] == 6 and found["missing"] == 7
    assert found["distinct"] == len({str(row) for row in cells.tolist()})
    assert found["constants"] == {"e": True}
    assert found.frequencies["a"] == pytest.approx(cells[:, 0].mean())
    assert len(found.strongest_pairs) == 3
    strongest = slopp.Records(cells[7:], names=NAMES).describe(pairs=1).strongest_pairs[0]

    def information(i, j):
        joint = np.array([[np.mean((cells[7:, i] == x) & (cells[7:, j] == y)) for x in (0, 1)] for y in (0, 1)])
        alone = np.outer(joint.sum(axis=1), joint.sum(axis=0))
        return (joint[joint > 0] * np.log(joint[joint > 0] / alone[joint > 0])).sum()

    expected = max((information(i, j), NAMES[i], NAMES[j]) for i, j in itertools.combinations(range(6), 2))
    assert strongest["mutual_information"] == pytest.approx(expected[0])
    assert {strongest["a"], strongest["b"]} == set(expected[1:])


def test_weights_of_mixtures():
    """Weights are fitted by themselves: a component that explains nothing is gone."""
    wrong = slopp.learn(~rows(0, 300), learner="chow-liu").renamed(NAMES)
    mixture = slopp.Mixture([(0.5, wrong), (0.5, slopp.learn(RECORDS, learner="chow-liu"))])
    fitted = mixture.fit_weights(RECORDS)
    assert mean(fitted, RECORDS) > mean(mixture, RECORDS)
    assert max(weight for weight, _ in fitted.components) > 0.9
    assert sum(weight for weight, _ in fitted.components) == pytest.approx(1)


@pytest.mark.parametrize("model", [SPN, BAG, PSDD], ids=["spn", "mixture", "psdd"])
def test_every_kind_is_fitted_also_to_missing_cells(model):
    cells = rows(5, 200).astype(float)
    for share in (0.0, 0.3):
        cells[np.random.default_rng(0).random(cells.shape) < share] = np.nan
        fitted = model.fit(cells, steps=20, pseudocount=0.1)
        assert type(fitted) is type(model)
        assert mean(fitted, cells) > mean(model, cells)
        assert fitted.prob(records=table_of(PSDD).worlds).sum() == pytest.approx(1)
        assert fitted.origin["records"] == "200"
    if model is not PSDD:
        with pytest.raises(LearnError, match="only be added to exact counts"):
            model.fit(cells, add=True)


def test_fits_tell_of_impossible_records():
    closed = slopp.learn(RECORDS, world="closed")
    impossible = [[1, 0, 0, 0, 0, 0]]
    assert not closed.possible(impossible)[0]
    with pytest.warns(UserWarning, match="weight 1 are impossible"):
        closed.fit(np.vstack([rows(0, 300), impossible]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        added = closed.fit(RECORDS, add=True)
    assert added.origin["records"] == "600" and added.origin["parameters"] == "added"


def test_missing_cells_with_mixtures():
    cells = rows(0, 300).astype(float)
    cells[np.random.default_rng(1).random(cells.shape) < 0.1] = np.nan
    for learner in ("slopp-bag", "learnspn"):
        dropped, em = (slopp.learn(cells, learner=learner, missing=missing) for missing in ("drop", "em"))
        assert type(em) is type(dropped) and em.origin["parameters"] == "em"
        assert mean(em, cells) > mean(slopp.learn(cells, learner="factorised", missing="em"), cells)


def test_steps_of_learnspn():
    assert slopp.learn(RECORDS, learner="learnspn", min_records=10, steps=0).size != SPN.size


def test_rules_as_rules_and_the_base_as_a_diagram(tmp_path):
    closed = slopp.learn(RECORDS, world="closed")
    rules = closed.rules().to_rules()
    rules.write(tmp_path / "rules.txt")
    assert slopp.Rules.read(tmp_path / "rules.txt", NAMES).formulas == rules.formulas
    assert all(closed.entails(rule) for rule in rules.formulas)
    base = closed.base()
    assert base.model_count() == closed.model_count() and slopp.equivalent(base, closed)
    with pytest.raises(TooLargeError):
        slopp.Rules([f"(x{i} ^ y{i}) -> (x{i + 1} ^ y{i + 1})" for i in range(30)]).compile(max_nodes=10)


def test_what_rules_entail():
    rules = slopp.Rules(["a -> b", "b -> c"])
    for knowledge in (rules, rules.compile(), rules.compile().psdd()):
        assert knowledge.entails("a -> c") and not knowledge.entails("c -> a")
        with pytest.raises(FormulaError, match="no variable"):
            knowledge.entails("a -> nobody")


def test_rankings():
    records = slopp.rankings(500, items=3, dispersion=0.3, seed=1)
    assert len(records.names) == 9 and (records.to_numpy().sum(axis=1) == 3).all()
    with pytest.raises(RecordsError):
        slopp.rankings(5, items=3, dispersion=0)


def test_evidence_against_itself():
    """Literals that deny what is given have probability zero, in every kind of model."""
    for model in (PSDD, SPN, BAG):
        assert model.prob("a", given="!a") == 0
        assert model.prob("a", given="a") == 1
        assert model.prob({"a": True, "b": True}, given={"b": False}) == 0
    with pytest.raises(ImpossibleError):
        slopp.learn(RECORDS, rules="a -> b", on_violation="drop").prob("c", given="a, !b")


@pytest.mark.parametrize("act,error,match", [
    (lambda: PSDD.prob(3), FormulaError, "is 3, but must be a text"),
    (lambda: PSDD.prob("a", given=["b"]), FormulaError, "but must be a text"),
    (lambda: PSDD.marginals(rows(0), given="a"), ArgumentError, "not both"),
    (lambda: PSDD.sample(-1), ArgumentError, "count is -1, but must be a whole number of at least 0"),
    (lambda: PSDD.sample(2.5), ArgumentError, "count is 2.5"),
    (lambda: PSDD.sample(1, seed=-1), ArgumentError, "seed is -1"),
    (lambda: PSDD.complete(rows(0), seed="x"), ArgumentError, "seed is 'x'"),
    (lambda: PSDD.top_worlds(0), ArgumentError, "k is 0, but must be a whole number of at least 1"),
    (lambda: PSDD.worlds(limit=-1), ArgumentError, "limit is -1"),
    (lambda: PSDD.explain(rows(0), k=0), ArgumentError, "k is 0"),
    (lambda: PSDD.rules(max_length=1), ArgumentError, "max_length is 1"),
    (lambda: PSDD.marginal_map(["a"], budget=-1), ArgumentError, "budget is -1"),
    (lambda: PSDD.marginal_map([3]), ArgumentError, "of is .3., but must be names"),
    (lambda: PSDD.entropy_of(3), ArgumentError, "of is 3"),
    (lambda: PSDD.em(rows(0), steps=-1), ArgumentError, "steps is -1"),
    (lambda: PSDD.revise(), ArgumentError, "give one of them"),
    (lambda: slopp.PSDD().fit(rows(0)).sample(-1), ValueError, "n_samples is -1"),
    (lambda: slopp.PSDD().fit(rows(0)).sample(0), ValueError, "n_samples is 0"),
    (lambda: slopp.configurations(-1), ArgumentError, "records is -1"),
    (lambda: slopp.learn(RECORDS, seed=-1), ArgumentError, "seed is -1"),
    (lambda: slopp.learn(RECORDS, progress="yes"), ArgumentError, "progress is 'yes'"),
    (lambda: slopp.learn(RECORDS, vtree=3), ArgumentError, "vtree is 3"),
    (lambda: slopp.curve(RECORDS, points=0), ArgumentError, "points is 0"),
    (lambda: slopp.distil(PSDD, RECORDS, samples=0), ArgumentError, "samples is 0"),
    (lambda: slopp.set_threads(100_000), ArgumentError, "100000 threads are not possible; give a number from 1"),
    (lambda: slopp.set_threads(-1), ArgumentError, "threads is -1"),
    (lambda: slopp.set_threads("x"), ArgumentError, "threads is 'x'"),
    (lambda: slopp.learn("cars.csv"), RecordsError, r"Records.read\('cars.csv'\) reads it"),
    (lambda: PSDD.kl_divergence(3), ArgumentError, "other is 3"),
    (lambda: PSDD.product(3), ArgumentError, "other is 3"),
    (lambda: slopp.learn(RECORDS, learner="strudel", start=3), ArgumentError, "start is 3"),
    (lambda: slopp.learn(RECORDS, rules=3), ArgumentError, "rules are 3"),
    (lambda: slopp.Mixture([(1, 3)]), ArgumentError, "a component is 3"),
    (lambda: slopp.Mixture([("x", PSDD)]), ArgumentError, "a weight is 'x'"),
    (lambda: PSDD.fit(RECORDS, pseudocount="x"), ArgumentError, "pseudocount is 'x'"),
    (lambda: PSDD.log_likelihoods_noisy(RECORDS, "x"), ArgumentError, "noise is 'x'"),
    (lambda: PSDD.write("model.mix"), ArgumentError, "this one ends in .psdd"),
    (lambda: PSDD.write("model.csv"), ArgumentError, "model.csv would be a file of another kind"),
    (lambda: PSDD.write("model"), ArgumentError, "this one ends in .psdd"),
    (lambda: PSDD.write(3), ArgumentError, "path is 3"),
    (lambda: slopp.read(3), ArgumentError, "path is 3, but must be the path of a file"),
    (lambda: slopp.read("m.psdd", 3), ArgumentError, "vtree is 3"),
    (lambda: slopp.Records.read(3), ArgumentError, "path is 3"),
    (lambda: RECORDS.write(3), ArgumentError, "path is 3"),
    (lambda: slopp.PSDD(options=3).fit(RECORDS), ArgumentError, "options is 3, but must be a dict"),
    (lambda: slopp.PSDD(binarize="a").fit([[1, 0]]), ArgumentError, "binarize is 'a', but must be a number"),
    (lambda: slopp.Records([[1, 0]], max_values="a"), ArgumentError, "max_values is 'a'"),
    (lambda: COLOURS.log_likelihoods({"colour": [["red"]], "hot": [1]}), RecordsError, 'row 0 .*"colour" has a list'),
    (lambda: COLOURS.prob({"color": "red"}), NamesError, 'no column "color"; did you mean "colour"'),
    (lambda: COLOURS.prob({"color": 1}), NamesError, 'no column "color"; did you mean "colour"'),
    (lambda: COLOURS.prob({"zzz": 1}), NamesError, "the columns are colour, hot"),
    (lambda: COLOURS.prob({3: 1}), NamesError, "the columns are colour, hot"),
    (lambda: COLOURS.prob("zzzzzzz"), FormulaError, r'"zzzzzzz"; the names are '),
    (lambda: SPN.fit(RECORDS, add=True), LearnError, "sums of the model overlap"),
    (lambda: slopp.PSDD(target=0).fit(RECORDS, [1] * 299), slopp.errors.RecordsError, "inconsistent numbers"),
    (lambda: slopp.PSDD(target=0).fit(RECORDS, ["what"] * 300), ArgumentError, "y is not the column"),
    (lambda: slopp.PSDD(target=0).fit(RECORDS, ~RECORDS.to_numpy()[:, 0]), ArgumentError, "y is not the column"),
    (lambda: RECORDS.split("x"), ArgumentError, "a share is 'x'"),
    (lambda: RECORDS.where([True]), RecordsError, "300 Booleans"),
    (lambda: slopp.Rules(3), ArgumentError, "rules are 3"),
    (lambda: slopp.Rules([3]), ArgumentError, "rules are .3."),
    (lambda: slopp.diff(3, 4), ArgumentError, "not int"),
    (lambda: slopp.Records([[1, 0]], weights=["x"]), RecordsError, "weights must be numbers"),
    (lambda: RECORDS.split(0.5, 0.5, seed=-1), ArgumentError, "seed is -1"),
])
def test_bad_arguments(act, error, match):
    with pytest.raises(error, match=match) as caught:
        act()
    assert isinstance(caught.value, slopp.SloppError)


def test_diagrams_and_vtrees_are_pickled():
    for rules in (["a -> b", "exactly(1, a, c)"], ["a", "!a"]):
        sdd = slopp.Rules(rules).compile()
        again = pickle.loads(pickle.dumps(sdd))
        assert again.model_count() == sdd.model_count() and again.names == sdd.names and again.vtree == sdd.vtree
    model = slopp.learn({"size (cm)": ["(0, 1]", "a,b", 'say "x"'] * 20, "b": [1, 0, 0] * 20})
    assert pickle.loads(pickle.dumps(model.vtree)) == model.vtree


def test_y_may_be_the_target():
    cells = RECORDS.to_numpy()
    for y in (cells[:, 0], cells[:, 0].astype(int), list(cells[:, :1])):
        slopp.PSDD(target=0).fit(RECORDS, y)
    slopp.PSDD(target="colour").fit({"colour": ["red", "blue"] * 9, "hot": [1, 0] * 9}, ["red", "blue"] * 9)
    ages = {"age": [3, 30] * 9, "hot": [1, 0] * 9}
    for y in (ages["age"], ["child", "adult"] * 9):
        slopp.PSDD(target="age", bins={"age": "child:18:adult"}).fit(ages, y)


def test_advice_is_in_the_words_of_python(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,b\n" + "".join(f"{i},0\n" for i in range(30)))
    with pytest.raises(slopp.errors.ReadError, match=r'bins={"a": 4} cuts its numbers into bins; max_values=N'):
        slopp.Records.read(path)
    path.write_text("a,b\n")
    with pytest.raises(slopp.errors.ReadError, match="header=False, if the first line"):
        slopp.Records.read(path)


def test_names_do_not_act_on_terminals(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a\x1b[2J,\u202eb\n1,0\n0,1\n")
    records = slopp.Records.read(path)
    model = slopp.learn(records, learner="factorised")
    with pytest.raises(slopp.errors.FormulaError, match=r"\\u{1b}\[2J.*\\u{202e}b"):
        model.prob("zebra")
    with pytest.raises(slopp.errors.ArgumentError, match=r"\\u{1b}"):
        raise slopp.errors.ArgumentError("from Python, \x1b")
    shown = [repr(records), repr(records.columns), repr(model), repr(model.vtree), repr(slopp.Rules(["a"]))]
    assert not any("\x1b" in text or "\u202e" in text for text in shown)


def test_proofs_have_limits(tmp_path):
    parity = slopp.Rules(" ^ ".join(f"x{i}" for i in range(1, 9)))
    parity.compile(slopp.Vtree.shaped("balanced", parity.names)).psdd().write(tmp_path / "m.psdd")
    assert isinstance(slopp.read(tmp_path / "m.psdd", max_memory=100), slopp.Psdd)
    assert "not proved within 1 node" in slopp.read(tmp_path / "m.psdd", max_nodes=1).reason
    assert slopp.read(tmp_path / "m.psdd", max_nodes=1).certificate == "unproved"
    with pytest.raises(slopp.errors.KindError, match="this one has no proof: .* within 1 node") as refused:
        slopp.read(tmp_path / "m.psdd", max_nodes=1).mpe()
    assert "mixture" not in str(refused.value)
    with pytest.raises(ArgumentError, match="max_nodes is 0"):
        slopp.read(tmp_path / "m.psdd", max_nodes=0)


def test_files_that_were_edited(tmp_path):
    path = tmp_path / "m.psdd"
    days = [datetime.date(2026, 1, 1), datetime.date(2026, 1, 2)] * 10
    slopp.learn({"day": days, "hot": [1, 0] * 10}).write(path)
    assert slopp.read(path).columns.categories["day"] == days[:2]
    told = path.read_text()
    day = '{"date": "2026-01-01"}'
    for was, edited in ((day, '{"date": "no day"}'), (day, "{}"), (day, '{"interval": 3}'), ('{"day": [', '{"day" [')):
        # The categories are JSON within the JSON of the origin.
        was, edited = was.replace('"', '\\"'), edited.replace('"', '\\"')
        assert was in told
        path.write_text(told.replace(was, edited))
        assert slopp.read(path).columns.categories["day"] == ["2026-01-01", "2026-01-02"]


def test_a_model_that_is_no_distribution(tmp_path):
    path = tmp_path / "m.psdd"
    slopp.learn(RECORDS).write(path)
    lines = path.read_text().splitlines()
    place = next(i for i, line in enumerate(lines) if line.startswith("D "))
    lines[place] = " ".join([*lines[place].split()[:-1], "-0.001"])
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(slopp.errors.CertificateError, match="renormalise=True divides"):
        slopp.read(path)
    assert slopp.read(path, renormalise=True).certificate == "psdd"


def test_what_the_package_shows():
    assert dir(slopp) == sorted(slopp.__all__) and "PSDD" in dir(slopp)
    assert not {"Any", "TYPE_CHECKING", "whole"} & set(vars(slopp))


def test_a_bag_stays_whole():
    whole = slopp.learn(RECORDS, learner="slopp-bag", components=3, whole=True)
    assert len(whole.components) <= 3 and whole.origin["divide"] == "never"
    with pytest.raises(LearnError, match="whole"):
        slopp.learn(RECORDS, whole=True)


@pytest.mark.parametrize("error, call", [
    ("FormulaError", lambda: slopp.Rules(["a &"])),
    ("NamesError", lambda: slopp.equivalent(slopp.Rules(["a"]), slopp.Rules(["b"]))),
    ("TooLargeError", lambda: slopp.Rules([f"a{i} ^ b{i} ^ a{i + 1}" for i in range(30)]).compile(max_nodes=10)),
    ("ImpossibleError", lambda: slopp.learn(RECORDS, rules="a -> b", on_violation="drop").prob("c", given="a, !b")),
    ("LearnError", lambda: slopp.learn(RECORDS, rules="a\n!a")),
    ("LearnError", lambda: slopp.learn(RECORDS, max_elements=1)),
    ("LearnError", lambda: slopp.learn(RECORDS, learner="learnpsdd", start=PSDD, world="closed")),
    ("MissingFileError", lambda: slopp.read("nothing.psdd")),
])
def test_each_error_has_its_class(error, call):
    with pytest.raises(slopp.SloppError) as caught:
        call()
    assert type(caught.value).__name__ == error


def test_records_that_cannot_be_added():
    with pytest.raises(LearnError, match="fit all records at once, without add=$"):
        BAG.fit(RECORDS, add=True)
