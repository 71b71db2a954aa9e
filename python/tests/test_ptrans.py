"""The trace of a matrix transposition moves every element to where it belongs."""

from collections import Counter
from graphlib import TopologicalSorter
from itertools import product

import pytest

import tailback
from tailback.errors import InputError
from tailback.ptrans import Ptrans


@pytest.mark.parametrize("grid", [(1, 2), (2, 2), (3, 3), (2, 3), (2, 4), (4, 6)])
@pytest.mark.parametrize("block", [1, 3, 8])
def test_every_element_goes_to_the_owner_of_its_transposed_place(grid, block):
    rows, columns = grid
    sizes = Ptrans(rows, columns, matrix=25, block=block, element=1)

    def owner(i, j):
        return i // block % rows * columns + j // block % columns

    expected = Counter((owner(i, j), owner(j, i)) for i in range(25) for j in range(25))
    found = {
        (task, other): size for task in range(rows * columns) for other, size in sizes.volume(task).items()
    }
    assert found == {pair: size for pair, size in expected.items() if pair[0] != pair[1]}
    for task in range(rows * columns):
        assert sorted(sizes.partners(task)) == sorted(sizes.volume(task))


def test_a_trace_has_the_counts_of_its_header_and_all_bytes():
    sizes = Ptrans(2, 3, matrix=100, block=7, chunk=1000, iterations=2)
    header, world, *messages = sizes.trace()
    assert header == f"VEF 6 {len(messages)} 1 0 0 FALSE"
    assert world == "C0 0 1 2 3 4 5"
    sent = Counter()
    for number, line in enumerate(messages):
        name, task, other, size, *_ = map(int, line.split())
        assert name == number
        assert size <= 1000
        sent[task, other] += size
    assert sent == {
        (task, other): 2 * size for task in range(6) for other, size in sizes.volume(task).items()
    }


def test_sizes_of_nothing_are_refused_all_at_once(command):
    with pytest.raises(InputError, match="block"):
        Ptrans(block=0)
    status, _, told = command("ptrans", "a.vef", "--compute", "-1", "--block", "0")
    lines = told.splitlines()
    assert (status, len(lines)) == (2, 4)
    assert [line.strip() for line in lines] == [
        "error: block is 0",
        "help: at least 1",
        "error: compute is -1",
        "help: at least 0",
    ]
    assert command("ptrans", "a.vef", "--compute", "0", "--matrix", "480")[0] == 0


@pytest.mark.parametrize(
    ("sizes", "told"),
    [
        ({"rows": 1, "columns": 1}, "one task, which has data for no other"),
        ({"rows": 4, "columns": 4, "matrix": 60}, "the matrix of 60 is one block of 64"),
        ({"matrix": 100_000_000, "block": 1}, "up to 1,220,703,125,576 messages"),
        ({"iterations": 10**12}, "messages"),
        ({"rows": 999, "columns": 1000, "matrix": 100_000, "block": 1}, "messages"),
    ],
)
def test_a_trace_without_messages_or_of_too_many_is_refused_before_it_is_made(sizes, told):
    with pytest.raises(InputError, match=told):
        Ptrans(**sizes)


def test_the_bound_on_messages_is_one():
    every = product((1, 2, 3), (2, 4), (9, 50), (1, 4), (1, 7, 100, 10**6))
    for rows, columns, matrix, block, chunk in every:
        sizes = Ptrans(rows, columns, matrix, block, chunk=chunk)
        assert 0 < len(sizes.messages()) <= sizes._messages_most()


def test_the_command_writes_a_trace_and_says_what_is_in_it(command, tmp_path):
    status, out, _ = command(
        "ptrans", "a.vef", "--rows", "2", "--columns", "2", "--matrix", "64", "--block", "8"
    )
    assert (status, (tmp_path / "a.vef").read_text().splitlines()[0]) == (0, "VEF 4 2 1 0 0 FALSE")
    assert out == "a.vef: 4 tasks, 2 messages, 16,384 B\n"


@pytest.mark.parametrize(
    "path", [".", "..", "/", "", "here", "missing/a.vef", "file/a.vef", "a\0b", "x" * 300]
)
def test_a_path_that_cannot_be_written_is_a_mistake(command, tmp_path, path):
    (tmp_path / "here").mkdir()
    (tmp_path / "file").touch()
    status, out, err = command(
        "ptrans", path, "--rows", "2", "--columns", "2", "--matrix", "8", "--block", "4"
    )
    assert (status, out) == (2, "")
    assert "is a directory" in err or "cannot be written" in err
    assert "-o" not in err
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "here"]


def test_only_an_earlier_trace_is_replaced(command, tmp_path):
    sizes = ("--rows", "2", "--columns", "2", "--matrix", "64", "--block", "8")
    (tmp_path / "scenario.toml").write_text("title = 'mine'\n")
    status, out, err = command("ptrans", "scenario.toml", *sizes)
    assert (status, out) == (2, "")
    assert err.startswith("error: scenario.toml exists and is no VEF trace\n  help: choose another place")
    assert (tmp_path / "scenario.toml").read_text() == "title = 'mine'\n"
    (tmp_path / "empty.vef").touch()
    for path in ("a.vef", "a.vef", "empty.vef"):
        assert command("ptrans", path, *sizes)[0] == 0


@pytest.mark.engine
def test_a_trace_of_576_tasks_is_written_read_and_run(command, scenario_file, tmp_path):
    assert command("ptrans", "ptrans.vef", "--matrix", "2400", "--chunk", "8192")[0] == 0
    path = scenario_file(
        "[topology]\nkind = 'fat-tree'\nlevels = 2\narity = 24\n[routing]\nkind = 'nca'\n"
        "[packet]\nflit = '64 B'\nmax = '4 KiB'\n"
        "[[job]]\nname = 'ptrans'\nworkload = 'vef'\npath = 'ptrans.vef'\n[run]\nduration = '20 ms'\n"
    )
    job = tailback.Scenario.load(path).run().summary["jobs"]["ptrans"]
    assert (job["ranks"], job["unfinished_ranks"]) == (576, 0)
    assert job["messages"] == job["delivered_messages"]


def test_more_tasks_than_a_trace_has_are_a_mistake(command):
    status, _, told = command("ptrans", "x.vef", "--rows", "70000", "--columns", "70000")
    assert status == 2
    assert "at most 1,048,576" in told


@pytest.mark.parametrize("iterations", [1, 2])
def test_no_message_waits_for_itself_whatever_the_grid(iterations):
    for rows, columns in product(range(1, 8), repeat=2):
        if rows * columns == 1:
            continue
        lines = [*Ptrans(rows, columns, 100, block=2, chunk=96, iterations=iterations).trace()][2:]
        # Each is behind the one that its task sent before, and behind what it waits for.
        waits, last = {}, {}
        for number, task, *_, after in (line.split() for line in lines):
            waits[number] = {each for each in (last.get(task), after) if each not in (None, "-1")}
            last[task] = number
        assert len([*TopologicalSorter(waits).static_order()]) == len(lines)


def test_two_tasks_are_partners_of_each_other_in_the_same_round():
    sizes = Ptrans(4, 6, 240, block=2)
    partners = [sizes.partners(task) for task in range(24)]
    whole = [task for task, others in enumerate(partners) if len(others) == 6]  # none is its own
    assert len(whole) == 12
    for task in whole:
        assert [partners[other][number] for number, other in enumerate(partners[task])] == [task] * 6
