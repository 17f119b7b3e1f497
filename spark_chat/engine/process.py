"""The worker as a process: it ends with whom it belongs to, and nothing of its group outlives it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys

_PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent goes, where the kernel can (Linux)."""
    _at_parents_death(signal.SIGKILL)
    if parent and os.getppid() != parent:  # it went before the line above
        os._exit(0)


def outlive_parent() -> None:
    """From here on the end of a socket tells, and not the parent's: another client uses the engine, or it lingers.
    To be called on the main thread, as `die_with_parent` was."""
    _at_parents_death(0)


def _at_parents_death(number: int) -> None:
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)


def leave_no_children() -> None:
    """Start a shell that kills this process group once this process is gone, however it went.

    What an engine starts (schedulers, compilers) is in the group; the kernel's signal at the parent's death reaches
    this process alone, and nothing of it runs after that.
    """
    if os.getpgrp() != os.getpid():
        return  # started by hand, in a group that is not ours to kill
    reading, _kept_open = os.pipe()
    with contextlib.suppress(OSError):
        subprocess.Popen(["/bin/sh", "-c", "read _; kill -9 0"], stdin=reading)
    os.close(reading)


def end_at_once() -> None:
    """This process and everything in its group, now."""
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)
