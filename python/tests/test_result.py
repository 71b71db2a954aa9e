"""A result directory is complete or absent, and its tables are the same bytes every time."""

import errno
import math
import os
import pkgutil
import re
import signal
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tailback
from tailback import result as results
from tailback.figures import gallery, tables


def test_a_saved_result_loads_as_it_was(result, tmp_path):
    result.save(tmp_path / "new" / "here")
    loaded = tailback.Result.load(tmp_path / "new" / "here")
    assert loaded.scenario == result.scenario
    assert loaded.summary == result.summary
    assert set(loaded.tables) == set(result.tables)
    assert loaded.tables["ports"].equals(result.tables["ports"])


def test_a_result_is_shown_on_one_line(result):
    assert repr(result).startswith("<Result 'fake', not stable, tables classes, series, ports, ")
    assert repr(tailback.Result("", {"interrupted": True}, {})) == "<Result interrupted, no tables>"


@pytest.mark.parametrize("name", ["plot", "curves", "pictures", "drawing", "trace", "view", None])
def test_what_a_module_is_for_is_listed_and_nothing_else(name):
    module = getattr(tailback, name) if name else tailback
    assert dir(module) == sorted(module.__all__)
    assert all(hasattr(module, each) for each in module.__all__)


def test_what_modules_say_of_their_use_is_there():
    """After `import tailback` there is what it lists; other modules are imported by their names."""
    for module in pkgutil.walk_packages(tailback.__path__, "tailback."):
        text = import_module(module.name).__doc__ if module.name != "tailback.__main__" else ""
        for name in re.findall(r"\btailback\.(\w+)[.(]", text or ""):
            assert name in tailback.__all__, f"{module.name} names tailback.{name}"


def test_no_module_hides_what_a_user_calls():
    """A module that is loaded stands under its name in its package, whatever stood there before."""
    for module in {module.name for module in pkgutil.iter_modules(tailback.__path__)} & set(tailback.__all__):
        assert getattr(tailback, module) is import_module(f"tailback.{module}")


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


@pytest.mark.parametrize(
    "text",
    [
        "3",
        '{"classes": 3}',
        '{"classes": {"hot": 3}}',
        '{"classes": {"hot": {"message_latency_ns": 3}}}',
        '{"jobs": []}',
        '{"jobs": {"app": {"phases": "two"}}}',
    ],
)
def test_a_summary_that_is_none_is_a_mistake(result, tmp_path, text):
    result.save(tmp_path / "here")
    (tmp_path / "here" / "summary.json").write_text(text)
    with pytest.raises(tailback.InputError, match=r"summary.json is no summary \(it is damaged"):
        tailback.Result.load(tmp_path / "here")


def test_what_is_too_deep_to_be_read_is_a_mistake(result, tmp_path, command):
    result.save(tmp_path / "here")
    (tmp_path / "here" / "summary.json").write_text("[" * 100_000)
    status, _, err = command("plot", "here")
    assert (status, "here cannot be read as a result" in err) == (2, True), err


def test_a_missing_value_is_nan(result):
    assert math.isnan(result.tables["series"]["message_latency_ns"][0].as_py())


def test_a_result_that_cannot_be_completed_leaves_the_earlier_one(result, tmp_path, monkeypatch):
    result.save(tmp_path / "here")
    before = (tmp_path / "here" / "summary.json").read_bytes()

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pq, "write_table", full)
    with pytest.raises(tailback.NotKept, match="No space left"):
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
    pq.write_table(pa.table({"a": [1]}), tmp_path / "here" / "links.parquet")
    (tmp_path / "here" / "plots").mkdir()
    (tmp_path / "here" / "plots" / "job_times.svg").touch()
    result.save(tmp_path / "here")
    assert "links" not in tailback.Result.load(tmp_path / "here").tables
    assert not (tmp_path / "here" / "plots").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["here"]


@pytest.mark.parametrize("name", ["notes.txt", "my_precious_data.parquet", "plots/thesis.txt", "plots/a.svg"])
@pytest.mark.parametrize("has_result", [False, True])
def test_a_folder_with_other_things_is_left_alone(result, tmp_path, name, has_result):
    if has_result:
        result.save(tmp_path)
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(tailback.InputError, match=f"other things than a result, such as {name}"):
        result.save(tmp_path)
    assert sorted(tmp_path.rglob("*")) == before
    assert file.read_text() == "mine"


@pytest.mark.parametrize("folder", ["plots/job_times.svg", "series.parquet"])
def test_folders_of_the_names_of_files_are_left_alone(result, tmp_path, folder):
    result.save(tmp_path / "here")
    (tmp_path / "here" / folder).unlink(missing_ok=True)
    (tmp_path / "here" / folder).mkdir(parents=True)
    with pytest.raises(tailback.InputError, match=f"such as {folder}"):
        result.save(tmp_path / "here")


@pytest.mark.parametrize("missing", ["summary.json", "scenario.toml"])
def test_what_is_no_whole_result_is_left_alone(result, tmp_path, missing):
    result.save(tmp_path / "here")
    (tmp_path / "here" / missing).unlink()
    with pytest.raises(
        tailback.InputError, match=f"classes.parquet but no whole result: {missing} is missing"
    ):
        result.save(tmp_path / "here")
    assert (tmp_path / "here" / "classes.parquet").exists()


def test_figures_read_tables_that_a_result_has():
    assert {table for table, _ in gallery.FIGURES.values()} <= set(results.TABLES)


@pytest.mark.engine
def test_tables_of_a_result_are_known():
    scenarios = Path(__file__).parents[2] / "scenarios"
    record = {
        "series": "1 us",
        "pairs": "1 us",
        "occupancy": ["1 us"],
        **dict.fromkeys(("sources", "ports", "packets", "messages", "pauses", "trees"), True),
    }
    changes = {f"record.{key}": value for key, value in record.items()}
    changed = {"run.duration": "2 us", "link.flow_control": "pfc"}
    abatement = tailback.Scenario.load(scenarios / "abatement.toml").replace(changed)
    phases = tailback.Scenario.load(scenarios / "phases.toml").replace({"job.app.phases": 1})
    found = set(abatement.replace(changes).run().tables)
    for model in ("packets", "fluid"):
        found |= set(phases.replace({"run.model": model, "record.ports": model == "fluid"}).run().tables)
    assert found == set(results.TABLES)


def test_a_table_in_place_of_another_is_named_with_the_column_that_it_lacks(result, tmp_path, command):
    result.save(tmp_path / "here")
    (tmp_path / "here" / "classes.parquet").replace(tmp_path / "here" / "series.parquet")
    status, _, err = command("plot", "here")
    assert status == 2
    assert "here/series.parquet has no column 'time_ns'" in err


@pytest.mark.parametrize(
    ("column", "values", "told"),
    [
        ("mean", ["much"], "'mean' of string in place of numbers"),
        ("class", [1], "'class' of int64 in place of words"),
    ],
)
def test_a_column_of_another_kind_is_told(result, tmp_path, command, column, values, told):
    names = results.TABLES["slowdowns"]
    row = {name: ["a"] if name == "class" else [1.0] for name in names} | {column: values}
    replace(result, tables=result.tables | {"slowdowns": pa.table(row)}).save(tmp_path / "here")
    status, _, err = command("show", "here")
    assert status == 2
    assert f"here/slowdowns.parquet has a column {told}" in err


def test_a_result_without_a_title_is_called_by_its_folder(tmp_path):
    tailback.Result("", {}, {}).save(tmp_path / "mine")
    result = tailback.Result.load(tmp_path / "mine")
    assert (result.title, result.name) == ("", "mine")
    assert repr(result) == "<Result 'mine', no tables>"
    assert list(tables.by_label([result, result])) == ["mine (1)", "mine (2)"]


def test_a_result_that_cannot_be_put_in_its_place_leaves_the_one_before(result, tmp_path, monkeypatch):
    result.save(tmp_path / "here")
    real = Path.rename

    def rename(self, to):
        if self.name == "new":
            raise OSError(5, "gone")
        return real(self, to)

    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(tailback.NotKept, match="gone"):
        result.save(tmp_path / "here")
    assert (tmp_path / "here" / "summary.json").exists()


def test_a_signal_between_the_two_renames_costs_no_result(result, tmp_path, monkeypatch):
    result.save(tmp_path / "here")
    real = Path.rename

    def rename(self, to):
        moved = real(self, to)
        if self.name == "here":
            os.kill(os.getpid(), signal.SIGINT)
        return moved

    monkeypatch.setattr(Path, "rename", rename)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background it is ignored
    try:
        with pytest.raises(KeyboardInterrupt):
            result.save(tmp_path / "here")
    finally:
        signal.signal(signal.SIGINT, before)
    tailback.Result.load(tmp_path / "here")
    assert [path.name for path in tmp_path.iterdir()] == ["here"]


@pytest.mark.parametrize("path", [None, "", 3])
def test_what_is_no_path_is_refused_wherever_a_folder_is_expected(result, path):
    for call in (tailback.Result.load, tailback.Sweep.load, result.save):
        with pytest.raises(tailback.InputError, match="path of a folder"):
            call(path)


def test_tables_are_asked_for_by_a_list(result, tmp_path):
    result.save(tmp_path / "r")
    with pytest.raises(tailback.InputError, match="named in a list"):
        tailback.Result.load(tmp_path / "r", tables="classes")
