import math
from types import SimpleNamespace

import numpy as np
import pyarrow as pa

from tailback.experiments import srp_fig11
from tailback.experiments.model import Data
from tailback.experiments.srp_hotspot import LATENCY, ONSET_US, phases, recovery_ms

TIMES = np.arange(0, 3000, 20.0)
AFTER = TIMES >= ONSET_US


def run(latency, accepted):
    """A run of which the background has this latency and throughput in each bin."""
    columns = {"time_ns": 1e3 * TIMES, "packet_latency_ns": latency, "accepted": accepted}
    return SimpleNamespace(tables={"series": pa.table({"class": ["background"] * len(TIMES), **columns})})


def calm():
    return np.full(len(TIMES), 2000.0), np.full(len(TIMES), 0.4)


def test_a_network_that_is_not_disturbed_recovers_at_once():
    assert recovery_ms([run(*calm())]) == 0


def test_recovery_lasts_until_the_last_bin_that_is_not_normal():
    latency, accepted = calm()
    latency[(ONSET_US <= TIMES) & (TIMES <= 1500)] = 9000
    accepted[TIMES == 1700] = 0.1
    assert recovery_ms([run(latency, accepted)]) == 0.7


def test_a_network_of_which_only_what_is_quick_arrives_does_not_recover():
    latency, accepted = calm()
    accepted[AFTER] = 0.06
    assert recovery_ms([run(latency, accepted)]) == math.inf


def test_a_network_of_which_nothing_arrives_does_not_recover():
    latency, accepted = calm()
    latency[AFTER] = math.nan
    assert recovery_ms([run(latency, accepted)]) == math.inf
    assert phases([run(latency, accepted)], LATENCY).largest == math.inf


def test_what_overshoots_does_so_after_the_least():
    latency, accepted = calm()
    latency[TIMES == 1100], latency[TIMES == 1200], latency[TIMES == 1300] = 9000, 1000, 3000
    seen = phases([run(latency, accepted)], LATENCY)
    assert (seen.largest, seen.least, seen.rebound, seen.rebound_ms) == (9000, 1000, 3000, 0.3)


def peaks(injected, monkeypatch):
    """Whether injection is said to peak in the middle, of what is injected by load."""
    monkeypatch.setattr(srp_fig11.uniform, "why_dropped", lambda data: "")
    runs = []
    for load, share in injected.items():
        facts = {"speculative_packets": share, "dropped_packets": load, "packets": 1, "offered": 1.0}
        runs.append(({"load": load}, SimpleNamespace(summary={"classes": {"uniform": facts}})))
    return srp_fig11.claims(Data(runs))[0].verdict


def test_what_falls_from_the_least_load_on_has_no_peak_in_the_middle(monkeypatch):
    assert peaks({0.2: 0.1, 0.5: 0.2, 0.9: 0.05}, monkeypatch) == "held"
    assert peaks({0.2: 0.3, 0.5: 0.2, 0.9: 0.05}, monkeypatch) == "missed"
    assert peaks({0.2: 0.1, 0.5: 0.2, 0.9: 0.3}, monkeypatch) == "missed"
