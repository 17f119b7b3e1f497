"""A process in a group of its own, that can be killed with all its children and never mistaken for another."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence


class Child:
    """Started at once. `on_end` is called on a thread of its own, once it and its group are gone."""

    def __init__(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        output: int,
        descriptors: Sequence[int],
        on_end: Callable[[], None],
    ) -> None:
        """`output`: descriptor for its stdout and stderr; `descriptors` stay open in it. Raises OSError."""
        self._process = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=descriptors,
            start_new_session=True,
            env=environment,
        )
        self._lock = threading.Lock()
        self._reaped = False
        self._on_end = on_end
        threading.Thread(target=self._wait, name="engine-end", daemon=True).start()

    @property
    def pid(self) -> int:
        """Its process id, which is its group's."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """Negative: the signal that ended it. None while it runs."""
        return self._process.returncode

    def kill(self) -> None:
        """SIGKILL for it and all of its group; nothing once it is gone."""
        with self._lock:
            if not self._reaped:  # until then nobody else can have its id
                self._kill_group()

    def _kill_group(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _wait(self) -> None:
        if hasattr(os, "waitid"):  # ended, and not reaped: the group of a dead leader can still be named
            with contextlib.suppress(ChildProcessError):
                os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
        else:
            self._process.wait()
        with self._lock:
            self._kill_group()
            self._process.wait()
            self._reaped = True
        self._on_end()
