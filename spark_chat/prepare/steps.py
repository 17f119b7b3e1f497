"""A build in a process group of its own that says "[12/97]" as it goes, as ninja does. It dies with this process."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress

from spark_chat.prepare.rehearsal import PrepareProblem, Report

_STEP = re.compile(rb"\[(\d+)/(\d+)\]")
LINE = 1 << 20
KEPT = 30
"""Lines of the end that a failure may show."""

# The command, but the kernel ends it when its parent goes.
_RUN = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(1, 9)
if os.getppid() != int(sys.argv[1]): sys.exit(1)
os.execvp(sys.argv[2], sys.argv[2:])
"""


async def run(command: Sequence[str], environment: Mapping[str, str], title: str, report: Report) -> None:
    """To its end. Raises PrepareProblem with the end of what it said. Cancelling it kills its whole group."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _RUN, str(os.getpid()), *command, env={**os.environ, **environment}, limit=LINE,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    said: deque[str] = deque(maxlen=KEPT)
    try:
        report(None, title)
        while piece := await process.stdout.read(65_536):
            for line in piece.decode(errors="replace").splitlines():
                said.append(line)
            if steps := _STEP.findall(piece):
                done, total = int(steps[-1][0]), max(1, int(steps[-1][1]))
                report(min(1.0, done / total), f"{title}: {done} of {total} steps")
        code = await process.wait()
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    if code != 0:
        error = next((line for line in said if "error" in line.lower()), said[-1] if said else "nothing")
        raise PrepareProblem(
            f"{title} could not be compiled; it said: {error.strip()[:300]}",
            "`spark-chat doctor` looks at compilers and versions. What was compiled is kept.",
        )
