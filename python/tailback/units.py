"""The units of quantities: those that count the same thing can stand in one range and on one axis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

_BYTES = {"B": 8, "kB": 8 * 10**3, "MB": 8 * 10**6, "GB": 8 * 10**9, "TB": 8 * 10**12}
_BYTES |= {"KiB": 8 << 10, "MiB": 8 << 20, "GiB": 8 << 30, "TiB": 8 << 40}

TIMES = {"ps": 1, "ns": 10**3, "us": 10**6, "µs": 10**6, "ms": 10**9, "s": 10**12}
"""Units of time, each with how many picoseconds it is."""

FAMILIES: Sequence[Mapping[str, int]] = (
    {"": 100, "%": 1},
    TIMES,
    {"cycle": 1, "cycles": 1},
    {"flit": 1, "flits": 1},
    {"packet": 1, "packets": 1},
    {"b": 1, **_BYTES},
    {
        **{f"{prefix}b/s": 10**power for prefix, power in (("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12))},
        **{f"{unit}/s": size for unit, size in _BYTES.items()},
    },
)
"""The engine's units, each with how many of the first of its family it is; numbers have none."""


def family(units: Iterable[str]) -> Mapping[str, int] | None:
    """The family of all these units; None if they are of several, or unknown."""
    names = set(units)
    return next((family for family in FAMILIES if names <= family.keys()), None)
