import numpy as np
import pyarrow as pa
import pytest

import tailback
from tailback import optimum, pictures
from tailback.optimum import Network, phase_optimum

TREE = """
[topology]
kind = "k-ary-n-tree"
k = 2
n = 3
horizontal = 1
[routing]
kind = "flow-adaptive"
[congestion_control]
kind = "saa"
[[job]]
name = "app"
workload = "phases"
ranks = 8
permutations = 2
size = "24 flits"
phases = 3
[run]
model = "fluid"
"""


def diamond(width):
    """Switches 0 and 1 joined over switches 2 and 3, endpoints 4 and 5 on 0, 6 and 7 on 1."""
    pairs = [(0, 2, 1.0), (0, 3, 1.0), (2, 1, 1.0), (3, 1, 1.0)]
    pairs += [(end, start, rate) for start, end, rate in pairs]
    hosts = [(4, 0), (5, 0), (6, 1), (7, 1)]
    pairs += [(a, b, width) for a, b in hosts] + [(b, a, width) for a, b in hosts]
    return Network.of(pairs, 4)


def test_flows_are_spread_over_all_ways():
    # 100 bytes each way round: 800 bits over two ways of 1 bit/ns.
    assert phase_optimum(diamond(10.0), [(0, 2, 100), (1, 3, 100)]) == pytest.approx(800.0)
    assert phase_optimum(diamond(10.0), [(0, 2, 100)]) == pytest.approx(400.0)


def test_the_channels_of_the_endpoints_bound_it_too():
    assert phase_optimum(diamond(1.0), [(0, 2, 100)]) == pytest.approx(800.0)
    assert phase_optimum(diamond(1.0), [(0, 1, 100), (2, 1, 300)]) == pytest.approx(3200.0)
    assert phase_optimum(diamond(1.0), []) == 0.0


@pytest.mark.engine
def test_no_routes_of_the_engine_are_faster_than_the_optimum():
    scenario = tailback.Scenario.loads(TREE)
    best = optimum.optima(scenario)["app"]
    reached = np.asarray(scenario.run().tables["phases"]["bound_ns"].to_numpy())
    assert len(best) == len(reached) == 3
    assert all(low <= high + 1e-6 for low, high in zip(best, reached, strict=True))


@pytest.mark.engine
def test_the_optimum_stands_beside_what_was_measured():
    scenario = tailback.Scenario.loads(TREE)
    best = optimum.optima(scenario)
    result = optimum.beside(scenario.run(), best)
    assert result.tables["phases"]["optimum_ns"].to_pylist() == best["app"]
    told = result.summary["jobs"]["app"]["phases"]["optimum_ns"]
    assert told == {
        "min": min(best["app"]),
        "mean": pytest.approx(np.mean(best["app"])),
        "max": max(best["app"]),
    }
    (axes,) = pictures.phase_times(result).axes
    times, *levels = (line.get_ydata() for line in axes.get_lines())
    bound, least = (level[::3] for level in levels)
    assert list(least) == pytest.approx([time / 1e3 for time in best["app"]])
    assert all(a <= b + 1e-9 <= c + 2e-9 for a, b, c in zip(least, bound, times, strict=True))


def of_phases(times, **more):
    """A result of a job in phases that took these times."""
    table = {"job": ["app"] * len(times), "phase": range(len(times)), "time_ns": times, **more}
    summary = {"jobs": {"app": {"phases": {"phases": len(times)}}}}
    return tailback.Result("", summary, {"phases": pa.table(table)})


def test_the_optimum_is_compared_with_the_phases_that_ended():
    result = optimum.beside(of_phases([300.0, 100.0, 5.0, np.nan]), {"app": [100.0, 80.0, 0.0, 7.0]})
    told = result.summary["jobs"]["app"]["phases"]
    assert told["optimum_ns"] == {"min": 0.0, "mean": 60.0, "max": 100.0}
    assert told["time_over_optimum"] == {"min": 1.25, "mean": pytest.approx(2.125), "max": 3.0}
    assert result.tables["phases"]["optimum_ns"].to_pylist() == [100.0, 80.0, 0.0, 7.0]
    none = optimum.beside(of_phases([np.nan]), {"app": [1.0]}).summary["jobs"]["app"]["phases"]
    assert none["time_over_optimum"] == none["optimum_ns"] == {}


@pytest.mark.parametrize("phases", [1, 2, 30])
def test_bounds_are_seen_at_every_phase_however_few(phases):
    figure = pictures.phase_times(
        of_phases([3e3] * phases, bound_ns=[2e3] * phases, optimum_ns=[1e3] * phases)
    )
    figure.draw_without_rendering()  # ticks depend on the place that there is
    (axes,) = figure.axes
    _, *levels = axes.get_lines()
    for line, value in zip(levels, (2.0, 1.0), strict=True):
        where, values = line.get_data()
        assert where.reshape(-1, 3)[:, :2].tolist() == [[at - 0.4, at + 0.4] for at in range(phases)]
        assert set(values) == {value}
    assert axes.get_xlim() == (-0.5, phases - 0.5)
    shown = [tick for tick in axes.get_xticks() if -0.5 <= tick <= phases - 0.5]
    assert shown
    assert all(tick == round(tick) for tick in shown)


@pytest.mark.engine
def test_a_job_that_does_not_run_has_no_optimum_beside_it():
    other = '[[job]]\nname = "other"\nworkload = "phases"\nranks = 2\nsize = "24 flits"\nplacement = [6, 7]\n'
    scenario = tailback.Scenario.loads(TREE.replace("ranks = 8", "ranks = 4") + 'only = ["other"]\n' + other)
    result = optimum.beside(scenario.run(), optimum.optima(scenario))
    assert "optimum_ns" in result.summary["jobs"]["other"]["phases"]
    assert "app" not in result.summary["jobs"]


@pytest.mark.engine
def test_a_network_that_is_too_large_is_refused():
    large = tailback.Scenario.loads(TREE).replace({"topology.k": 16, "job.app.ranks": 4096})
    with pytest.raises(tailback.errors.InputError, match="variables"):
        optimum.optima(large)


def test_every_job_s_phases_are_beside_its_own_optimum():
    phases = {"job": ["a", "b"], "phase": [0, 0], "time_ns": [300.0, 100.0]}
    summary = {"jobs": {name: {"phases": {}} for name in "ab"}}
    told = optimum.beside(
        tailback.Result("", summary, {"phases": pa.table(phases)}), {"a": [100.0], "b": [100.0]}
    )
    assert [told.summary["jobs"][name]["phases"]["time_over_optimum"]["mean"] for name in "ab"] == [3.0, 1.0]
