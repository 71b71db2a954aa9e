from tailback.experiments.model import hard, value


def unasked():
    raise AssertionError("a cause of what held")


def test_a_cause_is_asked_for_only_where_a_claim_is_missed():
    assert hard("x", "y", True, cause=unasked).cause == ""
    assert value("x", "y", 1.0, (0, 2), cause=unasked).cause == ""
    assert hard("x", "y", False, cause=lambda: "z").cause == "z"
    assert value("x", "y", 3.0, (0, 2), cause=lambda: "z").cause == "z"


def test_a_claim_that_what_was_measured_does_not_tell_is_not_judged_and_says_what_that_was():
    made = hard("x", "1 ± 2", None, note="y", cause=lambda: "z")
    assert (made.verdict, made.kind, made.note) == ("not judged", "hard", "1 ± 2: this does not tell. y z")
