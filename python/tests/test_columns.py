"""Columns with categories, dates, intervals and bins: in, through a model, and out in kind."""

import pickle

import numpy as np
import pytest
import slopp
from slopp.errors import ArgumentError, NamesError, RecordsError

pandas = pytest.importorskip("pandas")
RANDOM = np.random.default_rng(7)
AGES = RANDOM.uniform(0, 90, 300)
HOT = AGES > 45


def frame(**columns):
    return pandas.DataFrame({**columns, "hot": HOT})


DAYS = pandas.to_datetime(np.where(HOT, "2024-02-01", "2024-01-01"))
KINDS = {
    "intervals": pandas.cut(AGES, [0, 30, 60, 90]),
    "timestamps": pandas.Series(DAYS),
    "dates of a category": pandas.Categorical(DAYS),
    "whole numbers": pandas.Series(np.where(HOT, 3, 5)),
    "whole numbers of a category": pandas.Categorical(np.where(HOT, 30, 50)),
    "floating numbers with gaps": pandas.Series(np.where(HOT, 3.0, 5.0)),
    "periods": pandas.Series(pandas.PeriodIndex(DAYS, freq="M")),
    "texts of an ordered category": pandas.Categorical(np.where(HOT, "b", "a"), categories=["b", "a"], ordered=True),
    "Python dates": pandas.Series([day.date() for day in DAYS]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_categories_of_every_kind(kind, tmp_path):
    """They are texts to the library, and what they were to people: in classes, predictions, worlds and samples."""
    data = frame(c=KINDS[kind])
    model = slopp.PSDD(target="c").fit(data)
    values = set(pandas.Series(KINDS[kind]).dropna())
    assert set(model.classes_) == values
    assert set(model.predict(data)) <= values
    assert (model.predict(data) == data["c"].to_numpy(dtype=object)).mean() > 0.6
    value = next(iter(values))
    assert model.model_.mpe(given={"c": value})["c"] == value
    assert model.model_.prob({"c": value}) == pytest.approx(model.model_.prob({"c": str(value)}))
    completed = model.model_.mpe(data)[0]
    pandas.testing.assert_frame_equal(completed, data)
    assert dict(model.sample(5).dtypes) == dict(data.dtypes)
    assert list(completed.index) == list(data.index)
    again = pickle.loads(pickle.dumps(model))
    assert again.model_.columns == model.model_.columns and set(again.classes_) == values
    model.model_.write(tmp_path / "m.psdd")
    read = slopp.read(tmp_path / "m.psdd")
    assert read.columns == model.columns_
    np.testing.assert_array_equal(read.log_likelihoods(data), model.score_samples(data))


def test_whole_numbers_match_categories_however_they_are_typed():
    numbers = np.where(HOT, 3, 5)
    model = slopp.PSDD().fit(frame(c=pandas.Categorical(numbers.astype(float)), d=numbers))
    assert model.model_.names[:4] == ["c=3", "c=5", "d=3", "d=5"]
    expected = model.score_samples(frame(c=numbers, d=numbers))
    for other in (numbers.astype(float), numbers.astype(str), numbers.astype(object), pandas.array(numbers, "Int64")):
        np.testing.assert_array_equal(model.score_samples(frame(c=other, d=other)), expected)
    as_numbers = pandas.DataFrame({"c": numbers, "d": numbers, "hot": HOT.astype(int)})
    np.testing.assert_array_equal(model.score_samples(as_numbers), expected)
    np.testing.assert_array_equal(model.model_.log_likelihoods(as_numbers.to_numpy()), expected)
    assert model.model_.prob("c=3.0") == model.model_.prob("c=3") == model.model_.prob({"c": 3.0})


def test_unseen_categories():
    model = slopp.PSDD(target="c").fit(frame(c=np.where(HOT, "a", "b")))
    odd = frame(c=np.where(HOT, "a", "z"))
    with pytest.raises(RecordsError, match=r"Found unknown categories \['z'\] in column \"c\".*known categories: a, b"):
        model.score_samples(odd)
    # The column of the target is not looked at.
    np.testing.assert_array_equal(model.predict_proba(odd), model.predict_proba(odd.drop(columns="c")))


def test_answers_keep_types_of_other_frames():
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    letters = np.where(HOT, "a", "b")
    enum = polars.Enum(["b", "a"])
    data = polars.DataFrame({"c": polars.Series(letters, dtype=enum), "hot": HOT, "n": np.where(HOT, 3, 5)})
    model = slopp.learn(data)
    assert model.mpe(data)[0].schema == data.schema
    assert slopp.PSDD().fit(data).sample(3).schema == data.schema
    table = pyarrow.table({"c": pyarrow.array(letters).dictionary_encode(), "hot": HOT})
    assert slopp.learn(table).mpe(table)[0].schema == table.schema
    with_gaps = pandas.DataFrame({"c": pandas.Categorical([None, "a", "b"] * 50),
                                  "hot": pandas.array([True, None, False] * 50, "boolean")})
    model = slopp.learn(with_gaps, missing="em")
    assert dict(model.mpe(with_gaps)[0].dtypes) == dict(with_gaps.dtypes)
    assert not model.mpe(with_gaps)[0].isna().any().any()


BINS = {"age": "young:30:old:65:ancient"}


def test_bins_of_frames_are_bins_of_files(tmp_path):
    data = pandas.DataFrame({"age": AGES, "income": AGES * 3, "hot": HOT})
    data.to_csv(tmp_path / "people.csv", index=False)
    settings = dict(bins={**BINS, "income": 4})
    read, framed = slopp.Records.read(tmp_path / "people.csv", **settings), slopp.Records(data, **settings)
    assert read == framed and read.names[:3] == ["age=young", "age=old", "age=ancient"] and len(read.names) == 8
    assert slopp.Records(data, bins=["age=young:30:old:65:ancient", "income=4"]) == framed
    assert slopp.Records(data, bins={"age": ["young", 30, "old", 65, "ancient"], "income": 4}) == framed
    model = slopp.learn(data, **settings)
    assert model.prob({"age": 31}) == model.prob({"age": "old"}) == model.prob("age=old")
    assert model.prob({"age": 30}) == model.prob({"age": "old"}) and model.prob({"age": 64.9}) == model.prob("age=old")
    np.testing.assert_array_equal(model.log_likelihoods(data), model.log_likelihoods(framed))
    assert set(model.mpe(data)[0]["age"]) == {"young", "old", "ancient"}
    model.write(tmp_path / "m.psdd")
    again = slopp.read(tmp_path / "m.psdd")
    np.testing.assert_array_equal(again.log_likelihoods(data), model.log_likelihoods(data))
    np.testing.assert_array_equal(
        again.log_likelihoods(slopp.Records.read(tmp_path / "people.csv", columns=again.columns)),
        model.log_likelihoods(data))
    estimator = slopp.PSDD(bins=BINS, target="age").fit(data[["age", "hot"]])
    assert list(estimator.classes_) == ["ancient", "old", "young"]
    assert set(estimator.predict(data[["age", "hot"]])) <= set(estimator.classes_)


def test_bins_by_weight():
    heavy = np.where(AGES > 80, 1000.0, 1e-3)
    cut = slopp.Records({"age": AGES, "hot": HOT}, weights=heavy, bins={"age": 2}).columns[0].cuts
    assert cut[0] > 80


def test_columns_that_are_categories_because_it_is_said(tmp_path):
    flags = {"flag": [0, 1, 1, 0], "b": [1, 1, 0, 0]}
    (tmp_path / "f.csv").write_text("flag,b\n0,1\n1,1\n1,0\n0,0\n")
    said = slopp.Records(flags, categories=["flag"])
    assert said.names == ["flag=0", "flag=1", "b"]
    read = slopp.Records.read(tmp_path / "f.csv", categories=["flag"])
    assert read.names == said.names and (read.to_numpy() == said.to_numpy()).all()
    many = {"c": list(range(30)) * 2, "b": [1, 0] * 30}
    assert len(slopp.Records(many, max_values=40).names) == 31
    with pytest.raises(RecordsError, match="30 distinct values, more than 25"):
        slopp.Records(many, max_values=25)
    with pytest.raises(slopp.errors.ReadError, match="flag"):
        slopp.Records.read(tmp_path / "f.csv", categories=["flag"], max_values=1)


@pytest.mark.parametrize("settings,error,match", [
    (dict(bins={"nobody": 4}), RecordsError, 'no column "nobody"'),
    (dict(bins={"age": 1}), RecordsError, "one bin is not enough"),
    (dict(bins={"age": "a:3:a"}), RecordsError, "name of its own"),
    (dict(bins={"c": 3}), RecordsError, 'column "c" has bins, but a cell is not a number'),
    (dict(categories=["nobody"]), RecordsError, 'no column "nobody"'),
])
def test_bad_bins(settings, error, match):
    with pytest.raises(error, match=match):
        slopp.Records({"age": [1.5, 2.5], "c": ["a", "b"]}, **settings)


def test_settings_that_come_too_late():
    with pytest.raises(ArgumentError, match="Records already"):
        slopp.learn(slopp.Records({"a": [1, 0]}), bins={"a": 2})


def test_explanations_count_columns():
    """A colour that cannot be changes one column, and not the two cells it is made of."""
    colour = np.where(HOT, "red", np.where(AGES < 20, "blue", "green"))
    model = slopp.learn({"colour": colour, "hot": HOT}, world="closed")
    found = model.explain({"colour": ["red", "red"], "hot": [False, True]})
    assert len(found) == 1
    assert found[0]["conflict"] == {"colour": "red", "hot": False}
    assert model.entails(found[0]["rule"]) and not slopp.Rules([found[0]["rule"]]).entails("hot")
    odd = {"colour": ["red"], "hot": [False]}
    assert model.explain(odd, rules=["colour=red -> hot", "hot -> hot"])[0]["broken"] == ['"colour=red" -> hot']
    assert model.explain(odd, rules=slopp.Rules("hot | !hot"))[0]["broken"] == []
    assert found[0]["distance"] == 1 and len(found[0]["change"]) == 1
    (name, value), = found[0]["change"].items()
    assert (name, value) == ("hot", True) or (name == "colour" and value in ("green", "blue"))
    for name, values in model.repair({"colour": ["red"], "hot": [False]}).items():
        assert found[0]["nearest"][0][name] == values[0]


def test_questions_by_column():
    colour = np.where(HOT, "red", np.where(AGES < 20, "blue", "green"))
    model = slopp.learn({"colour": colour, "hot": HOT, "other": AGES % 2 < 1})
    both = model.information(["colour"], ["hot"])
    spelt = model.information(["colour=blue", "colour=green", "colour=red"], ["hot"])
    assert both["mutual_information"] == spelt["mutual_information"] > 0.1
    assert model.entropy_of("colour") == pytest.approx(both["entropy_first"])
    best = model.marginal_map(["colour", "other"], given={"hot": True})
    assert best["colour"] == "red" and set(best) == {"colour", "other"} and best.is_exact
    marginal = model.marginal(["other", "colour"])
    assert marginal.names == ["other", "colour=blue", "colour=green", "colour=red"]
    assert marginal.prob({"colour": "red"}) == pytest.approx(model.prob({"colour": "red"}))
    assert set(model.marginal(["hot", "colour"]).mpe()) == {"hot", "colour"}
    with pytest.raises(NamesError):
        model.entropy_of(["nobody"])


def test_rows_of_weight_zero_and_the_index():
    data = pandas.DataFrame({"a": [1, 0, 1], "b": [0, 1, 1]}, index=["x", "y", "z"])
    model = slopp.learn(data)
    kept = slopp.Records(data, weights=[1, 0, 2])
    assert list(model.marginals(kept).index) == ["x", "z"]
    assert list(model.mpe(kept)[0].index) == ["x", "z"]


def test_two_columns_of_one_name():
    twice = pandas.DataFrame([[1, 0], [0, 1]], columns=["a", "a"])
    for act in (slopp.Records, slopp.learn, slopp.PSDD().fit):
        with pytest.raises(RecordsError, match='two columns are called "a"; rename one'):
            act(twice)
    mixed = pandas.DataFrame([[1, "x"], [0, "y"]], columns=["a", "a"])
    with pytest.raises(RecordsError, match='two columns are called "a"'):
        slopp.Records(mixed)


def test_series_are_no_tables():
    for series in (pandas.Series([1, 0]), pytest.importorskip("polars").Series([1, 0])):
        with pytest.raises(RecordsError, match="Expected 2D array, got 1D array"):
            slopp.Records(series)


def test_records_as_rows():
    """One record as a dict, several as a list of dicts: also worlds that a model gave."""
    model = slopp.learn({"c": np.where(HOT, "a", "b"), "hot": HOT})
    worlds = model.top_worlds(3)
    np.testing.assert_allclose(model.log_likelihoods(worlds), [world.log_probability for world in worlds])
    assert model.log_likelihoods(worlds[1]) == pytest.approx(worlds[1].log_probability)
    incomplete = [{"c": "a"}, {"hot": True, "c": "a"}]
    assert model.log_likelihoods(incomplete)[0] == pytest.approx(model.log_probability("c=a"))


def test_arrays_of_objects_for_a_model_of_columns():
    data = frame(c=np.where(HOT, "a", "b"))
    model = slopp.PSDD(target="c").fit(data)
    np.testing.assert_array_equal(model.predict_proba(data.to_numpy()), model.predict_proba(data))
    np.testing.assert_array_equal(model.score_samples(data.to_numpy()), model.score_samples(data))
    np.testing.assert_array_equal(model.model_.log_likelihoods(data.to_numpy()), model.score_samples(data))


def test_names_that_are_no_texts():
    data = pandas.DataFrame({0: [True, False] * 10, 1: [False, True] * 10})
    model = slopp.learn(data)
    pandas.testing.assert_frame_equal(model.mpe(data)[0], data)
    assert list(slopp.PSDD().fit(data).sample(2).columns) == [0, 1]


def test_records_as_frames():
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    data = frame(c=pandas.Categorical(np.where(HOT, "a", "b")))
    records = slopp.Records(data)
    pandas.testing.assert_frame_equal(records.to_pandas(), data)
    as_polars, as_arrow = records.to_polars(), records.to_arrow()
    assert isinstance(as_polars, polars.DataFrame) and isinstance(as_arrow, pyarrow.Table)
    assert slopp.Records(as_polars) == slopp.Records(as_arrow) == records


def test_other_kinds_of_tables():
    lazy = pytest.importorskip("polars").LazyFrame({"a": [1, 0], "b": [0, 1]})
    assert slopp.Records(lazy).names == ["a", "b"]
    masked = slopp.Records(np.ma.array([[1, 0], [0, 1]], mask=[[0, 1], [0, 0]]))
    assert masked.has_missing and np.isnan(masked.to_numpy()[0, 1])


def test_categories_of_arrow_stay_what_they_are():
    pyarrow = pytest.importorskip("pyarrow")
    indices = pyarrow.array([0, 2, 0, None, 2] * 10, pyarrow.int8())
    level = pyarrow.DictionaryArray.from_arrays(indices, ["low", "mid", "high"], ordered=True)
    batch = pyarrow.record_batch({"level": level, "warm": pyarrow.array([False, True, False, True, None] * 10)})
    several = pyarrow.Table.from_batches([batch, batch])

    class Single:
        """What has but the array interface of Arrow."""

        def __arrow_c_array__(self, requested_schema=None):
            return batch.__arrow_c_array__(requested_schema)

    for data in (several, batch, Single()):
        records = slopp.Records(data)
        assert records.columns.categories == {"level": ["low", "mid", "high"]}
        again = records.to_arrow()
        assert again.schema == batch.schema
        assert again["level"].chunk(0).dictionary.to_pylist() == ["low", "mid", "high"]
        assert again.to_pylist()[:5] == batch.to_pylist()[:5]
    assert slopp.PSDD(missing="em").fit(Single()).columns_ == records.columns


def test_categories_from_one_kind_of_frame_to_another():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    level = pandas.Categorical(["low", "high", None, "low"], ["low", "mid", "high"], ordered=True)
    frame = pandas.DataFrame({"level": level, "free": ["a", "b", "a", "b"], "warm": [False, True, True, False]})
    records = slopp.Records(frame)
    there = records.to_polars()
    assert there.schema["level"] == polars.Enum(["low", "mid", "high"]) and there.schema["free"] == polars.String
    assert there["level"].to_list() == ["low", "high", None, "low"]
    arrow = records.to_arrow()
    assert arrow["level"].type.ordered and arrow["level"].chunk(0).dictionary.to_pylist() == ["low", "mid", "high"]
    for other in (there, arrow):
        back = slopp.Records(other).to_pandas()
        assert list(back.level.dtype.categories) == ["low", "mid", "high"]
        assert back.level.isna().tolist() == [False, False, True, False] and back.warm.dtype == bool
    assert slopp.Records(arrow).to_pandas().level.dtype == frame.level.dtype


def test_cells_of_impossible_rows_are_missing_booleans():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"a": [True, True, False], "b": [True, True, False]})
    model = slopp.learn(frame, world="closed")
    asked = pandas.DataFrame({"a": [True, False], "b": [None, True]}, dtype=object).astype({"a": bool})
    worlds, _ = model.mpe(asked)
    assert worlds.a.dtype == "boolean" and worlds.a[0] and worlds.a.isna().tolist() == [False, True]
    assert worlds.b.dtype == "boolean" and worlds.b.isna().tolist() == [False, True]
    worlds, _ = model.mpe(polars.DataFrame({"a": [True, False], "b": [None, True]}))
    assert worlds.schema == {"a": polars.Boolean, "b": polars.Boolean}
    assert worlds.rows() == [(True, True), (None, None)]
    worlds, _ = model.mpe(pyarrow.table({"a": [True, False], "b": [None, True]}))
    assert worlds.to_pydict() == {"a": [True, None], "b": [True, None]}
    assert worlds.schema.types == [pyarrow.bool_()] * 2


@pytest.mark.parametrize("kind", ["dict", "pandas"])
def test_records_of_records_have_the_same_columns(kind):
    """Bins, and categories that no record has, are known to the records and not to be seen in their cells."""
    pandas = pytest.importorskip("pandas")
    data = {"age": [3, 20, 40, 70], "colour": ["red", "green", "red", "blue"]}
    data = pandas.DataFrame(data) if kind == "pandas" else data
    records = slopp.Records(data, bins={"age": "young:30:old:65:ancient"})
    for some in (records, records[:2]):
        again = slopp.Records(some)
        assert again == some and again.columns == records.columns and again.names == records.names
    assert slopp.Records(records[:1], columns=records.columns) == records[:1]
    weighted = slopp.Records(records, weights=[1, 0, 2, 1])
    assert weighted.columns == records.columns and weighted.record_weights().tolist() == [1, 2, 1]
    for settings in (dict(bins={"age": 2}), dict(categories=["age"]), dict(max_values=3), dict(binarize=0.5),
                     dict(names=["a", "b"])):
        with pytest.raises(slopp.errors.ArgumentError, match="come too late"):
            slopp.Records(records, **settings)
