"""The engine tells where keys lead."""

import pytest

import tailback

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
    ((*parts,),) = tailback.Scenario.loads(TEXT).places([key])
    assert " ".join(parts) == expected


def test_names_are_those_after_the_changes():
    changed = tailback.Scenario.loads(TEXT).replace(
        {"traffic.traffic0.name": "hot", "job": [{"name": "app"}], "a.b.7.c": 2, "run": "{ seed = 1"}
    )
    keys = ["traffic.hot.load", "job.app.ranks", "traffic.traffic0.load"]
    assert changed.places(keys) == [
        ("traffic", "0", "load"),
        ("job", "0", "ranks"),
        ("traffic", "traffic0", "load"),
    ]


@pytest.mark.parametrize("text", ["a = ", "a = " + "[" * 100_000])
def test_of_what_is_no_toml_keys_are_their_parts(text):
    assert tailback.Scenario.loads(text).places(["traffic.0.load"]) == [("traffic", "0", "load")]


def test_keys_that_are_no_text_are_told():
    with pytest.raises(tailback.InputError, match="not valid text"):
        tailback.Scenario.loads(TEXT).places(["run.\udc80"])
