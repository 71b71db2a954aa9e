import json
from pathlib import Path

import pytest
from sweeping import SMALL

import tailback
from tailback.sweeps import sweep
from tailback.sweeps.space import space, told_apart
from tailback.sweeps.text import from_text, without_sweep


def levels(table, key):
    return [point[key] for point in space(table).points()]


def test_the_product_of_lists_changes_its_last_key_fastest():
    points = list(space({"a": [1, 2], "b": ["x", "y"]}).points())
    assert points == [{"a": 1, "b": "x"}, {"a": 1, "b": "y"}, {"a": 2, "b": "x"}, {"a": 2, "b": "y"}]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"from": 0.1, "to": 0.5, "step": 0.1}, [0.1, 0.2, 0.3, 0.4, 0.5]),
        ({"from": 1, "to": 9, "step": 4}, [1, 5, 9]),
        ({"from": 9, "to": 1, "step": -4}, [9, 5, 1]),
        ({"from": 0, "to": 1, "points": 3}, [0, 0.5, 1]),
        ({"from": 1, "to": 100, "points": 3, "log": True}, [1, 10, 100]),
        ({"from": 0, "to": 1, "points": 4}, [0, 0.333333333333, 0.666666666667, 1]),
        (
            {"from": "1 packet", "to": "3 packets", "step": "1 packet"},
            ["1 packets", "2 packets", "3 packets"],
        ),
        ({"from": "1 us", "to": "1.2 us", "step": "100 ns"}, ["1000 ns", "1100 ns", "1200 ns"]),
        (
            {"from": "1 s", "to": "1.000000000002 s", "step": "1 ps"},
            ["1000000000000 ps", "1000000000001 ps", "1000000000002 ps"],
        ),
        ({"from": "100 ns", "to": "10 us", "points": 3, "log": True}, ["100 ns", "1000 ns", "10000 ns"]),
        (
            {"from": "100 ns", "to": "10 us", "points": 5, "log": True},
            ["100 ns", "316.228 ns", "1000 ns", "3162.278 ns", "10000 ns"],
        ),
        ({"from": "1 us", "to": "2 us", "points": 4}, ["1 us", "1.333333 us", "1.666667 us", "2 us"]),
        ({"from": "0 flits", "to": "10 flits", "points": 4}, ["0 flits", "3 flits", "7 flits", "10 flits"]),
        (
            {"from": "1 KiB", "to": "2 KiB", "points": 4},
            ["1 KiB", "1.3330078125 KiB", "1.6669921875 KiB", "2 KiB"],
        ),
        ({"from": "1 b", "to": "8 b", "points": 3}, ["1 b", "4 b", "8 b"]),
        ({"from": "1 kb/s", "to": "2 kb/s", "points": 4}, ["1 kb/s", "1.333 kb/s", "1.667 kb/s", "2 kb/s"]),
        ({"from": "10 %", "to": "20 %", "points": 4}, ["10 %", "13.3333333333 %", "16.6666666667 %", "20 %"]),
        ({"from": "1 GiB", "to": "1 GB", "points": 2}, ["1.073741824 GB", "1 GB"]),
        ({"from": "10 %", "to": 0.3, "step": "10 %"}, ["10 %", "20 %", "30 %"]),
        ({"from": "10 us", "to": "20 us", "step": "5 us"}, ["10 us", "15 us", "20 us"]),
    ],
)
def test_a_range_has_both_its_ends(given, expected):
    assert levels({"a": given}, "a") == expected


@pytest.mark.engine
@pytest.mark.parametrize(
    ("key", "ends"),
    [
        ("link.global", ("1 ns", "1 s")),
        ("link.global", ("1 cycle", "999 cycles")),
        ("link.bandwidth", ("1 Gb/s", "1 TiB/s")),
        ("run.memory", ("1 GiB", "7 TiB")),
        ("run.memory", ("3 TiB", "7 TiB")),
        ("link.bandwidth", ("1 GiB/s", "9 GiB/s")),
        ("traffic.u.message", ("1 B", "1 MiB")),
        ("traffic.u.message", ("1 packet", "99 packets")),
    ],
)
@pytest.mark.parametrize("log", [False, True])
def test_quantities_between_the_ends_of_a_range_are_such_as_a_scenario_can_hold(key, ends, log):
    scenario = tailback.Scenario.loads(SMALL).replace({"traffic.u.load": 0.1})
    values = levels({"a": {"from": ends[0], "to": ends[1], "points": 7, "log": log}}, "a")
    for value in values:
        told = [problem.message for problem in scenario.replace({key: value}).check()]
        assert not any("whole" in message or "too large" in message for message in told), value


def test_zipped_lists_go_together():
    points = list(space({"zip": {"a": [1, 2], "b": [3, 4]}, "c": [5]}).points())
    assert points == [{"a": 1, "b": 3, "c": 5}, {"a": 2, "b": 4, "c": 5}]


def test_lists_that_go_together_may_name_a_value_twice_but_not_a_pair():
    zipped = {"a": [1, 1, 2], "b": ["x", "y", "y"]}
    assert [tuple(point.values()) for point in space({"zip": zipped}).points()] == [
        (1, "x"),
        (1, "y"),
        (2, "y"),
    ]
    with pytest.raises(tailback.InputError, match=r"sweep\.zip: the values of a, b are together twice"):
        space({"zip": {"a": [1, 1, 1], "b": ["x", "y", "x"]}})


def test_seeds_are_a_number_or_a_list():
    assert levels({"seeds": 3}, "run.seed") == [1, 2, 3]
    assert levels({"seeds": [7, 9]}, "run.seed") == [7, 9]


def test_an_unquoted_dotted_key_is_the_same_key():
    table = from_text('[sweep]\ntraffic.hot.load = [0.1]\n"run.threads" = [1]\n[sweep.a]\nstep = [1]\n')
    assert table.keys == ["traffic.hot.load", "run.threads", "a.step"]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('[sweep.traffic."a b.c"]\nload = [0.1]', 'traffic."a b.c".load'),
        ('[sweep]\ntraffic."a\\"".load = [0.1]', r'traffic."a\"".load'),
        ('[sweep]\nzip.traffic."µ".load = [0.1]', 'traffic."µ".load'),
        ('[sweep."traffic.hot"]\nload = [0.1]', "traffic.hot.load"),
        ('[sweep.traffic]\n"hot.load" = [0.1]', "traffic.hot.load"),
    ],
)
def test_the_name_of_a_table_is_one_part_of_a_key_whatever_is_in_it(text, key):
    assert from_text(text).keys == [key]
    assert len(tailback.Scenario.loads("").places([key])[0]) == 3


def test_text_that_is_too_deep_for_a_table_is_left_to_the_engine():
    assert from_text("a = " + "[" * 100_000) is None


def test_any_part_of_a_large_space_is_made_without_the_rest():
    huge = space({"a": {"from": 1, "to": 1_000_000, "step": 1}, "seeds": 1_000_000})
    assert len(huge) == 10**12
    assert next(huge.points(10**12 - 1)) == {"a": 1_000_000, "run.seed": 1_000_000}


@pytest.mark.parametrize(
    ("table", "path", "words"),
    [
        ({}, "sweep", "no keys"),
        (3, "sweep", "no table of lists"),
        ({"a": []}, "sweep.a", "empty"),
        ({"a": 3}, "sweep.a", "a list or a range"),
        ({"a": [1, 1]}, "sweep.a", "twice"),
        ({"seeds": 0}, "sweep.seeds", "not possible"),
        ({"seeds": ["x"]}, "sweep.seeds", "whole numbers"),
        ({"zip": {"a": [1], "b": [1, 2]}}, "sweep.zip", "one length"),
        ({"zip": {"a": [1]}, "a": [2]}, "sweep.a", "twice"),
        ({"a": {"from": 1, "to": 2}}, "sweep.a", "step or points"),
        ({"a": {"from": 1, "to": 2, "step": 0}}, "sweep.a", "never leads"),
        ({"a": {"from": 2, "to": 1, "step": 1}}, "sweep.a", "never leads"),
        ({"a": {"from": 0, "to": 1, "points": 3, "log": True}}, "sweep.a", "over 0"),
        ({"a": {"from": 0, "to": 1e9, "step": 1e-9}}, "sweep.a", "at most"),
        ({"a": {"from": "1 us", "to": "1 MB", "points": 3}}, "sweep.a", "units of one kind"),
        ({"a": {"from": "1 us", "to": "2 us", "step": 1}}, "sweep.a", "units of one kind"),
        ({"a": {"from": 1, "to": 2, "steps": 3}}, "sweep.a", "no key 'steps'"),
        ({"a": {"start": 1, "stop": 2, "step": 1}}, "sweep.a", "no key 'start'; it has from, to, step"),
        ({"a": {"step": 1, "points": 2}}, "sweep.a", "needs from, to"),
        ({"a": {"from": "x", "to": 2, "step": 3}}, "sweep.a", "neither a number"),
        ({"a": {"from": 1, "to": 0, "points": 3, "log": True}}, "sweep.a", "over 0"),
        ({"a": {"from": 1, "to": 1, "points": 2}}, "sweep.a", "both ends"),
        ({"a": {"from": 1, "to": 4, "step": 1, "log": True}}, "sweep.a", "takes points"),
        ({"a": {"from": True, "to": 2, "points": 2}}, "sweep.a", "neither a number"),
        ({"a": {"from": "1 flit", "to": "3 flits", "points": 5}}, "sweep.a", "whole numbers of flits"),
        ({"a": {"from": 0, "to": "1e999999", "step": 1}}, "sweep.a", "too large"),
        ({"a": {"from": 0.1, "to": "1e9999999", "points": 3, "log": True}}, "sweep.a", "too large"),
        ({"a": {"from": 0, "to": 1, "step": 1e-300}}, "sweep.a", "has too many values; at most 1,000,000"),
        ({"a": {"from": "1e-300 ps", "to": "1e300 s", "step": "1e-300 ps"}}, "sweep.a", "at most"),
        ({"a": {"from": 1, "to": 2, "points": 3, "log": "no"}}, "sweep.a", "log is true or false, not 'no'"),
        ({"seeds": [1, True]}, "sweep.seeds", "whole numbers"),
        ({"seeds": [-1]}, "sweep.seeds", "whole numbers"),
    ],
)
def test_nonsense_is_refused_with_its_place(table, path, words):
    with pytest.raises(tailback.InputError) as raised:
        space(table)
    assert [problem.path for problem in raised.value.problems] == [path]
    assert words in str(raised.value)


def test_all_mistakes_are_told_at_once():
    with pytest.raises(tailback.InputError) as raised:
        space({"a": [], "b": 1, "seeds": -1})
    assert len(raised.value.problems) == 3


def test_the_table_is_taken_out_and_all_other_lines_keep_their_numbers():
    text = 'title = "x"\n[sweep] # all\n"a.b" = [\n  1,\n]\n[sweep.zip]\nc = [1]\n[run]\nseed = 1\n'
    assert without_sweep(text) == 'title = "x"\n' + "\n" * 6 + "[run]\nseed = 1\n"


def test_the_table_is_taken_out_beside_what_is_no_number():
    assert without_sweep("[run]\nseed = nan\n[sweep]\na = [nan]\n") == "[run]\nseed = nan\n\n\n"


def test_lines_of_values_that_look_like_headers_are_none():
    values = 'a = [\n  [4],\n  [8]\n]\nb = ["""\n[run]\n"""]\n'
    assert without_sweep(f"[sweep]\n{values}[run]\nseed = 1\n") == "\n" * 8 + "[run]\nseed = 1\n"
    before = 'x = """\n[sweep]\n"""\n'
    assert without_sweep(f"{before}['sweep']\r\n[run]\r\n") == f"{before}\n[run]\r\n"


@pytest.mark.parametrize(
    ("table", "line"),
    [
        ("[sweep]\nzip = {{ {a}, {b} }}", 2),
        ("[sweep.zip]\n{a}\n{b}", 1),
        ("[[sweep.zip]]\n{a}\n{b}", 1),
        ("[sweep]\n\nzip.{a}\nzip.{b}", 3),
    ],
)
def test_lists_of_different_lengths_are_told_with_their_line_and_the_remedy(table, line):
    text = table.format(a='"a.b" = [1, 2]', b='"run.seed" = [1]')
    with pytest.raises(tailback.InputError) as raised:
        from_text(text)
    (problem,) = raised.value.problems
    assert (problem.line, "need one length" in problem.message, "such as zip" in problem.help) == (
        line,
        True,
        True,
    )


def test_a_mistake_has_the_line_of_the_nearest_key():
    for text, line in (("[sweep.run]\nseed = [1, 1]", 2), ("[sweep]\nrun.seed = [1, 1]", 2)):
        with pytest.raises(tailback.InputError) as raised:
            from_text(text)
        assert [problem.line for problem in raised.value.problems] == [line]


def test_a_key_that_is_given_twice_is_told_with_the_remedy():
    for table, remedy in (
        ({"run.seed": [1], "seeds": 2}, "seeds = "),
        ({"a": [1], "zip": {"a": [1]}}, "leave"),
    ):
        with pytest.raises(tailback.InputError) as raised:
            space(table)
        assert remedy in raised.value.problems[0].help


@pytest.mark.engine
@pytest.mark.parametrize("name", ["", 'name = "u"\n'])
def test_a_wrong_value_for_a_class_has_the_line_and_the_name_of_its_key(command, scenario_file, name):
    text = SMALL.replace('name = "u"\n', name).split("[sweep]")[0]
    text = text.replace("[[traffic]]", "[[traffic]]\nload = 0.1")
    file = scenario_file(f'{text}[sweep]\n"traffic.0.load" = [0.1, 3]\n')
    line = len(Path(file).read_text().splitlines())
    status, _, err = command("check", file)
    assert (status, f":{line}: error: traffic.0.load: expected a number" in err) == (2, True), err


def test_a_sweep_that_is_no_table_of_its_own_is_refused():
    with pytest.raises(tailback.InputError, match=r"write it under \[sweep\]"):
        without_sweep("sweep = { a = [1] }\n[run]\nseed = 1\n")


def test_one_seed_is_the_largest_and_a_part_ends_with_the_sweep():
    assert list(space({"seeds": [1, 9, 3]}).with_one_seed().points()) == [{"run.seed": 9}]
    assert list(space({"a": [1, 2]}).points(1, 9)) == [{"a": 2}]


def test_seeds_of_the_call_take_the_place_of_those_of_the_table():
    text = '[sweep]\n"a.load" = [0.1, 0.2, 0.3]\nseeds = 5\n'
    _, whole = sweep.split(tailback.Scenario.loads(text), None, 2)
    assert [tuple(point.values()) for point in whole.points()] == [
        (load, seed) for load in (0.1, 0.2, 0.3) for seed in (1, 2)
    ]
    with pytest.raises(tailback.InputError, match="together with other keys"):
        sweep.split(
            tailback.Scenario.loads('[sweep]\nzip = { "a.load" = [1, 2], "run.seed" = [3, 4] }\n'), None, 2
        )


def test_of_tables_only_what_differs_is_told():
    trees = [{"kind": "xgft", "up": [8], "links": [one]} for one in (1, 2)]
    assert told_apart(trees) == ["links [1]", "links [2]"]
    assert told_apart([*map(json.dumps, trees)]) == ["links [1]", "links [2]"]
    assert told_apart(trees[:1]) == ["xgft up [8] links [1]"]
    ecn = {"kind": "ecn", "threshold": "96 flits"}
    assert told_apart(["none", ecn]) == ["none", "ecn threshold 96 flits"]
    assert told_apart([{"kind": "ecn"}, ecn]) == ["ecn", "threshold 96 flits"]
    assert told_apart([0.1, "4 flits"]) == ["0.1", "4 flits"]
