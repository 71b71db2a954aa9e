from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

import tailback
from tailback import trace
from tailback.errors import InputError

SCENARIO = Path(__file__).parents[2] / "scenarios" / "trace.toml"


def row(start, origin, to, kind="data", event="sent", sequence=0, message=0):
    owner = (0, 1) if kind == "data" else (1, 0)
    return {
        "event": event,
        "kind": kind,
        "traffic_class": kind,
        "from": origin,
        "to": to,
        "start_ns": start,
        "head_ns": start + 5.0,
        "tail_ns": start + 9.0,
        "granted_ns": float("nan"),
        "source": owner[0],
        "destination": owner[1],
        "message": message,
        "sequence": sequence,
        "flits": 4,
        "word0": 0,
    }


ROWS = [
    row(0, "endpoint 0", "switch 7"),
    row(5, "switch 7", "switch 2"),
    row(10, "switch 2", "endpoint 1"),
    row(19, "endpoint 1", "switch 2", "ack"),
    row(24, "switch 2", "switch 7", "ack"),
]


def test_lifelines_stand_in_the_order_in_which_data_pass_them():
    assert trace._order(ROWS) == ["endpoint 0", "switch 7", "switch 2", "endpoint 1"]


def test_a_packet_is_labelled_where_it_starts_and_nowhere_else():
    refusal = row(12, "switch 7", "endpoint 0", "nack")
    assert trace._starts([*ROWS, refusal]) == [True, False, False, True, False, True]


def test_several_messages_are_numbered_in_the_order_they_are_sent():
    rows = [row(0, "endpoint 0", "switch 7", message=4), row(9, "endpoint 0", "switch 7", message=1)]
    names = trace._names(rows)
    assert [trace._label(one, names) for one in rows] == ["M1 P1", "M2 P1"]
    assert trace._label(ROWS[3], trace._names(ROWS)) == "A P1"
    assert trace._label(ROWS[3] | {"word0": 1}, trace._names(ROWS)) == "A P1 marked"


@pytest.mark.engine
def test_every_packet_of_a_run_is_sent_over_every_channel_or_ends_in_a_switch():
    rows = trace.run(tailback.Scenario.load(SCENARIO)).tables["packets"].to_pylist()
    data = [one for one in rows if one["kind"] == "data"]
    events = {
        place: sum(one["event"] == event and one["from"].startswith(place) for one in data)
        for place, event in (("endpoint", "sent"), ("switch", "sent"))
    }
    dropped = sum(one["event"] == "dropped" for one in data)
    assert dropped > 0
    assert events["switch"] == 6
    assert events["endpoint"] == 6 + dropped
    assert all(one["start_ns"] <= one["head_ns"] <= one["tail_ns"] for one in rows)


@pytest.mark.engine
def test_the_record_does_not_depend_on_the_partitions():
    network = {"topology": {"kind": "fat-tree", "levels": 2, "arity": 2}, "routing": {"kind": "nca"}}
    scenario = tailback.Scenario.load(SCENARIO).replace(
        {**network, "traffic.data.pairs": [[0, 3], [1, 3]], "record.packets": True}
    )
    one, many = (scenario.replace({"run.partitions": count}).run().tables["packets"] for count in (1, 6))
    assert one.num_rows > 50
    assert str(one.to_pylist()) == str(many.to_pylist())


@pytest.mark.engine
def test_the_command_draws_a_small_run_and_refuses_a_large_one(command, tmp_path):
    status, out, _ = command("trace", str(SCENARIO), "-o", str(tmp_path / "a.png"))
    assert (status, out.strip()) == (0, str(tmp_path / "a.png"))
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    large = ["--set", "traffic.data.stop=3 us"]
    status, _, err = command("trace", str(SCENARIO), *large)
    assert status == 2
    assert "at most 20 messages" in err
    status, _, err = command("trace", str(SCENARIO), "-o", "a.gif")
    assert status == 2
    assert ".svg" in err


def test_no_label_stands_below_the_diagram():
    rows = [row(0, "endpoint 0", "switch 7")]
    rows += [row(100, "endpoint 0", "switch 7", sequence=number) for number in range(1, trace.LABELS_MAX)]
    axes = trace.diagram(tailback.Result("", {}, {"packets": trace_table(rows)})).axes[0]
    bottom, top = axes.get_ylim()
    places = sorted(text.get_position()[1] for text in axes.texts if "P" in text.get_text())
    assert len(places) == trace.LABELS_MAX
    assert top <= places[0] < places[-1] < bottom


def test_the_label_of_a_refusal_stands_over_the_cross():
    rows = [
        *ROWS,
        row(12, "switch 7", "endpoint 0", "nack"),
        row(12, "switch 7", "switch 7", event="dropped"),
    ]
    figure = trace.diagram(tailback.Result("", {}, {"packets": trace_table(rows)}))
    figure.draw_without_rendering()
    (axes,) = figure.axes
    (cross,) = (line for line in axes.lines if line.get_marker() == "x")
    (label,) = (text for text in axes.texts if text.get_text() == "N P1")
    middle = axes.transData.transform((cross.get_xdata()[0], cross.get_ydata()[0]))
    half = trace._CROSS["markersize"] / 2 * figure.dpi / 72
    assert label.get_window_extent().y0 > middle[1] + 0.8 * half


def test_many_packets_are_drawn_without_labels():
    rows = [row(at, "endpoint 0", "switch 7", sequence=at) for at in range(trace.LABELS_MAX + 1)]
    axes = trace.diagram(tailback.Result("", {}, {"packets": trace_table(rows)})).axes[0]
    assert not any("P" in text.get_text() for text in axes.texts)
    assert "too many for labels" in axes.get_xlabel()


def test_a_run_without_data_has_nothing_to_draw(monkeypatch):
    empty = tailback.Result("", {"interrupted": False}, {"packets": trace_table([])})
    monkeypatch.setattr(tailback.Scenario, "run", lambda self, watch: empty)
    with pytest.raises(InputError, match="nothing to draw"):
        trace.run(tailback.Scenario.loads("title = 'x'\n"))


def trace_table(rows):
    import pyarrow as pa

    return pa.Table.from_pylist(rows)


def test_pauses_stand_beside_the_line_of_their_sender_until_their_end(result):
    pauses = [
        {"from": "endpoint 0", "to": "switch 7", "start_ns": 3.0, "end_ns": 8.0},
        {"from": "switch 2", "to": "switch 7", "start_ns": 4.0, "end_ns": float("nan")},
        {"from": "endpoint 9", "to": "switch 7", "start_ns": 3.0, "end_ns": 8.0},  # sends nothing
    ]
    tables = {"packets": pa.Table.from_pylist(ROWS), "pauses": pa.Table.from_pylist(pauses)}
    figure = trace.diagram(replace(result, tables=tables))
    bars = [line for line in figure.axes[0].get_lines() if line.get_linewidth() == 5]
    assert [line.get_ydata().tolist() for line in bars] == [[3.0, 8.0], [4.0, 33.0]]
    to_the_right, to_the_left = (line.get_xdata()[0] for line in bars)
    assert (to_the_right, to_the_left) == (pytest.approx(0.03), pytest.approx(1.97))
    assert "paused" in [text.get_text() for text in figure.legends[0].get_texts()]


@pytest.mark.engine
def test_pauses_are_recorded_where_there_are_some():
    paused = trace.run(tailback.Scenario.load(SCENARIO.with_name("pause.toml")))
    assert [row["start_ns"] for row in paused.tables["pauses"].to_pylist()][:1] == [38.0]
    dynamic = {"kind": "pfc-dynamic", "shared": "16 flits", "alpha": 1.0, "reserve": "0 flits"}
    shared = trace.run(
        tailback.Scenario.load(SCENARIO.with_name("pause.toml")).replace({"link.flow_control": dynamic})
    )
    assert shared.tables["pauses"].num_rows > 0
    assert "pauses" not in trace.run(tailback.Scenario.load(SCENARIO)).tables
