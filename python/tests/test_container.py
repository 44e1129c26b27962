"""Records as a container: for loops, for NumPy and frames, for scikit-learn."""

import numpy as np
import pytest
import slopp
from conftest import NAMES, rows
from slopp.errors import ArgumentError

CELLS = rows(4)
MIXED = {"colour": ["red", "blue", None, "red"], "hot": [True, False, True, None], "old": [True, True, False, False]}


def test_records_by_place():
    records = slopp.Records(MIXED)
    assert records.shape == (4, 3) and len(records) == 4
    assert records[0] == {"colour": "red", "hot": True, "old": True}
    assert records[-1] == records[np.int64(3)] == {"colour": "red", "hot": None, "old": False}
    assert list(records) == [records[i] for i in range(4)]
    assert list(records[1:3]) == list(records[[1, 2]]) == list(records[np.array([0, 1, 1, 0], bool)]) == [
        records[1], records[2]]
    assert len(records[[]]) == 0
    with pytest.raises(IndexError):
        records[4]
    for wrong in ("colour", [0.5], [[0]]):
        with pytest.raises(ArgumentError, match="to_dict"):
            records[wrong]


def test_some_records_keep_weights_and_index():
    pandas = pytest.importorskip("pandas")
    records = slopp.Records(pandas.DataFrame(CELLS, columns=NAMES), weights=np.arange(1, len(CELLS) + 1))
    some = records[[7, 3]]
    np.testing.assert_array_equal(some.record_weights(), [8, 4])
    assert some.to_pandas().index.tolist() == [7, 3]


def test_arrays_of_records():
    np.testing.assert_array_equal(np.asarray(slopp.Records(CELLS)), CELLS)
    assert np.asarray(slopp.Records(CELLS), dtype=np.float32).dtype == np.float32
    cells = np.asarray(slopp.Records(MIXED))
    assert cells.shape == (4, 3) and cells[0].tolist() == ["red", True, True] and cells[2, 0] is None


def test_frames_of_records():
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    records = slopp.Records(MIXED)
    for frame in (pandas.DataFrame(records), polars.DataFrame(records), pyarrow.table(records)):
        assert slopp.Records(frame, columns=records.columns) == records


def test_validation_of_records():
    selection = pytest.importorskip("sklearn.model_selection")
    found = selection.cross_val_score(slopp.PSDD(), slopp.Records(CELLS), cv=3)
    np.testing.assert_array_equal(found, selection.cross_val_score(slopp.PSDD(), CELLS, cv=3))


@pytest.mark.parametrize("shares,match", [((0.8,), "at least two"), ((), "at least two"), ((0.5, 0.9), "1.4 together"),
                                          ((0.1, 0.1), "0.2 together"), ((0.5, "x"), "a share is 'x'")])
def test_bad_shares(shares, match):
    with pytest.raises(ArgumentError, match=match):
        slopp.Records(CELLS).split(*shares)


def test_shares():
    records = slopp.Records(CELLS)
    assert [len(part) for part in records.split(8, 2)] == [len(part) for part in records.split(0.8, 0.2)]
    assert len({tuple(records.split(1, 1, seed=None)[0].weights()) for _ in range(20)}) > 1
