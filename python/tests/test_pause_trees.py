"""Where pauses come from."""

from math import nan

import pyarrow as pa
import pytest

from tailback import result_tables
from tailback.pause_trees import PauseTree, pause_trees
from tailback.result import Result


def table(rows):
    names = ("from", "to", "start_ns", "end_ns", "traffic_class")
    return pa.Table.from_pylist([dict(zip(names, (*row, "data")[:5], strict=True)) for row in rows])


CHAIN = [
    ("switch 2", "switch 1", 10.0, 50.0),
    ("switch 3", "switch 2", 20.0, 40.0),
    ("endpoint 7", "switch 3", 30.0, nan),
    ("endpoint 8", "switch 1", 35.0, 36.0),
]


def test_what_a_paused_switch_pauses_comes_from_where_its_own_pause_does():
    (tree,) = pause_trees(table(CHAIN), 100.0)
    assert tree == PauseTree("switch 1", 4, 40 + 20 + 70 + 1, endpoints=2, switches=2, depth=3, first_ns=10.0)


@pytest.mark.parametrize(
    ("row", "root", "depth"),
    [
        # The pause of switch 2 has ended.
        (("switch 4", "switch 2", 50.0, 60.0), "switch 2", 1),
        (("switch 4", "switch 2", 49.0, 60.0), "switch 1", 2),
        # Of another class it is not paused.
        (("switch 4", "switch 2", 49.0, 60.0, "speculative"), "switch 2", 1),
        # Of two causes the earlier.
        (("switch 4", "switch 3", 39.0, 60.0), "switch 1", 3),
    ],
)
def test_a_cause_is_a_pause_of_the_same_class_that_lasts(row, root, depth):
    sender, _, start, *_ = row
    behind = ("endpoint 5", sender, start + 0.5, 55.0, *row[4:])
    other = ("switch 3", "switch 9", 25.0, 90.0)
    rows = [row, behind, other, CHAIN[0], CHAIN[1], CHAIN[3]]
    trees = {tree.root: tree for tree in pause_trees(table(rows), 100.0)}
    assert sum(tree.pauses for tree in trees.values()) == len(rows)
    # What hangs on the pause of the row is one further than that.
    assert trees[root].depth == depth + 1


def test_the_longest_trees_are_shown_and_a_run_without_pauses_has_none():
    pauses = table([*CHAIN, ("endpoint 1", "switch 9", 0.0, 1000.0)])
    runs = {"a": Result("", {"simulated_ns": 1000.0}, {"pauses": pauses}), "b": Result("", {}, {})}
    shown = result_tables.pause_tree_table(runs)
    rows = list(zip(*(column.cells for column in shown.columns), strict=True))
    assert [row[:2] for row in rows] == [("switch 1", "a"), ("switch 9", "a")]
    assert rows[1] == ("switch 9", "a", "1", "49.2 %", "1", "0", "1", "0 ns")
    empty = Result("", {"simulated_ns": 1.0}, {"pauses": pauses.slice(0, 0)})
    assert result_tables.pause_tree_table({"": empty}) is None
