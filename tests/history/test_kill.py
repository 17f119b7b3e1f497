"""kill -9 at random moments, and two writers at once: the file stays sound and at most a second is lost."""

from __future__ import annotations

import json
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from spark_chat.history.journal import Journal, new_id
from spark_chat.history.store import Store

DEADLINE_S = 60
LOST_S = 1.0
"""The promise. The journal's interval is shorter, by what a loaded machine may take to write."""


def writer(path: Path, *more: str, **options: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.history.writer_process", str(path), *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)


def lines(text: str) -> list[dict[str, Any]]:
    """What a process said; a line cut off by its kill is left out."""
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


def read_until(process: subprocess.Popen[str], count: int) -> str:
    assert process.stdout is not None
    return "".join(process.stdout.readline() for _ in range(count))


@pytest.mark.parametrize("seed", range(4))
def test_a_kill_loses_at_most_a_second(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "history.sqlite3"
    process = writer(path)
    said = read_until(process, random.Random(seed).randrange(1, 400))
    process.send_signal(signal.SIGKILL)
    killed = time.monotonic()
    assert process.stdout is not None
    said += process.stdout.read()
    assert process.wait(DEADLINE_S) == -signal.SIGKILL
    spoken = lines(said)

    store = Store.open(path)
    assert store.notes == []
    assert store.integrity() == "ok"
    store.close()
    journal = Journal(path)
    offer = journal.latest().result(DEADLINE_S)
    assert offer is not None
    assert offer.killed
    found = journal.load(offer.conversation).result(DEADLINE_S)
    journal.close()
    assert found is not None
    kept = {message.id: message for message in found.messages}
    prompts = [message.text for message in found.messages if message.role == "user"]
    for line in spoken:
        if line["what"] == "prompt":
            assert line["kept"] is True
            assert line["text"] in prompts
        elif line["what"] == "done":
            assert (kept[line["answer"]].text, kept[line["answer"]].state) == (line["text"], "done")
        elif line["what"] == "piece" and line["time"] < killed - LOST_S:
            assert kept[line["answer"]].text.startswith(line["text"])
    assert not [line for line in spoken if line["what"] == "trouble"]


def test_a_stream_alone_is_kept_within_the_second(tmp_path: Path) -> None:
    """No prompt and no end comes along to have the text written: the clock alone does it."""
    path = tmp_path / "history.sqlite3"
    program = (
        "import sys, time, threading; from pathlib import Path; from spark_chat.history.journal import *\n"
        "j = Journal(Path(sys.argv[1])); c = j.begin(); p, a = new_id(), new_id()\n"
        "j.prompt(c, p, 'x'); j.answer_started(c, a, p).result(); n = 0; tick = threading.Event()\n"
        "while True:\n"
        "    j.append(a, f'{n} '); print(time.monotonic(), n, flush=True); n += 1; tick.wait(0.01)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program, path], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    first = float(process.stdout.readline().split()[0])
    spoken = []
    while not spoken or spoken[-1][0] < first + 2.5:
        when, n = process.stdout.readline().split()
        spoken.append((float(when), int(n)))
    process.kill()
    killed = time.monotonic()
    process.wait(DEADLINE_S)
    process.stdout.close()
    journal = Journal(path)
    offer = journal.latest().result(DEADLINE_S)
    assert offer is not None
    assert (offer.partial, offer.killed) == (True, True)
    found = journal.resume(offer.conversation).result(DEADLINE_S)
    assert found is not None
    numbers = [int(word) for word in found.messages[1].text.split()]
    assert numbers == list(range(len(numbers)))
    must = max(n for when, n in spoken if when < killed - LOST_S)
    assert numbers[-1] >= must
    assert found.messages[1].state == "stopped"
    journal.close()


def test_two_chats_write_at_once_and_one_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite3"
    victim, survivor, third = writer(path), writer(path, "6"), writer(path, "6")
    said = read_until(victim, 100)
    victim.kill()
    outcome = [lines(process.communicate(timeout=DEADLINE_S)[0]) for process in (survivor, third)]
    assert victim.stdout is not None
    said += victim.stdout.read()
    victim.wait(DEADLINE_S)
    assert [process.returncode for process in (survivor, third)] == [0, 0]
    store = Store.open(path)
    assert (store.notes, store.integrity()) == ([], "ok")
    store.close()
    journal = Journal(path)
    for spoken in outcome:
        assert spoken[-1]["kept"] is True
        assert not [line for line in spoken if line["what"] == "trouble"]
        found = journal.load(spoken[0]["talk"]).result(DEADLINE_S)
        assert found is not None
        assert [message.text for message in found.messages if message.role == "assistant"] == [
            line["text"] for line in spoken if line["what"] == "done"
        ]
        assert len(found.messages) == 12
    offer = journal.latest().result(DEADLINE_S)
    assert offer is not None
    journal.close()


def test_what_another_open_chat_holds_is_not_offered(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite3"
    process = writer(path)
    read_until(process, 5)
    journal = Journal(path)
    assert journal.latest().result(DEADLINE_S) is None
    process.kill()
    process.communicate(timeout=DEADLINE_S)
    offer = journal.latest().result(DEADLINE_S)
    assert offer is not None
    assert offer.killed
    journal.close()


def test_a_disk_that_fills_up_is_a_sentence_and_the_chat_goes_on(tmp_path: Path) -> None:
    """The limit on a file's size makes the system refuse as a full disk does."""

    def small_disk() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))

    process = writer(tmp_path / "history.sqlite3", "5", preexec_fn=small_disk)
    spoken = lines(process.communicate(timeout=DEADLINE_S)[0])
    assert process.returncode == 0
    troubles = [line["sentence"] for line in spoken if line["what"] == "trouble"]
    assert troubles
    assert "this chat is not kept" in troubles[0]
    assert len([line for line in spoken if line["what"] == "done"]) == 5
    assert spoken[-1] == {"time": spoken[-1]["time"], "what": "closed", "kept": False}
    store = Store.open(tmp_path / "history.sqlite3")
    assert store.integrity() == "ok"
    store.close()


async def test_a_file_that_is_locked_holds_nobody_up_and_is_written_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spark_chat.history.journal.ANSWER_S", 0.05)
    path = tmp_path / "history.sqlite3"
    Store.open(path).close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    said: list[str] = []
    journal = Journal(path, said.append)
    kept = journal.prompt(journal.begin(), new_id(), "hello")
    assert await journal.committed(kept) is None
    assert "The disk is slow" in said[0]
    other.execute("COMMIT")
    other.close()
    assert kept.result(DEADLINE_S) is True
    assert journal.close()
