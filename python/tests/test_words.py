"""Mistakes that people make: what is refused, and the words that tell the way out."""

import pathlib

import numpy as np
import pytest
import slopp
from conftest import NAMES, rows
from slopp.errors import ArgumentError, LearnError, PlaceError, RecordsError, VtreeError

CELLS = rows(0)
RECORDS = slopp.Records(CELLS, names=NAMES)
MODEL = slopp.learn(RECORDS)


@pytest.mark.parametrize("act,error,match", [
    (lambda: slopp.learn(RECORDS, start=MODEL), LearnError,
     "start= belongs to learnpsdd, strudel.*, not to slopp; choose learnpsdd or strudel"),
    (lambda: slopp.learn(RECORDS, learner="slopp+learnpsdd", start=MODEL), LearnError, "start= belongs to"),
    (lambda: slopp.learn(RECORDS, valid=CELLS[:0]), LearnError, "valid= has no records"),
    (lambda: slopp.distil(MODEL, RECORDS, valid=CELLS[:0]), LearnError, "valid= has no records"),
    (lambda: slopp.learn(RECORDS, valid=np.full((3, 6), np.nan)), LearnError, "3 of 3 records of valid= miss cells"),
    (lambda: slopp.PSDD(binarize=float("nan")).fit(CELLS), ArgumentError, "binarize is NaN"),
    (lambda: slopp.PSDD(world="ajar").fit(CELLS), LearnError, "world is .ajar., but must be one of open, closed"),
    (lambda: slopp.PSDD(effort=None).fit(CELLS), LearnError, "effort is .None."),
    (lambda: RECORDS[60], PlaceError, "there is no record 60: there are 60"),
    (lambda: RECORDS[[3, 99]], IndexError, "there are no such records, of 60"),
    (lambda: slopp.PSDD().fit(np.array([["red", 1], ["blue", 0]], dtype=object)), RecordsError, "a frame for categ"),
    (lambda: MODEL.fit(np.zeros((0, 6))), RecordsError, "no records to fit to"),
    (lambda: MODEL.em(np.zeros((0, 6))), RecordsError, "no records to fit to"),
    (lambda: slopp.Vtree.shaped("round", NAMES), VtreeError, "the shapes are balanced, right-linear, left-linear"),
    (lambda: slopp.Rules("a -> b").compile(slopp.Vtree("((a,b),c)")), VtreeError, "has c, which no rule.*names=vtree"),
    (lambda: slopp.Rules("a -> b").compile(3), ArgumentError, "vtree is 3"),
    (lambda: slopp.Rows([{"a": "x", "b": 1}]).chart("a"), ArgumentError, "'a' has no numbers"),
    (lambda: slopp.Rows([{"a": 1, "b": "x"}]).chart("a"), ArgumentError, "no numbers in the rows to draw"),
])
def test_the_way_out_is_told(act, error, match):
    with pytest.raises(error, match=match):
        act()


def test_series_are_no_tables():
    frame = RECORDS.to_pandas() if pytest.importorskip("pandas") else None
    for act in (lambda row: MODEL.log_likelihoods(row), lambda row: slopp.PSDD().fit(row), slopp.Records):
        with pytest.raises(RecordsError, match=r"frame.iloc\[\[0\]\] is one record"):
            act(frame.iloc[0])
    polars = pytest.importorskip("polars")
    with pytest.raises(RecordsError, match="one record"):
        MODEL.log_likelihoods(polars.Series([1, 0]))


def test_targets_of_several_levels():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(CELLS, columns=pandas.MultiIndex.from_tuples([("p", name) for name in NAMES]))
    fitted = slopp.PSDD(target=("p", "b")).fit(frame)
    assert fitted.predict_proba(frame).shape == (60, 2)


def test_vtrees_are_texts_too():
    rules = slopp.Rules(["a -> b", "b -> c"])
    assert rules.compile("((a,b),c)") == rules.compile(slopp.Vtree("((a,b),c)"))


def test_paths_are_bytes_too(tmp_path):
    path = bytes(tmp_path / "it.psdd")
    MODEL.write(path)
    assert slopp.read(path) == MODEL
    RECORDS.write(bytes(tmp_path / "it.csv"))
    assert slopp.Records.read(bytes(tmp_path / "it.csv")) == RECORDS
    rules = slopp.Rules("a -> b")
    rules.write(bytes(tmp_path / "rules.txt"))
    assert slopp.Rules.read(bytes(tmp_path / "rules.txt")) == rules
    sdd = rules.compile()
    sdd.write(bytes(tmp_path / "it.sdd"))
    sdd.vtree.write(bytes(tmp_path / "it.vtree"))
    assert slopp.Sdd.read(bytes(tmp_path / "it.sdd"), bytes(tmp_path / "it.vtree"), sdd.names) == sdd
    assert slopp.Sdd.read(tmp_path / "it.sdd", sdd.vtree) == sdd


def test_files_say_what_is_in_them(tmp_path):
    for name in ("it.csv", "it.data", "it.csv.gz"):
        RECORDS.write(tmp_path / name)
        assert slopp.Records.read(tmp_path / name) == RECORDS
    for name in ("it.wdata", "it.wdata.gz"):
        RECORDS.write(tmp_path / name)
        assert slopp.Records.read(tmp_path / name, names=NAMES).total == 60
    RECORDS.write(tmp_path / "again.wdata", weighted=True)
    assert pathlib.Path(tmp_path, "again.wdata").read_text().count("|") == RECORDS.distinct
    for name, weighted, match in (("it.csv", True, "ends in .csv, but weighted is True"),
                                  ("it.wdata", False, "weighted is False"),
                                  ("it", None, "must end in .csv or .data"), ("it.parquet", None, "must end")):
        with pytest.raises(ArgumentError, match=match):
            RECORDS.write(tmp_path / name, weighted=weighted)
    rules = slopp.Rules("a -> b")
    sdd = rules.compile()
    for thing, names in ((rules, "m.psdd r.cnf t.csv r.json"), (sdd, "m.psdd t.wdata.gz v.vtree"),
                         (sdd.vtree, "d.sdd")):
        for name in names.split():
            with pytest.raises(ArgumentError, match=f"{name} is the name of .*; take a name that ends in "):
                thing.write(tmp_path / name)
            assert not (tmp_path / name).exists()


def test_charts_draw_numbers_only():
    found = slopp.Rows([{"n": 1, "text": "x", "p": 0.5, "q": None}, {"n": 2, "text": "y", "p": 0.25, "q": 3}])
    svg = found.chart("n")
    assert ">p<" in svg and ">q<" in svg and ">text<" not in svg


def test_models_are_equal_however_they_were_made():
    other = MODEL._same(MODEL._model.renamed(None, {"learner": "another"}))
    assert other == MODEL and other.origin != MODEL.origin
    assert MODEL != MODEL.renamed([name.upper() for name in NAMES])
    assert MODEL != slopp.learn(RECORDS, learner="learnspn")


def test_a_score_of_nothing_is_none():
    closed = slopp.learn([[1, 1], [0, 0]] * 20, world="closed")
    score = closed.eval([[1, 0], [0, 1]])
    assert score["log_likelihood"] is None and score["impossible"] == 2
    assert closed.eval([[1, 0], [1, 1]])["log_likelihood"] == pytest.approx(np.log(0.5))
    assert closed.eval(np.zeros((0, 2)))["log_likelihood"] == 0


def test_help_names_every_option():
    text = slopp.learn.__doc__
    for learner in slopp.LEARNERS:
        assert f"    {learner} : " in text
    for option in slopp.learning.OPTIONS:
        assert f"    {option} : " in text
    assert all(len(line) <= 120 for line in text.splitlines())


def test_help_shows_no_comments():
    import pydoc

    for kind in (slopp.Mixture, slopp.Psdd, slopp.Spn, slopp.Records):
        assert "# " not in pydoc.plain(pydoc.render_doc(kind)).replace("# doctest", "")


def test_one_of_a_kind():
    one = slopp.learn([[1], [0], [1]] * 9)
    assert "(1 variable," in repr(one) and "of 1 variable," in repr(slopp.Records([[1]]))
    assert repr(slopp.Rules("a | !a").compile()).startswith("Sdd(1 variable,")


def test_styles_of_pictures_stay_with_them():
    html = MODEL._repr_html_()
    style = html[html.index("<style>") + 7:html.index("</style>")].replace("@media(prefers-color-scheme:dark){", "")
    selectors = [selector for rule in style.split("}") if "{" in rule for selector in rule.split("{")[0].split(",")]
    assert selectors and all(selector.startswith(".slopp-drawing") for selector in selectors)
