"""How many times as long as in the empty network messages took, as figures draw it and tables print it."""

import math
from dataclasses import replace

import pyarrow as pa
import pytest

import tailback
from tailback import console, plot

SCENARIO = 'packet = { flit = "100 b" }\nrun = { warmup = "1 us", duration = "10 us" }\n'


def messages(rows):
    """A result with messages of class "hot": flits, creation and latency; alone they take 100 ns."""
    flits, created, took = zip(*rows, strict=True)
    table = pa.table(
        {
            "class": ["hot"] * len(flits),
            "kind": ["data"] * len(flits),
            "flits": list(flits),
            "created_ns": [float(at) for at in created],
            "latency_ns": [float(time) for time in took],
            "zero_load_ns": [100.0] * len(flits),
        }
    )
    return tailback.Result(SCENARIO, {"classes": {"hot": {}, "all": {}}}, {"messages": table})


def drawn(axes):
    (line,) = axes.get_lines()
    return dict(zip(line.get_xdata().tolist(), line.get_ydata().tolist(), strict=True))


def test_the_median_and_the_tail_are_those_of_each_size():
    few = [(80, 2000, took) for took in (500, 300, 100)]
    many = [(8, 2000, 100 + at) for at in range(1, 101)]
    median, tail = plot.slowdown_by_size(messages(few + many)).axes
    # 100 bits are 12.5 bytes; of an even number the lower of the middle ones.
    assert drawn(median) == {100.0: 1.5, 1000.0: 3.0}
    # Three messages have no 99th percentile, and no line leads over them.
    assert drawn(tail)[100.0] == 1.99
    assert math.isnan(drawn(tail)[1000.0])


def test_a_figure_without_tails_has_one_panel_and_messages_before_the_window_do_not_count():
    figure = plot.slowdown_by_size(
        messages([(8, 999, 900), (8, 1000, 300), (8, 10_999, 300), (8, 11_000, 900)])
    )
    (median,) = figure.axes
    assert drawn(median) == {100.0: 3.0}


def test_a_class_without_messages_in_the_window_has_no_line():
    result = messages([(8, 999, 900), (8, 1000, 300)])
    table = result.tables["messages"]
    named = table.set_column(0, "class", pa.array(["early", "hot"]))
    figure = plot.slowdown_by_size(replace(result, tables={"messages": named}))
    assert [line.get_label() for line in figure.axes[0].get_lines()] == ["hot"]


def test_many_sizes_stand_together_by_powers_of_two():
    rows = [(flits, 2000, 100 * flits) for flits in range(8, 32)]
    (median,) = plot.slowdown_by_size(messages(rows)).axes
    # 100 to 127, 128 to 255, and 256 to 387.5 bytes.
    places = [2**power for power in (6.5, 7.5, 8.5)]
    assert drawn(median) == dict(zip(places, (9.0, 15.0, 26.0), strict=True))


def test_what_is_missing_in_a_saturated_class_is_told():
    result = messages([(8, 2000, 300)])
    facts = {"offered": 0.5, "accepted": 0.2, "message_latency_ns": {"saturated": True}}
    late = replace(result, summary={"classes": {"hot": facts, "all": facts}})
    assert "saturated (hot)" in plot.slowdown_by_size(late).get_supxlabel()
    assert "saturated" not in plot.slowdown_by_size(result).get_supxlabel()


def test_questions_and_answers_of_the_software_are_no_messages_of_data():
    result = messages([(8, 2000, 300), (1, 2000, 9000)])
    table = result.tables["messages"]
    kinds = pa.array(["data", "control"])
    table = table.set_column(table.column_names.index("kind"), "kind", kinds)
    assert drawn(plot.slowdown_by_size(replace(result, tables={"messages": table})).axes[0]) == {100.0: 3.0}


def test_sizes_without_a_tail_are_told():
    few, many = [(80, 2000, 500)], [(8, 2000, 100 + at) for at in range(100)]
    assert "fewer than 100" in plot.slowdown_by_size(messages(few + many)).get_supxlabel()
    assert "fewer than 100" not in plot.slowdown_by_size(messages(many)).get_supxlabel()


def test_nothing_to_draw_is_a_mistake():
    for rows, told in (([(8, 2, 300)], "no message has a slowdown"),):
        with pytest.raises(tailback.InputError, match=told):
            plot.slowdown_by_size(messages(rows))
    nameless = replace(messages([(8, 2000, 300)]), scenario="title = 'x'")
    with pytest.raises(tailback.InputError, match="how large a flit is"):
        plot.slowdown_by_size(nameless)


def test_results_without_slowdowns_are_drawn_without_that_figure(command, tmp_path):
    early, known = messages([(8, 2, 300)]), messages([(8, 2000, 300)])
    older = replace(
        known, tables={"messages": known.tables["messages"].drop_columns(["zero_load_ns", "kind"])}
    )
    for name, run in {"early": early, "older": older, "known": known}.items():
        run.save(tmp_path / name)
    assert "slowdown_by_size" not in command("plot", "early", "older", "-o", "none")[1]
    status, out, _ = command("plot", "early", "older", "known", "-o", "drawn")
    assert (status, "drawn/slowdown_by_size.png" in out) == (0, True)


def test_tables_print_slowdown_and_fairness_of_runs_that_have_them(command, result, tmp_path):
    slowdown = {"mean": 2.5, "p50": 2.0, "p99": 7.25, "p999": None, "max": 9.0}
    facts = result.summary["classes"]["hot"]
    facts["message_latency_ns"]["saturated"] = False
    facts |= {"message_slowdown": slowdown, "fairness": 0.875, "source_accepted_min": 0.125}
    result.save(tmp_path / "with")
    status, out, _ = command("show", "with")
    assert status == 0
    (row,) = (line for line in out.splitlines() if "slowdown" in line)
    cells = [cell.strip() for cell in row.split("│")]
    assert cells[1:-1] == ["hot", "slowdown", "2.50", "2.00", "7.25", "-", "9.00"]
    assert "0.875" in out
    assert "12.5 %" in out


def test_little_is_not_nothing():
    assert [console.share(value) for value in (0.0, 0.00033, 0.0005, 0.125)] == [
        "0.0 %",
        "0.03 %",
        "0.1 %",
        "12.5 %",
    ]
