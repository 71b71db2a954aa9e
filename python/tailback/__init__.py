"""Tailback simulates lossless HPC and AI interconnects, and what keeps congestion from spreading in them.

import tailback

scenario = tailback.Scenario.load("scenarios/hotspot.toml")
result = scenario.replace({"traffic.hot.load": 0.7}).run()
print(result.summary["classes"]["victim"]["message_latency_ns"]["mean"])
tailback.plot.latency_over_time(result).savefig("latency.png")
"""

from tailback import plot
from tailback._engine import version
from tailback.errors import InputError, Interrupted, Problem, RunFailed, TailbackError
from tailback.result import Result
from tailback.scenario import Progress, Scenario

__version__ = version()

__all__ = [
    "InputError",
    "Interrupted",
    "Problem",
    "Progress",
    "Result",
    "RunFailed",
    "Scenario",
    "TailbackError",
    "__version__",
    "plot",
]
