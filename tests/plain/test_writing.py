"""Saved prompts, files and an editor in the plain chat."""

from __future__ import annotations

from pathlib import Path

import pytest

from spark_chat.engine.protocol import Generate
from spark_chat.prompts.library import save
from tests.plain.sitting import Sitting, sit

pytestmark = pytest.mark.usefixtures("home")


def asked(sitting: Sitting) -> list[str]:
    return [command.messages[-1].content for command in sitting.engine.commands if isinstance(command, Generate)]


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "notes.txt").write_text("buy milk\n")
    (folder / "prog.bin").write_bytes(b"\0\1")
    return folder


SAVED = '+++\n[variables]\nlanguage = "English"\n+++\nTranslate into {{language}}: {{text}} ({{language}})'


async def test_a_saved_prompt_is_filled_in_line_by_line(tmp_path: Path) -> None:
    save("turn", SAVED)
    sitting = sit(tmp_path, interactive=False)
    sitting.type("/prompt tern\n/prompt\n/prompt turn\n\n\n```\n{{language}}\n```\n/prompt turn\nGerman\n/etc\n")
    assert await sitting.end() == 1
    assert "Did you mean turn?" in sitting.words and "/prompt turn: Translate into" in sitting.words
    assert "language (an empty line: English):" in sitting.words and "it has to be written" in sitting.words
    assert asked(sitting) == [
        "Translate into English: ```\n{{language}}\n``` (English)", "Translate into German: /etc (German)",
    ]  # fmt: skip


async def test_a_saved_prompt_that_is_left_is_not_sent(tmp_path: Path) -> None:
    save("turn", SAVED)
    sitting = sit(tmp_path)
    sitting.type("/prompt turn\n/new\n/prompt turn\nGerman\n")
    await sitting.until("The saved prompt turn was not sent.")
    await sitting.until("text:")
    sitting.chat.interrupted()
    await sitting.until("Left; nothing was sent.")
    sitting.type("/prompt turn\n")
    assert await sitting.end() == 0
    assert "before all places of turn were written" in sitting.words and asked(sitting) == []


async def test_a_prompt_is_saved(tmp_path: Path) -> None:
    sitting = sit(tmp_path)
    sitting.type("first\n")
    await sitting.until("8 tok")
    sitting.type('/save-prompt last\n"""\n/save-prompt below\nof two\nlines\n"""\n/save-prompt last\n')
    await sitting.until("There is a prompt last already")
    sitting.type("/prompt below\n")
    await sitting.until("8 tok", 2)
    await sitting.end()
    assert asked(sitting) == ["first", "of two\nlines"]


async def test_files_go_along(tmp_path: Path, work: Path) -> None:
    sitting = sit(tmp_path)
    sitting.type("/attach prog.bin\n/attach nowhere\n/attach notes.txt\n/attach\n")
    await sitting.until("leaves all out")
    assert "prog.bin is not attached: it is no text file" in sitting.words
    assert "There is no file nowhere." in sitting.words
    assert sitting.words.count("notes.txt: 9 B, 1 line.") == 2
    (work / "notes.txt").write_text("buy bread\n")
    sitting.type("what is to be done?\n")
    await sitting.until("8 tok")
    sitting.type("again\n")
    await sitting.until("8 tok", 2)
    sitting.type("/attach notes.txt\n/attach none\nnothing\n")
    await sitting.until("8 tok", 3)
    await sitting.end()
    assert "has changed since it was attached" in sitting.words
    assert asked(sitting) == ["notes.txt:\n```txt\nbuy bread\n```\n\nwhat is to be done?", "again", "nothing"]


async def test_files_are_named_with_an_at(tmp_path: Path, work: Path) -> None:
    sitting = sit(tmp_path, interactive=False)
    sitting.type("@nobody, explain @notes.txt.\nrun @prog.bin\nme@notes.txt\n")
    assert await sitting.end() == 1
    assert asked(sitting) == [
        "notes.txt:\n```txt\nbuy milk\n```\n\n@nobody, explain notes.txt.", "me@notes.txt"
    ]  # fmt: skip
    assert "prog.bin is not attached" in sitting.words and "The prompt was not sent." in sitting.words


async def test_all_of_the_input_is_sent_as_it_is(tmp_path: Path, work: Path) -> None:
    sitting = sit(tmp_path, interactive=False, whole=True)
    sitting.type("explain @notes.txt\n")
    assert await sitting.end() == 0
    assert asked(sitting) == ["explain @notes.txt\n"]


async def test_a_prompt_is_written_in_the_persons_editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "editor"
    script.write_text('#!/bin/sh\necho "in an editor" >> "$1"\n')
    script.chmod(0o700)
    monkeypatch.setenv("VISUAL", str(script))
    sitting = sit(tmp_path)
    sitting.type("/editor\n")
    await sitting.until("8 tok")
    sitting.type("/edit\n/editor\n")
    await sitting.until("8 tok", 2)
    monkeypatch.setenv("VISUAL", "true")
    sitting.type("/editor\n")
    await sitting.until("Nothing was written")
    await sitting.end()
    assert asked(sitting) == ["in an editor", "in an editorin an editor"]
