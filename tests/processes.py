"""The processes that a test starts: none outlives it, and several runs of the tests at once see only their own."""

from __future__ import annotations

import ctypes
import os
import signal
from pathlib import Path

import psutil

_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1


def end_with_us() -> None:
    """As `preexec_fn`: the process is killed where this one is, which then can tidy up nothing. The thread that starts
    it must wait for it, since the end of that thread counts as this one's."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


def of_home(home: Path) -> list[psutil.Process]:
    """All that are alive and have this test's runtime folder in their environment, but this one. What was read of
    them stands in `info`."""
    found = []
    for process in psutil.process_iter(["environ", "status", "cmdline"]):
        about = process.info
        ours = (about["environ"] or {}).get("XDG_RUNTIME_DIR") == str(home / "runtime")
        if ours and process.pid != os.getpid() and about["status"] != psutil.STATUS_ZOMBIE:
            found.append(process)
    return found
