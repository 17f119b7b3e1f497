"""An engine's temporary files go with it, also where everything of it is killed at once."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from spark_chat.engine import scratch
from tests import waiting

CHILD = "import sys, tempfile; tempfile.mkdtemp(); print(1, flush=True); sys.stdin.read()"
PROGRAM = f"""
import os, subprocess, sys, tempfile
from spark_chat.engine import scratch
folder = scratch.make()
tempfile.NamedTemporaryFile(delete=False)
pipe, held = os.pipe()
child = subprocess.Popen(
    [sys.executable, "-c", {CHILD!r}], stdin=pipe, stdout=subprocess.PIPE, pass_fds=[held]
)
child.stdout.readline()
print(folder, child.pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("how", ["group", "process", "children first", "end"])
def test_nothing_is_left_however_it_ends(tmp_path: Path, how: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as process:  # fmt: skip
        assert process.stdout is not None and process.stdin is not None
        folder, child = process.stdout.readline().decode().split()
        assert len(list(Path(folder).iterdir())) == 2
        shared = Path("/dev/shm") / f"spark-chat-test-{process.pid}"
        shared.write_bytes(b"x")
        (Path(folder) / scratch.SHARED_MEMORY).write_text(f"gone already\n{shared.name}\n")
        if how == "group":
            os.killpg(process.pid, signal.SIGKILL)
        elif how == "process":
            process.kill()
        elif how == "children first":
            import psutil

            for one in psutil.Process(process.pid).children(recursive=True):
                one.kill()
            process.kill()
        process.stdin.close()
    left = (Path(folder), shared, Path(f"/proc/{child}"))
    assert waiting.comes(lambda: not any(path.exists() for path in left)), "it was left"


MAKER = "from spark_chat.engine import scratch; print(scratch.make(), flush=True)"
FATAL = """#!/bin/sh
kill -9 "-$SPARK_CHAT_TEST_GROUP"
made=$("$SPARK_CHAT_TEST_MKTEMP" "$@")
printf '%s\\n' "$made" | tee "$SPARK_CHAT_TEST_NOTE"
"""


@pytest.fixture
def short() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        yield Path(folder)


def test_killed_while_it_is_made(tmp_path: Path, short: Path) -> None:
    mktemp, tools, note = shutil.which("mktemp"), tmp_path / "tools", tmp_path / "note"
    assert mktemp is not None
    tools.mkdir()
    (tools / "mktemp").write_text(FATAL)
    (tools / "mktemp").chmod(0o755)
    known = {"SPARK_CHAT_TEST_MKTEMP": mktemp, "SPARK_CHAT_TEST_NOTE": str(note), "TMPDIR": str(short)}
    killed = subprocess.run(
        ["/bin/sh", "-c", 'SPARK_CHAT_TEST_GROUP=$$ exec "$@"', "sh", sys.executable, "-c", MAKER], timeout=60,
        env={**os.environ, **known, "PATH": f"{tools}:{os.environ['PATH']}"}, start_new_session=True,
        capture_output=True,
    )  # fmt: skip
    assert killed.returncode == -signal.SIGKILL and not killed.stdout
    assert waiting.comes(lambda: note.exists() and note.read_text().endswith("\n")), "it was not made"
    assert note.read_text().startswith(str(short))
    assert waiting.comes(lambda: not list(short.iterdir())), "it was left"


def test_a_long_path_is_left_for_a_short_one(tmp_path: Path) -> None:
    long = tmp_path / ("x" * scratch.LONGEST)
    long.mkdir()
    elsewhere = {**os.environ, "TMPDIR": str(long)}
    made = subprocess.run([sys.executable, "-c", MAKER], env=elsewhere, capture_output=True, text=True, check=True)
    folder = Path(made.stdout.rstrip("\n"))
    assert folder.parent == Path("/tmp") and not list(long.iterdir())
    assert waiting.comes(lambda: not folder.exists()), "it was left"
