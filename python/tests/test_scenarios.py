"""Every scenario that comes with Tailback is right, and runs."""

from pathlib import Path

import pytest

import tailback

pytestmark = pytest.mark.engine

FOLDER = Path(__file__).parents[2] / "scenarios"
SHORT = {"run.warmup": "1 us", "run.duration": "5 us", "run.drain": "0 us", "record.occupancy": ["5 us"]}
FILES = sorted(FOLDER.glob("*.toml"))


def test_there_are_scenarios():
    assert len(FILES) >= 4


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_scenario_has_no_mistakes_and_runs(file):
    scenario = tailback.Scenario.load(file)
    assert scenario.check() == []
    assert scenario.text.startswith("# ")
    result = scenario.replace(SHORT).run()
    assert result.title
    assert result.summary["packet_hops"] > 0
    assert not result.interrupted
