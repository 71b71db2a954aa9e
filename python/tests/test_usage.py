"""What runs are said to take of the machine."""

import threading
import time

import pytest

import tailback
from tailback import usage
from tailback.scenario import _ONE_THREAD


def test_a_run_beside_others_in_the_process_counts_its_own_thread():
    alone, all_of_them = usage.Meter(alone=True), usage.Meter()
    worked = []

    def work():
        while time.thread_time() < 0.2:
            pass
        worked.append(time.thread_time())

    other = threading.Thread(target=work)
    other.start()
    other.join()
    assert all_of_them.read()["cpu_seconds"] >= worked[0]
    assert alone.read()["cpu_seconds"] < worked[0]


@pytest.mark.engine
def test_a_scenario_of_one_thread_is_known_by_its_text():
    small = tailback.Scenario.loads(
        '[topology]\nkind = "single-switch"\nendpoints = 4\n[routing]\nkind = "minimal"\n'
        '[[traffic]]\nname = "u"\npattern = "uniform"\nload = 0.1\nmessage = "1 packet"\n'
        '[run]\nwarmup = "0 us"\nduration = "1 us"\n'
    )
    assert _ONE_THREAD in small.complete()
    assert _ONE_THREAD not in small.replace({"run.threads": 2}).complete()
