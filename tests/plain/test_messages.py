"""One message of the plain chat: chosen, edited, asked again, forked, copied."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from spark_chat.engine.protocol import Generate
from spark_chat.history.journal import Journal
from spark_chat.history.shelf import Shelf
from tests.fakes import Script
from tests.plain.sitting import Sitting, sit

pytestmark = pytest.mark.usefixtures("home")


def sent(sitting: Sitting) -> list[list[str]]:
    """What the model got each time: the person's turns."""
    asked = [command for command in sitting.engine.commands if isinstance(command, Generate)]
    return [[turn.content for turn in command.messages if turn.role == "user"] for command in asked]


async def talk(sitting: Sitting, *prompts: str) -> None:
    for prompt in prompts:
        count = sitting.words.count(" tok, ")
        sitting.type(f"{prompt}\n")
        await sitting.until(" tok, ", count + 1)


async def test_a_prompt_is_edited_and_the_old_one_is_a_version(tmp_path: Path) -> None:
    sitting = sit(tmp_path)
    sitting.type("/edit\n")
    await sitting.until("There is no prompt here yet.")
    await talk(sitting, "one", "two", "/edit three")
    assert sent(sitting)[-1] == ["one", "three"]
    await talk(sitting, "/message 1\n/edit\none,\\\nanew")
    assert sent(sitting)[-1] == ["one,\nanew"]
    sitting.type("/message\n")
    await sitting.until("1. one, (prompt 2 of 2)")
    sitting.type("/message earlier\n/message\n")
    await sitting.until("2. three (prompt 2 of 2)")
    sitting.type("/message 2\n/message earlier\n/message earlier\n/message 9\n")
    await sitting.until("a number up to 2")
    assert "Message 2 (prompt 1 of 2):\ntwo\n\none two" in sitting.words
    assert "There is no earlier version of it." in sitting.words
    await talk(sitting, "/again", "after")
    assert sent(sitting)[-2:] == [["one", "two"], ["one", "two", "after"]]
    sitting.type("/message 2\n")
    await sitting.until("answer 2 of 2")
    assert await sitting.end() == 0


async def test_ctrl_c_leaves_what_is_begun(tmp_path: Path) -> None:
    sitting = sit(tmp_path)
    await talk(sitting, "one")
    sitting.type("/edit\n")
    await sitting.until("takes the place of this one")
    sitting.chat.interrupted()
    await talk(sitting, "two")
    assert sent(sitting)[-1] == ["one", "two"]
    sitting.type("```\nnever closed\n")
    await sitting.until("... ", 2)
    sitting.chat.interrupted()
    await sitting.until("Left; nothing was sent.", 2)
    await talk(sitting, "three")
    assert sent(sitting)[-1] == ["one", "two", "three"]
    await sitting.end()


async def test_a_fork_goes_on_by_itself(tmp_path: Path) -> None:
    history = tmp_path / "history.sqlite3"
    sitting = sit(tmp_path, history=history)
    sitting.type("/fork\n")
    await sitting.until("There is no prompt here yet.")
    await talk(sitting, "one", "two", "/message 1\n/fork\nthree")
    assert "a fork of 1 prompt:" in sitting.words and sent(sitting)[-1] == ["one", "three"]
    sitting.type("/resume\n")
    await sitting.until("1. one\n")
    assert await sitting.end() == 0
    journal = Journal(history)
    page = await journal.committed(Shelf(journal).page(0, 5))
    assert page is not None and {item.title for item in page.rows} == {"one", "one (fork)"}
    await asyncio.to_thread(journal.close)


@pytest.mark.parametrize("what", ["", "all", "code"])
async def test_what_is_copied_drives_no_terminal(tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TMUX", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    sitting = sit(tmp_path, script=Script(words=["```\n", "ls -l\n", "```\n"], tokens=3))
    sitting.type("/copy\n")
    await sitting.until("nothing to copy yet")
    await talk(sitting, "one")
    sitting.type(f"/copy rest\n/copy {what}\n")
    await sitting.until("no clipboard tool works here")
    await sitting.end()
    assert "It is /copy, /copy all or /copy code." in sitting.words and "\x1b" not in sitting.words
    file = Path(sitting.words.split(" to ")[-1].split(": no")[0])
    whole = "```\nls -l\n```"
    text = await asyncio.to_thread(file.read_text)
    assert text.strip() == {"": whole, "all": f"> one\n\n{whole}", "code": "ls -l"}[what]
