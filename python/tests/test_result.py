"""A result directory is complete or absent, and its tables are the same bytes every time."""

import errno
import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tailback
from tailback import result as results


def test_a_saved_result_loads_as_it_was(result, tmp_path):
    result.save(tmp_path / "new" / "here")
    loaded = tailback.Result.load(tmp_path / "new" / "here")
    assert loaded.scenario == result.scenario
    assert loaded.summary == result.summary
    assert set(loaded.tables) == set(result.tables)
    assert loaded.tables["ports"].equals(result.tables["ports"])


def test_tables_are_the_same_bytes_every_time(result, tmp_path):
    result.save(tmp_path / "a")
    tailback.Result.load(tmp_path / "a").save(tmp_path / "b")
    for name in result.tables:
        file = f"{name}.parquet"
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


@given(values=st.lists(st.floats(allow_nan=False)), words=st.lists(st.text(), min_size=1))
def test_columns_come_over_exactly(values, words):
    import json
    import struct

    data = struct.pack(f"<{len(values)}d", *values)
    assert results._array("float64", data).to_pylist() == values
    assert results._array("text", json.dumps(words).encode()).to_pylist() == words


def test_a_missing_value_is_nan(result):
    assert math.isnan(result.tables["series"]["message_latency_ns"][0].as_py())


def test_a_result_that_cannot_be_completed_leaves_the_earlier_one(result, tmp_path, monkeypatch):
    result.save(tmp_path / "here")
    before = (tmp_path / "here" / "summary.json").read_bytes()

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pq, "write_table", full)
    with pytest.raises(tailback.InputError, match="No space left"):
        result.save(tmp_path / "here")
    assert (tmp_path / "here" / "summary.json").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["here"]


def test_an_interrupt_while_writing_leaves_nothing(result, tmp_path, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(pq, "write_table", interrupt)
    with pytest.raises(KeyboardInterrupt):
        result.save(tmp_path / "here")
    assert not list(tmp_path.iterdir())


def test_an_earlier_result_is_replaced_whole(result, tmp_path):
    result.save(tmp_path / "here")
    pq.write_table(pa.table({"a": [1]}), tmp_path / "here" / "stale.parquet")
    result.save(tmp_path / "here")
    assert "stale" not in tailback.Result.load(tmp_path / "here").tables
    assert [path.name for path in tmp_path.iterdir()] == ["here"]


def test_a_folder_with_other_things_is_left_alone(result, tmp_path):
    (tmp_path / "notes.txt").touch()
    with pytest.raises(tailback.InputError, match="other things"):
        result.save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
