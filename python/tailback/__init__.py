"""Tailback simulates lossless HPC and AI interconnects, and what keeps congestion from spreading in them.

import tailback

scenario = tailback.Scenario.load("scenarios/hotspot.toml")
result = scenario.replace({"traffic.hot.load": 0.7}).run()
print(result.summary["classes"]["victim"]["message_latency_ns"]["mean"])
tailback.plot.latency_over_time(result).savefig("latency.png")
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tailback._engine import version
from tailback.errors import InputError, Interrupted, PointsFailed, Problem, RunFailed, TailbackError
from tailback.result import Result
from tailback.scenario import Progress, Scenario

if TYPE_CHECKING:
    from tailback import curves, pictures, plot
    from tailback.saturation import Saturation
    from tailback.sweeps import Sweep, sweep

__version__ = version()

__all__ = [
    "InputError",
    "Interrupted",
    "PointsFailed",
    "Problem",
    "Progress",
    "Result",
    "RunFailed",
    "Saturation",
    "Scenario",
    "Sweep",
    "TailbackError",
    "__version__",
    "curves",
    "pictures",
    "plot",
    "sweep",
]


_LATE = {"Saturation": "saturation", "Sweep": "sweeps", "sweep": "sweeps"}


def __getattr__(name: str) -> Any:
    """Loads what takes long to load (matplotlib, scipy) when it is first asked for."""
    if name in ("curves", "pictures", "plot"):
        return import_module(f"tailback.{name}")
    if name in _LATE:
        return getattr(import_module(f"tailback.{_LATE[name]}"), name)
    raise AttributeError(f"module 'tailback' has no attribute {name!r}")


def __dir__() -> list[str]:
    """What it is for, with what is loaded late."""
    return __all__
