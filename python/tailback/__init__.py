"""Tailback simulates lossless HPC and AI interconnects, and what keeps congestion from spreading in them.

import tailback

scenario = tailback.Scenario.load("scenarios/hotspot.toml")
result = scenario.replace({"traffic.hot.load": 0.7}).run()
print(result.summary["classes"]["victim"]["message_latency_ns"]["mean"])
tailback.plot.latency_over_time(result).savefig("latency.png")
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tailback import curves, drawing, pictures, plot
    from tailback.errors import (
        InputError,
        Interrupted,
        NotKept,
        PointsFailed,
        Problem,
        RunFailed,
        TailbackError,
    )
    from tailback.figures import style as style
    from tailback.figures import trace as trace
    from tailback.page import view as view
    from tailback.result import Result
    from tailback.scenario import Progress, Scenario
    from tailback.sweeps.found import Saturation
    from tailback.sweeps.model import Sweep
    from tailback.sweeps.saturation import saturation
    from tailback.sweeps.sweep import sweep

    __version__: str

__all__ = [
    "InputError",
    "Interrupted",
    "NotKept",
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
    "drawing",
    "pictures",
    "plot",
    "saturation",
    "sweep",
]


_MODULES = {
    "errors": (
        "InputError",
        "Interrupted",
        "NotKept",
        "PointsFailed",
        "Problem",
        "RunFailed",
        "TailbackError",
    ),
    "result": ("Result",),
    "scenario": ("Progress", "Scenario"),
    "sweeps.model": ("Sweep",),
    "sweeps.found": ("Saturation",),
    "sweeps.saturation": ("saturation",),
    "sweeps.sweep": ("sweep",),
}
"""Where the names are: each is loaded when it is first asked for, so that the command begins at once."""

_PACKAGES = {
    "figures": ("style", "trace"),
    "page": ("view",),
}
"""Where the modules are that a user has as `tailback.style`, loaded as late."""


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("tailback._engine").version()
    if name in ("curves", "drawing", "errors", "pictures", "plot"):
        return import_module(f"tailback.{name}")
    for package, modules in _PACKAGES.items():
        if name in modules:
            return import_module(f"tailback.{package}.{name}")
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"tailback.{module}"), name)
    raise AttributeError(f"module 'tailback' has no attribute {name!r}")


def __dir__() -> list[str]:
    """What it is for, with what is loaded late."""
    return __all__
