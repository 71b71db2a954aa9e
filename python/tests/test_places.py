"""Keys lead to the places that the engine gives them."""

import pytest

import tailback
from tailback.places import place, tree

TEXT = """
a.b = [{ name = "x", c = [1, 2] }, { c = 3 }]
[[traffic]]
[[traffic]]
name = "1"
[[job]]
name = ""
"""


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("run.seed", "run seed"),
        ("a.b.x.c.1", "a b 0 c 1"),
        ("a.b.1.c", "a b 1 c"),
        ("a.b.c", "a b c"),
        ("a.b.9.c", "a b 9 c"),
        ("'a'.\"b\".x", "a b 0"),
        ("traffic.traffic0.load", "traffic 0 load"),
        ("traffic.1.load", "traffic 1 load"),
        ("job.job0", "job 0"),
        ("run.seed.x", "run seed x"),
        ("a b", "a b"),
        ("", ""),
        ("a.b." + "9" * 5000, "a b " + "9" * 5000),
    ],
)
def test_elements_of_lists_are_numbers(key, expected):
    assert " ".join(place(tree(tailback.Scenario.loads(TEXT)), key)) == expected


def test_names_are_those_after_the_changes():
    changed = tailback.Scenario.loads(TEXT).replace(
        {
            "traffic.traffic0.name": "hot",
            "job": [{"name": "app"}],
            "new.key": 1,
            "a.b.7.c": 2,
            "run": "{ seed = 1",
        }
    )
    root = tree(changed)
    assert place(root, "traffic.hot.load") == ("traffic", "0", "load")
    assert place(root, "job.app.ranks") == ("job", "0", "ranks")
    assert root["new"] == {"key": 1}
    assert root["run"] == "{ seed = 1"


@pytest.mark.parametrize("text", ["a = ", "a = " + "[" * 100_000])
def test_of_what_is_no_toml_keys_are_their_parts(text):
    assert place(tree(tailback.Scenario.loads(text)), "traffic.0.load") == ("traffic", "0", "load")
