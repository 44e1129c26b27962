"""Data in and out: every kind of array and frame, and what is wrong with bad ones."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
import slopp
from conftest import NAMES, rows
from slopp.errors import NamesError, RecordsError

CELLS = rows(4)


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int8, np.int16, np.uint32, np.int32, np.int64, np.float16,
                                   np.float32, np.float64, object])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays(dtype, order):
    expected = slopp.Records(CELLS)
    assert slopp.Records(np.asarray(CELLS.astype(dtype), order=order)) == expected
    assert slopp.Records(np.repeat(CELLS.astype(dtype), 2, axis=1)[:, ::2]) == expected
    np.testing.assert_array_equal(expected.to_numpy(), CELLS)


def test_arrays_are_not_written_to():
    cells = CELLS.astype(np.float64)
    cells.flags.writeable = False
    assert slopp.Records(cells) == slopp.Records(CELLS)


def test_lists_and_names():
    records = slopp.Records([[1, 0], [0, 1]], names=["p", "q"])
    assert records.names == ["p", "q"]
    assert slopp.Records([[1, 0]]).names == ["x1", "x2"]


def test_missing():
    cells = CELLS.astype(float)
    cells[3, 2] = cells[0, 0] = np.nan
    records = slopp.Records(cells)
    assert records.has_missing
    np.testing.assert_array_equal(records.to_numpy(), cells)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok"])
def test_sparse(kind):
    sparse = pytest.importorskip("scipy.sparse")
    matrix = sparse.csr_array(CELLS.astype(np.int8)).asformat(kind)
    assert slopp.Records(matrix) == slopp.Records(CELLS)


def frames():
    columns = {"smoker": [True, False, True, None], "colour": ["red", "blue", None, "red"], "old": [0, 1, 1, 0]}
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    yield pandas.DataFrame(columns)
    yield pandas.DataFrame(columns).astype({"colour": "category", "smoker": "boolean", "old": "Int64"})
    yield polars.DataFrame(columns)
    yield polars.DataFrame(columns, schema_overrides={"colour": polars.Categorical})
    yield pyarrow.table(columns)
    yield pyarrow.table({**columns, "colour": pyarrow.array(columns["colour"]).dictionary_encode()})


def test_frames():
    first = None
    for frame in frames():
        records = slopp.Records(frame)
        assert sorted(records.names) == ["colour=blue", "colour=red", "old", "smoker"], type(frame)
        decoded = {name: values.tolist() for name, values in records.to_dict().items()}
        assert decoded["colour"] == ["red", "blue", None, "red"]
        assert decoded["old"] == [0, 1, 1, 0]
        first = first or records
        # Matched by name, whatever the order of columns and categories.
        assert slopp.Records(frame, columns=first.columns) == first


def test_streams_of_arrow():
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({name: CELLS[:, i] for i, name in enumerate(NAMES)})

    class Stream:
        def __arrow_c_stream__(self, requested_schema=None):
            return table.__arrow_c_stream__(requested_schema)

    assert slopp.Records(Stream()) == slopp.Records(CELLS, names=NAMES)


def test_categories_of_frames_keep_their_order():
    pandas = pytest.importorskip("pandas")
    sizes = pandas.Categorical(["small", "large"], categories=["small", "medium", "large"])
    assert slopp.Records(pandas.DataFrame({"size": sizes})).names == ["size=small", "size=medium", "size=large"]
    polars = pytest.importorskip("polars")
    sizes = polars.Series("size", ["small"], dtype=polars.Enum(["small", "medium", "large"]))
    assert slopp.Records(polars.DataFrame([sizes])).names == ["size=small", "size=medium", "size=large"]


def test_answers_in_kind():
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    frame = pandas.DataFrame({"colour": ["red", "blue", "green"] * 20, "hot": [True, False, True] * 20},
                             index=range(100, 160))
    model = slopp.learn(frame)
    completed, _ = model.mpe(frame)
    pandas.testing.assert_frame_equal(completed, frame, check_dtype=False, check_column_type=False)
    assert model.marginals(frame).index.equals(frame.index)
    as_polars = model.mpe(polars.from_pandas(frame))[0]
    assert isinstance(as_polars, polars.DataFrame) and as_polars["colour"].to_list() == frame["colour"].to_list()
    as_arrow = model.mpe(pyarrow.Table.from_pandas(frame, preserve_index=False))[0]
    assert isinstance(as_arrow, pyarrow.Table) and as_arrow["hot"].to_pylist() == frame["hot"].to_list()


def test_weights():
    weights = np.arange(len(CELLS)) % 3
    repeated = np.repeat(CELLS, weights, axis=0)
    weighted = slopp.Records(CELLS, weights=weights)
    assert weighted.total == len(repeated)
    np.testing.assert_array_equal(weighted.weights(), slopp.Records(repeated).weights())
    assert pickle.loads(pickle.dumps(weighted)).total == weighted.total
    assert weighted.where(np.arange(len(weighted)) < 4).total == weights[weights > 0][:4].sum()


def test_files(tmp_path):
    records = slopp.Records(CELLS, names=NAMES)
    records.write(tmp_path / "records.csv")
    assert slopp.Records.read(tmp_path / "records.csv") == records
    records.write(tmp_path / "records.wdata", weighted=True)
    assert slopp.Records.read(tmp_path / "records.wdata").total == len(CELLS)
    with pytest.raises(FileNotFoundError):
        slopp.Records.read(tmp_path / "nothing.csv")
    (tmp_path / "bad.csv").write_text("a,b\n0,1\n0,x\n")
    with pytest.raises(slopp.errors.ReadError, match="line 3"):
        slopp.Records.read(tmp_path / "bad.csv")


def test_split_and_merge():
    records = slopp.Records(CELLS, names=NAMES)
    train, valid = records.split(0.75, 0.25, seed=3)
    assert train.total + valid.total == len(CELLS)
    assert train.merged(valid).total == len(CELLS)
    assert sorted(train.merged(valid).weights()) == sorted(records.weights())


def test_pickle_keeps_the_order():
    records = pickle.loads(pickle.dumps(slopp.Records(CELLS, names=NAMES)))
    np.testing.assert_array_equal(records.to_numpy(), CELLS)


@pytest.mark.parametrize("data,error,match", [
    (np.array([[0, 7]]), RecordsError, 'row 0 of column "x2"'),
    (np.array([[0.0, 0.5]]), RecordsError, "binarize="),
    (np.array([1, 0]), RecordsError, "Reshape your data"),
    (np.array([[1j]]), RecordsError, "Complex data not supported"),
    (np.array([["yes", "no"]]), RecordsError, "cannot be read"),
    ({"a": [1, 0], "b": [1]}, RecordsError, "different lengths"),
    ({"a": [0.5, 3]}, RecordsError, 'row 0 of column "a" is 0.5, neither 0 nor 1'),
    ({"a": list(range(60))}, RecordsError, 'row 2 of column "a".*bins= cuts them'),
    ({"a": [[1], [2]]}, RecordsError, 'has a list in a cell'),
    ({"a": [1, "1"]}, RecordsError, 'two categories that are written "1"'),
    ({"a": np.zeros((2, 2))}, RecordsError, '"a" has 2 dimensions'),
    ({"a": [str(i) for i in range(60)]}, RecordsError, "60 distinct values"),
    ({"a": np.array([None, None], dtype=object)}, None, None),
])
def test_bad_data(data, error, match):
    if error is None:
        assert slopp.Records(data).has_missing
        return
    with pytest.raises(error, match=match):
        slopp.Records(data)


def test_bad_names_and_weights():
    with pytest.raises(RecordsError, match="3 names"):
        slopp.Records([[1, 0]], names=["a", "b", "c"])
    with pytest.raises(NamesError, match='the name "a"'):
        slopp.Records([[1, 0]], names=["a", "a"])
    with pytest.raises(RecordsError, match="not negative"):
        slopp.Records([[1, 0]], weights=[-1])
    with pytest.raises(RecordsError, match="expected"):
        slopp.Records([[1, 0]], weights=[1, 2])


def test_other_variables():
    model = slopp.learn(slopp.Records(CELLS, names=NAMES))
    with pytest.raises(RecordsError, match="X has 2 features, but 6"):
        model.log_likelihoods([[1, 0]])
    with pytest.raises(RecordsError, match="has no column f: every column must be there, with None"):
        model.log_likelihoods({name: [1] for name in NAMES[:5]})
    with pytest.raises(RecordsError, match="a column z that is not known"):
        model.log_likelihoods({name: [1] for name in [*NAMES, "z"]})
    with pytest.raises(RecordsError, match="other variables"):
        model.log_likelihoods(slopp.Records([[1, 0]]))
    shuffled = {name: CELLS[:, NAMES.index(name)] for name in reversed(NAMES)}
    np.testing.assert_array_equal(model.log_likelihoods(shuffled), model.log_likelihoods(CELLS))
    other_order = slopp.Records(CELLS[:, ::-1], names=NAMES[::-1])
    np.testing.assert_array_equal(model.log_likelihoods(other_order), model.log_likelihoods(CELLS))


def test_sparse_matrices_are_never_dense():
    """A million cells in parts of a few rows: what is there at once is a part, and the records are the same."""
    cells = np.random.default_rng(0).random((5000, 200)) < 0.01
    sparse = scipy.sparse.csc_matrix(cells)
    largest, toarray = 0, scipy.sparse.csr_matrix.toarray

    def watched(self, *args, **kwargs):
        nonlocal largest
        largest = max(largest, self.shape[0] * self.shape[1])
        return toarray(self, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scipy.sparse.csr_matrix, "toarray", watched)
        patch.setattr("slopp._frames.CELLS", 10_000)
        records = slopp.Records(sparse, weights=np.arange(5000.0))
        model = slopp.PSDD(learner="chow-liu").fit(sparse)
        scores = model.score_samples(sparse)
    assert largest == 10_000
    assert records == slopp.Records(cells, weights=np.arange(5000.0)) and len(records) == 4999
    np.testing.assert_array_equal(scores, model.score_samples(cells))
    wrong = sparse.astype(float).tolil()
    wrong[4321, 7] = 2
    with pytest.MonkeyPatch.context() as patch, pytest.raises(RecordsError, match='row 4321 of column "x8"'):
        patch.setattr("slopp._frames.CELLS", 10_000)
        slopp.Records(wrong)


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="memory use is read from /proc")
def test_memory_of_sparse_matrices():
    """Of 200 000 × 1000 cells, 200 MB as bytes, the process keeps the packed ones, by row and by column."""
    code = """
import pathlib, re, numpy as np, scipy.sparse, slopp
random = np.random.default_rng(0)
rows, width, ones = 200_000, 1000, 10
matrix = scipy.sparse.csr_matrix((np.ones(rows * ones, dtype=np.int8), random.integers(width, size=rows * ones),
                                  np.arange(rows + 1) * ones), (rows, width))
matrix.sum_duplicates()
matrix.data[:] = 1
peak = lambda: int(re.search(r"VmHWM:\\s*(\\d+)", pathlib.Path("/proc/self/status").read_text())[1]) / 1024
before = peak()
records = slopp.Records(matrix)
assert len(records) == rows and records.total == rows
print(peak() - before)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 180, done.stdout
