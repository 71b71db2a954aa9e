"""What a run takes of the machine: CPU time and memory."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from pathlib import Path

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_FORGET_PEAK = "5"


class Meter:
    """Measures from its making to `read`.

    CPU time is that of all threads of the process, in user and system mode, or with `alone` of the calling
    thread, which others may run beside. Memory is the growth of the
    process's peak over what it held before, so that Python and its libraries are not part of it. A run that
    takes memory which an earlier one gave back to the allocator, but not to the system, shows less. Where the
    system tells only a peak of all time (not Linux), a run smaller than an earlier one shows 0.
    """

    def __init__(self, *, alone: bool = False) -> None:
        self._clock = time.thread_time if alone else time.process_time
        with suppress(OSError):
            _CLEAR.write_text(_FORGET_PEAK, "ascii")
        self._held = _memory("VmRSS")
        self._start = self._clock()

    def read(self) -> dict[str, float | int]:
        """`cpu_seconds`, `peak_rss_bytes` (of the run) and `process_peak_rss_bytes`."""
        seconds = self._clock() - self._start
        peak = _memory("VmHWM")
        return {
            "cpu_seconds": round(seconds, 6),
            "peak_rss_bytes": max(0, peak - self._held),
            "process_peak_rss_bytes": peak,
        }


def _memory(field: str) -> int:
    """Resident memory in bytes, now ("VmRSS") or at its peak ("VmHWM"); not on Linux: always the peak."""
    with suppress(OSError, ValueError, IndexError, StopIteration):
        lines = _STATUS.read_text("ascii", "replace").splitlines()
        line = next(line for line in lines if line.startswith(f"{field}:"))
        return int(line.split()[1]) * 1024
    with suppress(ImportError):
        import resource  # not on Windows

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
    return 0
