"""Which processes a test has started: several runs of the tests at once see only their own."""

from __future__ import annotations

import os
from pathlib import Path

import psutil


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
