import csv
import math
import re
import threading
import tomllib
from dataclasses import replace

import pytest

import tailback
from tailback import console, experiments
from tailback.errors import InputError
from tailback.experiments import draw
from tailback.experiments.model import (
    Case,
    Claim,
    Data,
    Experiment,
    LeftOutError,
    Search,
    hard,
    unjudged,
    value,
)
from tailback.figures import style
from tailback.reproduction import part, report, reproduce
from tailback.stats import Interval


@pytest.mark.engine
@pytest.mark.parametrize("name", experiments.IDS)
@pytest.mark.parametrize("full", [False, True])
def test_every_run_of_the_catalogue_is_a_right_scenario_and_no_two_have_the_same_labels(name, full):
    cases = experiments.experiment(name).cases(full)
    assert len({tuple(sorted(map(str, case.labels.items()))) for case in cases}) == len(cases)
    # A scenario of megabytes of trace takes seconds; the others of its experiment have the same.
    checked = 1 if sum(len(value) for _, value in cases[0].scenario.overrides) > 10**6 else 6
    for case in cases[:: max(1, len(cases) // checked)]:
        assert case.scenario.check() == []
    for search in experiments.experiment(name).searches(full):
        assert search.scenario.replace({search.key: search.high}).check() == []


@pytest.mark.engine
@pytest.mark.parametrize("name", ["osha-map", "osha-table2", "saa-cost", "saa-fig1", "srp-fig1", "srp-fig4"])
def test_experiments_of_seconds_still_hold(name, command, tmp_path):
    """How a number is counted may change; what a claim makes of it has to follow."""
    status, out, _ = command("reproduce", name, "-o", str(tmp_path))
    assert status == 0
    assert "held" in out
    assert "missed" not in out


@pytest.mark.parametrize("full", [False, True])
def test_the_longest_delays_of_saa_cca_leave_less_than_the_target_takes(full):
    for case in experiments.experiment("saa-cca").cases(full):
        scenario = tomllib.loads(case.scenario.text)
        job, control = scenario["job"][0], scenario["congestion_control"]
        if case.labels["traffic"] == "all-to-one" and control["kind"] == "ecn":
            longest = max(float(delay.removesuffix(" ps")) for delay in control["table"])
            packet = 2048 * 8 / 10 * 1000
            assert (job["ranks"] - 1) * packet / (packet + longest) < 0.5, case.labels


def test_a_name_s_beginning_finds_all_that_have_it():
    assert [one.id for one in experiments.find(["lhrp-fig5"])] == ["lhrp-fig5a", "lhrp-fig5b"]


def test_the_list_tells_the_paper_and_how_long_each_takes(command):
    status, out, _ = command("reproduce", "saa-fig1", "peer-torus", "--list", "--workers", "1")
    heading, first, second, note = out.splitlines()
    assert (status, heading.split()) == (0, ["experiment", "reduced", "full", "paper", "title"])
    seconds = reproduce.whole_seconds(experiments.experiment("saa-fig1"), False)
    assert first.split()[:2] == ["saa-fig1", console.minutes(seconds)]
    assert "  SYSTOR 2009  " in first
    assert "  ISPASS 2013  " in second
    assert "on 1 core." in note


def test_every_paper_was_published_somewhere():
    assert all(
        re.fullmatch(r"[\w ()]+,? \d{4}", experiments.experiment(name).venue) for name in experiments.IDS
    )


def test_an_unknown_name_is_refused_with_a_near_one(command):
    status, _, err = command("reproduce", "lhrp-fig55")
    assert status == 2
    assert "lhrp-fig5" in err


@pytest.mark.parametrize("names", [[""], ["srp-fig1", ""]])
def test_an_empty_name_does_not_stand_for_all(command, names):
    status, _, err = command("reproduce", *names, "--list")
    assert (status, "the name of an experiment is empty" in err) == (2, True)


def test_a_value_holds_within_its_tolerance_and_a_saturated_one_never():
    assert value("x", "1", Interval(1.0, 0.1, 3), (0.9, 1.1)).verdict == "held"
    assert value("x", "1", Interval(1.2, 0.1, 3), (0.9, 1.1), cause="why").cause == "why"
    assert value("x", "1", Interval(math.nan, math.nan, 3), (0.9, 1.1)).verdict == "missed"
    assert value("x", "1", math.nan, (0.9, 1.1)).verdict == "missed"


def test_a_value_of_which_there_is_one_number_has_no_interval():
    made = value("x", "1", 1.05, (0.9, 1.1), "us")
    assert (made.verdict, made.measured) == ("held", "1.05 us")


def test_a_line_has_a_gap_where_a_point_is_missing():
    with style.styled():
        figure, (axes,) = style.figure()
        points = [Interval(mean, 0.1, 3) for mean in (1.0, 2.0, math.nan, 4.0)]
        draw.curve(axes, [1, 2, 3, 4], points, "x", 0)
        axes.set_yscale("log")
        figure.canvas.draw()
    line = next(line for line in axes.lines if len(line.get_xdata()) > 1)
    assert [math.isnan(y) for y in line.get_ydata()] == [False, False, True, False]


def experiment(name, *, held):
    def cases(full):
        return [
            Case({"load": load, "seed": seed}, tailback.Scenario.loads("title = 'x'\n").replace(changes))
            for load in (0.1, 0.2)
            for seed in (1, 2)
            for changes in [{"traffic.hot.load": load, "run.seed": seed}]
        ]

    def draw(data):
        from matplotlib.figure import Figure

        made = Figure()
        made.subplots().plot(data.values("load"))
        return made

    def claims(data: Data) -> list[Claim]:
        mean = data.mean(lambda result: result.summary["classes"]["hot"]["accepted"], load=0.2)
        return [
            hard("it <holds>", f"{mean}", held, cause="because | of this"),
            unjudged("the other", "value", "1", "no such kind"),
        ]

    return Experiment(name, "a paper", "A title", "A set-up.", cases, draw, claims)


@pytest.fixture
def inline(monkeypatch):
    """Runs in this process, over the stand-in for the engine."""
    from contextlib import nullcontext

    from sweeping import Inline

    executor = Inline()
    monkeypatch.setattr(reproduce, "pool", lambda workers: nullcontext(executor))
    return executor


def test_a_report_shows_verdicts_causes_and_figures_and_needs_nothing_else(tmp_path, inline):
    done = reproduce.reproduce([experiment("x-fig1", held=False)], tmp_path)
    html, text = (tmp_path / "report.html").read_text(), (tmp_path / "report.md").read_text()
    assert (done[0].count("missed"), done[0].count("not judged")) == (1, 1)
    assert "0 of 1 hard claims held, 0 of 0 values held, 1 not judged" in html
    assert "it &lt;holds&gt;" in html
    assert "because | of this" in html
    assert "data:image/svg+xml;base64," in html
    assert "http://" not in html.replace("http://www.w3.org", "")
    assert "(figures/x-fig1.png)" in text
    assert (tmp_path / "figures" / "x-fig1.png").exists()


def test_a_report_counts_the_judged_runs_whose_window_is_not_steady(tmp_path, inline, monkeypatch):
    one = experiment("x-fig1", held=True)
    too_early = 'class "hot": the halves of the window accepted 1 and 9 flits: the warm-up is too short'
    told = {0.1: [too_early], 0.2: ['class "hot" created no message in the window']}

    def load(directory):
        found = loaded(directory)
        found.summary["warnings"] = told[found.summary["classes"]["hot"]["offered"]]
        return found

    def cases(full):
        # What is beside judges nothing, however early.
        return [replace(case, beside=case.labels["seed"] == 1) for case in one.cases(full)]

    loaded = reproduce.points.load
    monkeypatch.setattr(reproduce.points, "load", load)
    reproduce.reproduce([replace(one, cases=cases)], tmp_path)
    for name in ("report.md", "report.html"):
        assert "1 of 2 judged runs warned that their window is not steady." in (tmp_path / name).read_text()


def test_a_report_tells_which_folder_holds_which_run(tmp_path, inline):
    reproduce.reproduce([searching()], tmp_path)
    with (tmp_path / "runs.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["experiment"] for row in rows} == {searching().id}
    for row in rows:
        assert (tmp_path / row["folder"] / "scenario.toml").is_file(), row
    folders = {path.name for path in (tmp_path / "points").iterdir() if not path.name.startswith(".")}
    assert {row["folder"].removeprefix("points/") for row in rows} == folders
    assert rows[0]["run"].startswith("load=0.1")
    assert any("traffic.hot.load=0.9 run.seed=1" in row["run"] for row in rows)
    assert "runs.csv" in (tmp_path / "report.md").read_text()


def test_a_report_that_replaces_one_of_more_says_so_and_leaves_no_figure_of_those(
    tmp_path, inline, command, monkeypatch
):
    monkeypatch.setattr(experiments, "find", lambda names: [experiment(name, held=True) for name in names])
    monkeypatch.setattr(experiments, "IDS", ("x-1", "x-2"))
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "mine.png").touch()
    both, one = (command("reproduce", *names, "-o", str(tmp_path))[1] for names in (("x-1", "x-2"), ["x-2"]))
    assert "It replaces" not in both
    assert "It replaces a report that had x-1 too." in one
    assert {file.name for file in (tmp_path / "figures").glob("*.png")} == {"x-2.png", "mine.png"}
    assert "It replaces" not in command("reproduce", "x-2", "-o", str(tmp_path))[1]


@pytest.mark.parametrize("name", ["report.md", "report.html", "runs.csv"])
def test_a_file_of_a_report_s_name_that_is_none_is_refused_before_anything_runs(tmp_path, inline, name):
    mine = "# My report\n\n## saa-fig1: what I think of it\n"
    (tmp_path / name).write_text(mine)
    with pytest.raises(tailback.InputError, match=f"{name} exists and is no report of tailback reproduce"):
        reproduce.reproduce([experiment("x-fig1", held=True)], tmp_path)
    assert ((tmp_path / name).read_text(), inline.count) == (mine, 0)
    assert report.shown(tmp_path) == []
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_figures_are_removed_only_of_experiments_that_there_are(tmp_path, inline):
    reproduce.reproduce([experiment("x-fig1", held=True)], tmp_path)
    text = (tmp_path / "report.md").read_text()
    (tmp_path / "report.md").write_text(f"{text}## note: of mine\n\n## saa-fig1: once\n")
    for name in ("note", "saa-fig1"):
        (tmp_path / "figures" / f"{name}.png").touch()
    reproduce.reproduce([experiment("x-fig1", held=True)], tmp_path)
    assert {file.name for file in (tmp_path / "figures").glob("*.png")} == {"x-fig1.png", "note.png"}


def test_a_second_call_runs_nothing(tmp_path, inline):
    reproduce.reproduce([experiment("x-fig1", held=True)], tmp_path)
    ran = inline.count
    reproduce.reproduce([experiment("x-fig2", held=True)], tmp_path)
    assert (ran, inline.count) == (4, 4)


def test_the_expected_time_counts_only_what_is_not_complete(tmp_path, inline):
    one = experiment("x-fig1", held=True)
    assert reproduce.expected_seconds([one], False, tmp_path) == 4.0
    reproduce.reproduce([one], tmp_path)
    assert reproduce.expected_seconds([one], False, tmp_path) == 0.0


def searching():
    scenario = tailback.Scenario.loads("title = 'x'\n")
    search = Search({"protocol": "x"}, scenario, "traffic.hot.load", 0.5, 0.9, 0.1, 1, cost=7)
    return replace(experiment("x-fig1", held=True), searches=lambda full: [search])


def test_a_search_whose_runs_are_complete_is_expected_to_take_no_time_and_has_as_many_runs(tmp_path, inline):
    assert reproduce.expected_seconds([searching()], False, tmp_path) == 11.0
    (first,) = reproduce.reproduce([searching()], tmp_path)
    assert reproduce.expected_seconds([searching()], False, tmp_path) == 0.0
    ran = inline.count
    (second,) = reproduce.reproduce([searching()], tmp_path)
    assert inline.count == ran
    # Four runs, and of the search those at full load and at 0.9, which is accepted.
    assert first.runs == second.runs == 6
    assert first.cpu_seconds == second.cpu_seconds > 0


def test_searches_are_told_among_the_points(tmp_path, inline):
    told = []
    reproduce.reproduce(
        [searching()], tmp_path, progress=lambda tally: told.append((tally.done, tally.points))
    )
    assert (told[0], told[-2:]) == ((0, 5), [(4, 5), (5, 5)])


def test_what_is_left_goes_by_what_runs_and_searches_cost(tmp_path, inline):
    costs = {0.1: 5.0, 0.2: 1.0}
    plain = searching()

    def cases(full):
        return [replace(case, cost=costs[case.labels["load"]]) for case in plain.cases(full)]

    told = []
    one = replace(plain, cases=cases)
    reproduce.reproduce([one], tmp_path, progress=lambda tally: told.append((tally.ran, tally.to_run)))
    # Two runs of 5, two of 1, in any order, then the search of 7.
    assert (told[0], told[-1], (12, 7) in told) == ((0, 19), (19, 0), True)
    assert {ran + to_run for ran, to_run in told} == {19}
    assert {told[at][0] - told[at - 1][0] for at in range(1, len(told))} == {0, 1, 5, 7}
    told.clear()
    reproduce.reproduce([one], tmp_path, progress=lambda tally: told.append((tally.ran, tally.to_run)))
    assert set(told) == {(0, 0)}


def test_searches_run_side_by_side_and_keep_their_order(tmp_path, inline, monkeypatch):
    both, find = threading.Barrier(2), reproduce._find

    def met(search, executor, folder, tell=None):
        if tell is not None:
            both.wait(timeout=20)
        return find(search, executor, folder, tell)

    monkeypatch.setattr(reproduce, "_find", met)
    one, bounds = searching(), {}
    (plain,) = one.searches(False)
    # Of the stand-in everything up to 0.9 is accepted: each search is known by where it begins to look.
    other = replace(plain, labels={"protocol": "y"}, high=0.8)

    def claims(data):
        bounds.update({name: data.saturation(protocol=name).accepted_load for name in ("x", "y")})
        return []

    reproduce.reproduce(
        [replace(one, searches=lambda full: [plain, other], claims=claims)], tmp_path, workers=2
    )
    assert bounds == {"x": 0.9, "y": 0.8}


def test_a_search_some_of_whose_runs_are_missing_is_expected_to_take_its_time(tmp_path, inline):
    reproduce.reproduce([experiment("x-fig1", held=True)], tmp_path)
    assert reproduce.expected_seconds([searching()], False, tmp_path) == 7.0


def test_a_part_runs_only_what_has_the_labels_and_says_so(tmp_path, inline):
    (one,) = part.only([experiment("x-fig1", held=True)], ["load=0.3", "load=0.2", "seed=1"], full=False)
    (done,) = reproduce.reproduce([one], tmp_path)
    assert (done.runs, done.seeds, done.count("held")) == (1, [1], 1)
    assert "In part: only load=0.3 load=0.2 seed=1. 1 run, seed 1, " in (tmp_path / "report.md").read_text()


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ("load=7", "leaves no run of x-fig1 (load: 0.1, 0.2)"),
        ("lode=0.1", "no run has the label lode (labels: load, seed)"),
        ("load", "load names no runs"),
    ],
)
def test_a_part_that_cannot_be_is_refused(tmp_path, inline, wanted, told):
    def run():
        chosen = part.only([experiment("x-fig1", held=True)], [wanted], full=False)
        reproduce.reproduce(chosen, tmp_path)

    with pytest.raises(InputError) as refused:
        run()
    assert told in str(refused.value.problems[0])


def test_of_all_experiments_a_part_leaves_out_those_that_keep_no_run():
    other = experiment("x-fig2", held=True)
    lacking = replace(
        other, cases=lambda full: [case for case in other.cases(full) if case.labels["load"] == 0.2]
    )

    def kept(wanted, **options):
        both = [experiment("x-fig1", held=True), lacking]
        return [one.id for one in part.only(both, [wanted], full=False, **options)]

    assert kept("load=0.1", named=False) == ["x-fig1"]
    assert kept("load=0.2", named=False) == ["x-fig1", "x-fig2"]
    with pytest.raises(InputError, match="leaves no run of x-fig2"):
        kept("load=0.1")
    with pytest.raises(InputError, match="leaves no run of any experiment"):
        kept("load=7", named=False)


def test_a_part_keeps_the_searches_that_have_all_of_its_labels():
    (search,) = searching().searches(False)
    labelled = [replace(search, labels={"protocol": name, "seed": 1}) for name in "xy"]
    whole = replace(searching(), searches=lambda full: labelled)

    def kept(*wanted):
        (one,) = part.only([whole], wanted, full=False)
        return [search.labels["protocol"] for search in one.searches(False)]

    assert kept("seed=1") == ["x", "y"]
    assert kept("seed=2") == kept("seed=1", "load=0.1") == []


def test_a_part_that_lacks_nothing_is_the_whole():
    (whole,) = part.only([experiment("x-fig1", held=True)], ["load=0.1,0.2"], full=False)
    assert whole.part == ""


def test_claims_that_lack_their_runs_are_not_judged_and_say_so(tmp_path, inline, command, monkeypatch):
    monkeypatch.setattr(experiments, "find", lambda names: [experiment("x-fig1", held=True)])
    status, out, err = command("reproduce", "x", "--only", "load=0.1", "-o", str(tmp_path))
    assert status == 0, err
    assert "no claim can be judged: --only leaves out runs that they need" in out
    why = "claims are judged together, and one needs runs with load=0.2, which are left out"
    assert f"not judged hard  it <holds>: {why}" in out
    assert (tmp_path / "figures" / "x-fig1.png").exists()
    html, text = (tmp_path / "report.html").read_text(), (tmp_path / "report.md").read_text()
    assert "0 of 0 hard claims held, 0 of 0 values held, 2 not judged" in html
    assert (
        "**it <holds>.** claims are judged together, and one needs runs with load=0.2, which are left out"
        in text
    )


def broken(data):
    return next(load for load in (0.1, 0.2) if load > 1)


def test_a_part_whose_claims_and_figure_fail_is_reported_without_them(tmp_path, inline):
    one = replace(experiment("x-fig1", held=True), draw=broken, claims=broken)
    reproduce.reproduce(part.only([one], ["load=0.2"], full=False), tmp_path)
    assert (
        "**all claims.** claims are judged together, and one needs runs that are left out"
        in (tmp_path / "report.md").read_text()
    )
    assert "No figure: it needs runs that are left out." in (tmp_path / "report.html").read_text()


def test_an_experiment_that_fails_does_not_take_the_report_of_the_others_with_it(tmp_path, inline):
    bad = replace(experiment("x-fig2", held=True), draw=broken, claims=broken)
    with pytest.raises(RuntimeError, match=r"draws x-fig2 failed .StopIteration.; .*html"):
        reproduce.reproduce([experiment("x-fig1", held=True), bad], tmp_path)
    html, text = (tmp_path / "report.html").read_text(), (tmp_path / "report.md").read_text()
    assert "1 of 1 hard claims held" in html
    assert "No figure: what draws it failed: StopIteration." in html
    assert "**all claims.** what judges them failed: StopIteration" in text


def test_what_is_left_out_is_missed_by_whoever_asks_for_it():
    data = Data([({"load": 1}, None)], left_out=[{"load": 2}])
    assert data.results(load=1) == [None]
    assert data.results(load=3) == []
    for ask in (data.results, data.saturation, lambda **of: data.values("seed", **of)):
        with pytest.raises(LeftOutError, match="load=2"):
            ask(load=2)


def test_a_claim_about_all_values_of_a_label_is_not_judged_by_some_but_by_fewer_seeds():
    data = Data([({"load": 1, "seed": 1}, None)], left_out=[{"load": 1, "seed": 2}, {"load": 2, "seed": 1}])
    assert data.values("seed", load=1) == [1]
    assert data.values("load", load=1) == [1]
    with pytest.raises(LeftOutError, match="load=2"):
        data.values("load")


def test_bars_in_a_cell_do_not_break_the_table():
    assert report._bar_free("a|b\nc") == "a\\|b c"


def test_a_run_that_fails_costs_the_report_its_experiment_alone(tmp_path, inline, command, monkeypatch):
    failing = replace(
        experiment("x-fig2", held=True),
        cases=lambda full: [Case({"seed": 1}, tailback.Scenario.loads("title = 'x'\nfail\n"))],
    )
    with pytest.raises(
        tailback.RunFailed, match=r"a run of x-fig2 gave no result: deadlock(?s:.)*report.html"
    ):
        reproduce.reproduce([experiment("x-fig1", held=True), failing], tmp_path)
    text = (tmp_path / "report.md").read_text()
    assert "1 of 1 hard claims held" in text
    assert "No figure: a run gave no result: deadlock" in text


def test_a_search_that_fails_costs_the_report_its_experiment_alone(tmp_path, inline, monkeypatch):
    def fail(*_, **__):
        raise tailback.RunFailed("no memory")

    monkeypatch.setattr(reproduce, "saturation", fail)
    with pytest.raises(tailback.RunFailed, match="a run of x-fig1 gave no result: no memory"):
        reproduce.reproduce([searching(), experiment("x-fig2", held=True)], tmp_path)
    assert "1 of 1 hard claims held" in (tmp_path / "report.md").read_text()
