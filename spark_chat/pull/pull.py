"""A pull from the app's side: it starts the process that pulls, follows it, and ends it when it is called off."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from spark_chat.meters.units import seconds
from spark_chat.pull.rate import Rate
from spark_chat.pull.said import MODELSCOPE, Failed, Finished, Moved, Planned, Request, line, read

FRAME = 1 << 20
EXTRAS = {"huggingface": "pull", "modelscope": "modelscope"}
LIBRARIES = {"huggingface": "huggingface_hub", "modelscope": "modelscope_hub"}


class PullProblem(Exception):
    """`what` went wrong and what to `remedy`, in sentences. What came is kept."""

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(f"{what} {remedy}".strip())
        self.what, self.remedy = what, remedy


@dataclass(frozen=True)
class Standing:
    """How far a pull is. Bytes: `here` are on the disk, of `size`. `rate`: bytes a second of the last ten seconds;
    `left_s`: seconds to go at that rate. Both None where they can't be told. `doing`: in a few words."""

    here: int
    size: int
    rate: float | None
    left_s: float | None
    doing: str

    @property
    def fraction(self) -> float:
        return min(self.here / self.size, 1.0) if self.size else 1.0

    @property
    def text(self) -> str:
        """For a person: "31.2 of 66.0 GB, 84.1 MB/s, 6 min 53 s left"."""
        unit, scale = ("GB", 1e9) if self.size >= 1e9 else ("MB", 1e6)
        parts = [f"{self.here / scale:,.1f} of {self.size / scale:,.1f} {unit}"]
        if self.rate is not None:
            parts.append(f"{self.rate / 1e6:,.1f} MB/s")
        if self.left_s is not None:
            parts.append(f"{seconds(self.left_s)} left")
        return ", ".join(parts) + (f" ({self.doing})" if self.doing else "")


async def planned(request: Request) -> Planned:
    """What a pull would bring. Raises PullProblem."""
    found: list[Planned] = []
    await _run(msgspec.structs.replace(request, only_plan=True), found.append, lambda moved: None)
    return found[0]


async def pull(
    request: Request, tell: Callable[[Standing], None], on_plan: Callable[[Planned], None] = lambda planned: None
) -> tuple[Path, int]:
    """The model's folder or file, and how many files were checked. Raises PullProblem.

    Cancelling ends it at once; the next pull goes on from there.
    """
    rate, before = Rate(), Moved(present=0, received=0, size=0)

    def moved(event: Moved) -> None:
        nonlocal rate, before
        if event.received < before.received:
            rate = Rate()
        before = event
        rate.feed(time.monotonic(), event.received)
        here = event.present + event.received
        doing = event.trouble or ("checking what is here" if event.checking else "")
        per_s = None if event.checking else rate.bytes_per_s
        tell(Standing(here, event.size, per_s, rate.left_s(event.size - here) if per_s else None, doing))

    finished = await _run(request, on_plan, moved)
    if finished is None:
        raise PullProblem("The process that fetches ended without a word.", "Start again: what came is kept.")
    return Path(finished.path), finished.checked


async def _run(
    request: Request, on_plan: Callable[[Planned], None], on_move: Callable[[Moved], None]
) -> Finished | None:
    check_library(request.hub)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", "spark_chat.pull.worker", str(os.getpid()), line(request).decode().strip(),
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        env=_environment(), start_new_session=True, limit=FRAME,
    )  # fmt: skip
    assert process.stdout is not None
    finished: Finished | None = None
    plans = 0
    try:
        while frame := await process.stdout.readline():
            try:
                said = read(frame)
            except msgspec.MsgspecError:
                continue
            if isinstance(said, Planned):
                plans += 1
                on_plan(said)
            elif isinstance(said, Moved):
                on_move(said)
            elif isinstance(said, Finished):
                finished = said
            elif isinstance(said, Failed):
                raise PullProblem(said.what, said.remedy)
        code = await process.wait()
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    if code != 0 or not plans:
        raise PullProblem(f"The process that fetches was ended ({code}).", "Start again: what came is kept.")
    return finished


def check_library(hub: str) -> None:
    """Raises PullProblem where the hub's library is not installed."""
    from importlib.util import find_spec

    if find_spec(LIBRARIES[hub]) is None:
        title = "ModelScope" if hub == MODELSCOPE else "Hugging Face"
        raise PullProblem(
            f"Fetching from {title} needs {LIBRARIES[hub]}, which is not installed.",
            f"{sys.executable} -m pip install 'spark-chat[{EXTRAS[hub]}]'",
        )


def _environment() -> dict[str, str]:
    """As the worker of an engine gets it: a checkout is found from anywhere."""
    root = str(Path(__file__).resolve().parents[2])
    installed = any(Path(path).resolve() == Path(root) for path in sys.path if path.endswith("site-packages"))
    variables = dict(os.environ)
    if not installed:
        variables["PYTHONPATH"] = os.pathsep.join(filter(None, [root, variables.get("PYTHONPATH", "")]))
    return variables
