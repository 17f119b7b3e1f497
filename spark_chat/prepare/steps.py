"""A build in a process group of its own that says "[12/97]" as it goes, as ninja does. It dies with this process."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress

from spark_chat.prepare.rehearsal import PrepareProblem, Report

_STEP = re.compile(rb"\[(\d+)/(\d+)\]")
LINE = 1 << 20
KEPT = 30
"""Lines of the end that a failure may show."""

# The command, beside a shell that ends it and the compilers that it started once the other end of the pipe is gone.
_RUN = """
exec 3<&0 </dev/null
(exec >/dev/null 2>&1; read _ <&3; kill -9 0) &
exec "$@" 3<&-
"""


async def run(command: Sequence[str], environment: Mapping[str, str], title: str, report: Report) -> None:
    """To its end. Raises PrepareProblem with the end of what it said. Cancelling it kills its whole group."""
    process = await asyncio.create_subprocess_exec(
        "/bin/sh", "-c", _RUN, "sh", *command, env={**os.environ, **environment}, limit=LINE, start_new_session=True,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
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
