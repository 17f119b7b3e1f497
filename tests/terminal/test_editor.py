"""The person's editor, on a real pseudo terminal: the text goes and comes back, however the editor ends."""

from __future__ import annotations

import os
import signal
import stat
from pathlib import Path

import pytest

from spark_chat.tui.editing import FALLBACKS, editor, left_behind, taken_back, written
from tests.terminal.pty_app import PtyApp
from tests.terminal.test_chat import ended_well, ready

SCRIPTS = {
    "appends": 'printf "EDITOR IS UP\\n"; read answer; printf " and $answer\\n" >> "$1"',
    "fails": 'printf "saved first" > "$1"; exit 3',
    "deletes": 'rm "$1"',
    "fills": 'truncate -s 70000000 "$1"',
    "killed": 'printf "before the end" > "$1"; kill -9 $$',
}


def chat(tmp_path: Path, script: str, *arguments: str) -> PtyApp:
    program = tmp_path / "my editor"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return PtyApp.python(
        "tests.terminal.fake_chat", *arguments, environment={"VISUAL": f"'{program}'", "EDITOR": "false"}
    )


def test_what_is_written_comes_back_changed_and_typing_goes_on(home: Path, tmp_path: Path) -> None:
    with ready(chat(tmp_path, SCRIPTS["appends"])) as app:
        app.send("a draft [/INST]")
        app.wait_for("a draft [/INST]")
        app.send("\x1bOS")  # f4
        app.wait_for("EDITOR IS UP")
        (draft,) = (home / "state" / "spark-chat" / "drafts").iterdir()
        assert draft.read_text() == "a draft [/INST]" and stat.S_IMODE(draft.stat().st_mode) == 0o600
        app.send("more\r")
        app.wait_for("a draft [/INST] and more")
        app.wait_for("tok/s")
        assert not draft.exists()
        app.send("!")
        app.wait_for("and more!")
        app.send("\x11")
        ended_well(app)


def test_an_answer_goes_on_while_the_editor_is_open(home: Path, tmp_path: Path) -> None:
    with ready(chat(tmp_path, SCRIPTS["appends"], "prose", "--tokens", "60", "--rate", "100")) as app:
        app.send("go\r")
        app.wait_for("quick")
        app.send("\x1bOS")
        app.wait_for("EDITOR IS UP")
        log = home / "data" / "spark-chat" / "history.sqlite3"
        app.wait_for(lambda: log.exists() and b"shade of a tree" in log.read_bytes() + _wal(log))
        assert "60 tok" not in app.text, "nothing is drawn over the editor"
        app.send("done\r")
        app.wait_for("60 tok")
        app.wait_for("and done")


def _wal(log: Path) -> bytes:
    wal = log.with_name(f"{log.name}-wal")
    return wal.read_bytes() if wal.exists() else b""


@pytest.mark.parametrize(
    ("how", "text", "says"),
    [
        ("fails", "saved first", "exit code 3"),
        ("deletes", "my words", "the text is as it was"),
        ("fills", "my words", "It stays in"),
        ("killed", "before the end", "by signal 9"),
    ],
)
def test_however_the_editor_ends_no_text_is_lost(home: Path, tmp_path: Path, how: str, text: str, says: str) -> None:
    with ready(chat(tmp_path, SCRIPTS[how])) as app:
        app.send("my words")
        app.wait_for("my words")
        app.send("\x1bOS")
        app.wait_for(lambda: says in " ".join(app.text.split()))
        app.wait_for(f"> {text}")
        assert bool(list((home / "state" / "spark-chat" / "drafts").iterdir())) == (how == "fills")


def test_an_editor_that_is_not_there_is_a_sentence(home: Path, tmp_path: Path) -> None:
    with ready(PtyApp.python("tests.terminal.fake_chat", environment={"VISUAL": "/nowhere/at-all"})) as app:
        app.send("my words")
        app.wait_for("my words")
        app.send("\x1bOS")
        app.wait_for("/nowhere/at-all could not be started")
        app.wait_for("> my words")


def test_ctrl_c_in_the_editor_does_not_end_the_chat(home: Path, tmp_path: Path) -> None:
    with ready(chat(tmp_path, 'printf "EDITOR IS UP\\n"; read answer')) as app:
        app.send("my words")
        app.wait_for("my words")
        app.send("\x1bOS")
        app.wait_for("EDITOR IS UP")
        app.send("\x03")
        app.wait_for("> my words")
        app.send(" stay")
        app.wait_for("> my words stay")


def test_after_a_kill_with_the_editor_open_the_next_start_has_the_text(home: Path, tmp_path: Path) -> None:
    with ready(chat(tmp_path, 'printf "in the editor" > "$1"; printf "EDITOR IS UP\\n"; read answer')) as app:
        app.send("my words")
        app.wait_for("my words")
        app.send("\x1bOS")
        app.wait_for("EDITOR IS UP")
        app.kill(signal.SIGKILL)
        app.wait_ended()
    (home / "data" / "spark-chat" / "history.sqlite3").unlink(missing_ok=True)  # else its draft may be there first
    with chat(tmp_path, "true") as app:
        app.wait_for("> in the editor")
        app.wait_for("is back")
    assert not list((home / "state" / "spark-chat" / "drafts").iterdir())


# ------------------------------------------------------------------ without a terminal


@pytest.mark.parametrize(
    ("environment", "command"),
    [
        ({"VISUAL": "code --wait", "EDITOR": "vi"}, ["code", "--wait"]),
        ({"VISUAL": "", "EDITOR": "'my editor' -n"}, ["my editor", "-n"]),
        ({"VISUAL": "'unclosed", "EDITOR": "vi"}, ["vi"]),
        ({"PATH": "/nowhere"}, []),
    ],
)
def test_which_editor_it_is(environment: dict[str, str], command: list[str]) -> None:
    assert editor(environment) == command


def test_without_a_variable_the_first_that_is_installed(tmp_path: Path) -> None:
    program = tmp_path / FALLBACKS[-1]
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert editor({"PATH": str(tmp_path)}) == [str(program)]


@pytest.mark.parametrize("text", ["", "x", "x\n", "x\n\n", "é\r\n\0 \udce9"])
def test_the_newline_that_editors_add_does_not_come_back(home: Path, text: str) -> None:
    path = written(text)
    clean = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    assert taken_back(path, text) == clean
    with path.open("ab") as file:
        file.write(b"\n")
    assert taken_back(path, text) == (clean if not text.endswith("\n") else f"{clean}\n")


def test_texts_of_chats_that_still_run_are_left_alone(home: Path) -> None:
    folder = written("mine").parent
    (folder / f"prompt-{os.getppid()}.md").write_text("of one that runs")
    (folder / "prompt-999999999.md").write_text("of one that is gone")
    for odd in ("x", "²", "-1", "9" * 40):
        (folder / f"prompt-{odd}.md").write_text("whatever")
    (folder / f"prompt-{os.getpid()}.md").write_text("of an earlier process with this number")
    assert sorted(left_behind()) == ["of an earlier process with this number", "of one that is gone"]
    assert left_behind() == []
    assert len(list(folder.iterdir())) == 5
