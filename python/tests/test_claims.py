import math
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from tailback.experiments import (
    abate_mix,
    abate_paper,
    lhrp_fig6,
    lhrp_fig12,
    saa_converge,
    saa_steady,
    saa_svc,
    saa_table1,
)
from tailback.experiments.measure import largest, least
from tailback.experiments.model import Data, at_most, hard, value
from tailback.stats import Interval


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


def incast(time_ns, orders):
    """A run in which endpoint 2 is sent to by 0 and 1, of which each order halves the first."""
    ranks = [{"job": "incast", "rank": rank, "endpoint": rank} for rank in range(3)]
    rates = {"time_ns": orders, "endpoint": [0] * len(orders), "destination": [-1] * len(orders)}
    rates = {key: pa.array(of, pa.float64() if key == "time_ns" else pa.int64()) for key, of in rates.items()}
    rates["rate"] = pa.array([0.5] * len(orders), pa.float64())
    tables = {
        "ranks": pa.Table.from_pylist(ranks),
        "rates": pa.table(rates),
        "signals": pa.table({"time_ns": pa.array(orders, pa.float64())}),
    }
    job = {"start_ns": 5000.0, "time_ns": time_ns}
    return SimpleNamespace(tables=tables, summary={"jobs": {"incast": job}})


def test_what_senders_were_allowed_is_told_where_there_was_no_order_and_where_they_did_not_end():
    told = abate_paper.why_allowed({"a": incast(1e4, []), "b": incast(None, [7000.0])}, "incast")
    assert "a 2.00 times the channel (no order, 0 times one was let go)" in told
    assert told.endswith("b not told, since it did not end (first order of the run at 7.0 us).")


def test_what_senders_were_allowed_is_of_the_time_from_their_start():
    # From 6 to 10 us; the first of two has half its rate from 8 us on.
    told = abate_paper.told_allowed(incast(1e4, [8000.0]), "incast")
    assert told.startswith("1.75 times the channel")


def converged(settled_us, loads_us):
    flows = {"settled_ns": np.array(settled_us) * 1e3, "link_load_ns": np.array(loads_us) * 1e3}
    flows["time_ns"] = flows["link_load_ns"] + 30_000
    return SimpleNamespace(tables={"flows": pa.table(flows)})


def test_flows_that_learn_another_rate_are_told_with_their_times():
    claim = saa_converge._unchanged("static", converged([12, 12, 50], [20, 30, 40]))
    assert claim.verdict == "missed"
    assert "at 50.0 us, 20.0 us before their last packet arrived: a load of 40.0 us" in claim.cause
    assert saa_converge._unchanged("static", converged([12, 12, 12], [20, 30, 40])).verdict == "held"


def jobs(**times_us):
    return SimpleNamespace(
        summary={
            "jobs": {name: {"time_ns": us and 1e3 * us, "start_ns": 0.0} for name, us in times_us.items()}
        }
    )


@pytest.mark.parametrize("times", [{"weak0": 1000, "weak1": None}, {"weak0": None, "weak1": 1000}])
def test_a_job_that_never_ends_is_not_left_out_of_the_slowest(times):
    assert math.isnan(abate_mix.slowest(jobs(**times), "weak"))
    assert abate_mix.slowest(jobs(weak0=1000, weak1=2000, strong0=5000), "weak") == 2000


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_the_largest_and_the_least_are_not_known_where_one_is_not(order):
    numbers = [(1.0, math.nan, 2.0)[at] for at in order]
    assert math.isnan(largest(numbers))
    assert math.isnan(least(numbers))


def test_a_variant_under_which_victims_do_not_end_is_never_the_best():
    found = dict(zip(abate_paper.VARIANTS, (math.nan, 3.0, 2.0), strict=True))
    assert abate_paper.best_variant(found)[0] == "drain margin"
    found = dict(zip(abate_paper.VARIANTS, (3.0, 2.0, math.nan), strict=True))
    assert abate_paper.best_variant(found)[0] == "as coded"


@pytest.mark.parametrize(
    ("mean", "half", "told"),
    [(-3, 1, True), (0, 0, True), (1, 1, None), (-1, 3, None), (3, 1, False), (-3, math.nan, None)],
)
def test_a_difference_is_at_most_nothing_only_where_its_whole_interval_is(mean, half, told):
    assert at_most(Interval(mean, half, 4)) is told


def svc(monkeypatch, more):
    """The verdict where Shaped Virtual Clock has so much more than periodic selection, phase by phase."""
    base = [0.5, 0.6, 0.7, 0.5]
    ratios = {saa_svc.KINDS[0]: base, saa_svc.KINDS[1]: [a + b for a, b in zip(base, more, strict=True)]}
    monkeypatch.setattr(saa_svc.injection, "ratios", lambda data, kind, count, packets: ratios[kind])
    data = Data([({"flows": 2}, None)])
    return saa_svc.claims(data)[0].verdict


def test_a_ratio_that_phases_do_not_tell_from_a_larger_one_is_not_judged(monkeypatch):
    assert svc(monkeypatch, [-0.05, -0.04, -0.05, -0.06]) == "held"
    assert svc(monkeypatch, [0.012, 0.011, 0.013, 0.012]) == "held"
    assert svc(monkeypatch, [0.05, 0.04, 0.05, 0.06]) == "missed"
    assert svc(monkeypatch, [0.0, 0.1, 0.0, 0.1]) == "not judged"


def growth(monkeypatch, **by_buffer):
    """The verdict where phases have so much with each buffer, with any number of flows a source."""
    ratios = {int(name[1:]): values for name, values in by_buffer.items()}
    monkeypatch.setattr(saa_table1.injection, "ratios", lambda data, kind, count, packets: ratios[packets])
    return saa_table1._growth(Data([])).verdict


def test_the_ratio_grows_by_what_phases_tell_of_the_same_permutations(monkeypatch):
    full = [0.99, 0.99, 0.99]
    assert growth(monkeypatch, b2=[0.5, 0.7, 0.6], b4=full, b8=full, b16=full) == "held"
    # Wide apart, and each phase gains as much.
    below = [0.2, 0.5, 0.8]
    more = [0.3, 0.6, 0.9]
    assert growth(monkeypatch, b2=below, b4=more, b8=more, b16=more) == "held"
    assert growth(monkeypatch, b2=[0.97, 0.98, 0.9], b4=full, b8=full, b16=full) == "not judged"
    assert growth(monkeypatch, b2=more, b4=full, b8=full, b16=[0.8, 0.81, 0.8]) == "missed"
    assert growth(monkeypatch, b2=more, b4=more, b8=more, b16=more) == "missed"
    assert growth(monkeypatch, b2=full, b4=full, b8=full, b16=full) == "missed"


def lasting(flits):
    """Two flows, and what arrived of each in windows: (window, flits)."""
    pairs = {"time_ns": [at * saa_steady._WINDOW_NS for at, _ in flits], "flits": [few for _, few in flits]}
    return SimpleNamespace(tables={"flows": pa.table({"source": [0, 1]}), "pairs": pa.table(pairs)})


def test_the_least_rate_that_lasts_is_that_of_the_slowest_flow_even_of_one_that_stands_still():
    whole = saa_steady.WINDOW * saa_steady._PACKET_FLITS
    bound = SimpleNamespace(tables={"phases": pa.table({"bound_ns": [2 * saa_steady.FLOW_NS]})})
    labels = {"rates": "r", "flows": 1, "draw": 1}
    result = lasting([(0, 5), (0, 5), (2, whole // 2), (2, whole // 4), (3, whole // 2)])
    data = Data(
        [({**labels, "length": "short"}, bound), ({**labels, "length": "lasting", "buffer": 2}, result)]
    )
    assert saa_steady._of_draw(data, "r", 1, 2, 1) == [0.5, 0.0]


def victims(protocol, seed, rise_ns):
    times = np.arange(10, 141, 2.0)
    means = 1000 + np.where(times >= 20, rise_ns, 0.0)
    table = pa.table({"class": ["victim"] * len(times), "time_ns": 1e3 * times, lhrp_fig6._COLUMN: means})
    facts = {"unfinished": 0, "messages": 1, "accepted_per_destination": 0.3}
    return (
        {"protocol": protocol, "seed": seed, "until_us": 140.0},
        SimpleNamespace(tables={"series": table}, summary={"classes": {"victim": facts, "hot": facts}}),
    )


def at_most_smsrp(monkeypatch, lhrp, smsrp):
    monkeypatch.setattr(lhrp_fig6, "_rules", lambda data: "")
    rises = {"none": [3000] * 4, "ecn": [157] * 4, "lhrp": lhrp, "smsrp": smsrp}
    data = Data([victims(p, seed, rise) for p, of in rises.items() for seed, rise in enumerate(of)])
    return lhrp_fig6.claims(data)[-1]


def test_lhrp_at_most_smsrp_is_judged_seed_by_seed(monkeypatch):
    # Their intervals overlap widely, and under every seed LHRP is higher.
    assert at_most_smsrp(monkeypatch, [20, 30, 40, 50], [12, 22, 32, 41]).verdict == "missed"
    assert at_most_smsrp(monkeypatch, [12, 22, 32, 41], [20, 30, 40, 50]).verdict == "held"
    open_ = at_most_smsrp(monkeypatch, [10, 30, 20, 40], [20, 20, 30, 25])
    assert open_.verdict == "not judged"
    assert "LHRP less SMSRP, seed by seed, 1 ± 21 ns" in open_.note
    assert at_most_smsrp(monkeypatch, [1, 2, 3, 4], [100, 100, 100, 100]).verdict == "missed"


def mixed(monkeypatch, edge):
    """The verdicts where both classes accept all up to a load, and nothing past it."""
    monkeypatch.setattr(lhrp_fig12, "_shared_out", lambda data: "")
    runs = []
    for load in (0.4, 0.6, 0.8):
        got = {"accepted": load / 2 if load <= edge else 0.0}
        summary = {"classes": dict.fromkeys(lhrp_fig12._SIZES, got)}
        runs += [
            ({"protocol": kind, "load": load}, SimpleNamespace(summary=summary)) for kind in lhrp_fig12._KINDS
        ]
    return [claim.verdict for claim in lhrp_fig12.claims(Data(runs))]


def test_a_class_that_saturates_outside_of_the_loads_has_no_claims_judged(monkeypatch):
    assert mixed(monkeypatch, edge=0.6) == ["held", "held"]
    assert mixed(monkeypatch, edge=0.9) == ["not judged", "not judged"]
    assert mixed(monkeypatch, edge=0.3) == ["not judged", "not judged"]
