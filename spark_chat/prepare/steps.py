"""A build in a process group of its own that says "[12/97]" as it goes, as ninja does. It dies with this process,
and all of it."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from spark_chat.prepare.rehearsal import KEPT, PrepareProblem, Report

_STEP = re.compile(rb"\[(\d+)/(\d+)\]")
LINE = 1 << 20
SAID = 30
"""Lines of the end that a failure may show."""

ROOT = str(Path(__file__).resolve().parents[2])

# The command in a group that goes as a whole, compilers too: with this process, and when either of the two on top ends.
_RUN = """
import subprocess, sys
sys.path.insert(0, sys.argv[1])
from spark_chat.engine.process import die_with_parent, leave_no_children
die_with_parent(int(sys.argv[2]))
leave_no_children()
code = subprocess.call(sys.argv[3:])
sys.exit(128 - code if code < 0 else code)
"""


async def run(command: Sequence[str], environment: Mapping[str, str], title: str, report: Report) -> None:
    """To its end. Raises PrepareProblem with the end of what it said. Cancelling it kills its whole group."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-c", _RUN, ROOT, str(os.getpid()), *command, limit=LINE,
        env={**os.environ, **environment}, stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    said: deque[str] = deque(maxlen=SAID)
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
    if code < 0 or code > 128:
        killed = f"what compiles was killed (signal {-code if code < 0 else code - 128})"
        raise PrepareProblem(
            f"{title} could not be compiled: {killed}, as the system does where memory runs out.", KEPT
        )
    if code != 0:
        error = next((line for line in said if "error" in line.lower()), said[-1] if said else "nothing")
        raise PrepareProblem(
            f"{title} could not be compiled; it said: {error.strip()[:300]}",
            "`spark-chat doctor` looks at compilers and versions. What was compiled is kept.",
        )
