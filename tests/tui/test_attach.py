"""Files in the composer: completed, attached, dropped, refused, changed behind one's back."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events

from spark_chat.tui.composer.completion import Completion
from tests.tui.sitting import Sitting, sitting


@pytest.fixture(autouse=True)
def working(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = home / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "main loop.py").write_text("print('hi')\n")
    (folder / "notes.md").write_text("# Notes\n")
    (folder / "picture.png").write_bytes(b"\x89PNG\0")
    monkeypatch.chdir(folder)
    return folder


NOTES = "notes.md:\n```md\n# Notes\n```\n"


def text(chat: Sitting) -> str:
    return chat.app.chat.composer.text


async def pick(chat: Sitting, typed: str, row: str) -> None:
    """Type, wait for the row to be listed first, take it."""
    await chat.type(typed)
    await chat.until(lambda: f"▸ {row}" in chat.screen_text(), row)
    await chat.pilot.press("tab")


async def test_a_file_is_completed_attached_shown_as_a_chip_and_sent_with_its_name() -> None:
    async with sitting() as chat:
        await chat.type("read ")
        await pick(chat, "@mloop", "src/main loop.py")
        await chat.until(lambda: "@src/main loop.py · 12 B · 1 line" in chat.screen_text())
        await chat.type("please")
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.engine.asked)
        assert chat.engine.asked[0][1] == ["read \nsrc/main loop.py:\n```py\nprint('hi')\n```\n please"]


async def test_a_chip_goes_and_comes_back_as_a_whole_and_opens() -> None:
    async with sitting() as chat:
        await pick(chat, "@notes", "notes.md")
        await chat.until(lambda: text(chat) == f"{NOTES} ")
        await chat.pilot.press("alt+o")
        await chat.until(lambda: "# Notes" in chat.screen_text())
        await chat.pilot.press("escape", "backspace", "backspace")
        assert text(chat) == ""
        await chat.pilot.press("ctrl+z")
        await chat.until(lambda: text(chat).startswith(NOTES))


async def test_folders_and_paths_anywhere_are_completed_step_by_step(home: Path) -> None:
    (home / "elsewhere").mkdir()
    (home / "elsewhere" / "x.txt").write_text("x")
    async with sitting() as chat:
        await pick(chat, "@~/else", "~/elsewhere/")
        await chat.until(lambda: "▸ ~/elsewhere/x.txt" in chat.screen_text())
        await chat.pilot.press("tab")
        await chat.until(lambda: text(chat).startswith("~/elsewhere/x.txt:\n```txt\nx\n```"))


async def test_an_at_sign_in_a_word_or_without_a_file_is_text() -> None:
    async with sitting() as chat:
        await chat.type("me@notes")
        await chat.pilot.pause()
        assert not chat.app.chat.query_one(Completion).is_open
        await chat.type(" @zzz")
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.engine.asked)
        assert chat.engine.asked[0][1] == ["me@notes @zzz"]


@pytest.mark.parametrize(
    ("argument", "says"),
    [("picture.png", "no text file"), ("src", "is a folder"), ("no such", "There is no file no such")],
)
async def test_what_cannot_go_along_is_refused_by_name_and_the_draft_stays(argument: str, says: str) -> None:
    async with sitting() as chat:
        await chat.type("draft ")
        chat.app.run_command("attach", argument)
        await chat.until(lambda: says in chat.notice("said") and argument in chat.notice("said"))
        assert text(chat) == "draft "


async def test_the_command_takes_a_path_with_spaces() -> None:
    async with sitting() as chat:
        chat.app.run_command("attach", "src/main loop.py")
        await chat.until(lambda: text(chat).startswith("src/main loop.py:\n```py"))


async def test_a_file_that_changed_is_told_of_and_goes_as_it_is_now(working: Path) -> None:
    async with sitting() as chat:
        await pick(chat, "@notes", "notes.md")
        await chat.until(lambda: text(chat) == f"{NOTES} ")
        (working / "notes.md").write_text("# Other notes\nand more\n")
        await chat.pilot.press("enter")
        await chat.until(lambda: "notes.md has changed since it was attached" in chat.notice("said"))
        assert not chat.engine.asked and "2 lines" in chat.screen_text()
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.engine.asked)
        assert "# Other notes\nand more" in chat.engine.asked[0][1][0]


async def test_a_file_that_is_gone_is_told_of_and_goes_as_it_was(working: Path) -> None:
    async with sitting() as chat:
        await pick(chat, "@notes", "notes.md")
        await chat.until(lambda: text(chat) == f"{NOTES} ")
        (working / "notes.md").unlink()
        await chat.pilot.press("enter")
        await chat.until(lambda: "There is no file notes.md" in chat.notice("said"))
        assert not chat.engine.asked
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.engine.asked)
        assert "# Notes" in chat.engine.asked[0][1][0]


async def test_a_dropped_file_is_offered_and_taken_with_a_key(working: Path) -> None:
    path = working / "src" / "main loop.py"
    async with sitting() as chat:
        await chat.type("see ")
        prompt = chat.app.chat.composer.prompt
        prompt.post_message(events.Paste(f"'{path}'"))
        await chat.until(lambda: "Attach src/main loop.py?" in chat.notice("attach"))
        await chat.type(" now")
        await chat.pilot.press("ctrl+g")
        await chat.until(lambda: "print('hi')" in text(chat))
        assert str(path) not in text(chat) and text(chat).startswith("see ") and "now" in text(chat)
        assert "attach" not in chat.notices


async def test_an_offer_goes_with_its_path_and_is_pressed_on_nobody(working: Path) -> None:
    async with sitting() as chat:
        chat.app.chat.composer.prompt.post_message(events.Paste(str(working / "notes.md")))
        await chat.until(lambda: "attach" in chat.notices)
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.engine.asked)
        assert chat.engine.asked[0][1] == [str(working / "notes.md")]
        await chat.until(lambda: "attach" not in chat.notices)


async def test_a_recalled_prompt_has_its_file_again() -> None:
    async with sitting() as chat:
        await pick(chat, "@notes", "notes.md")
        await chat.until(lambda: text(chat) == f"{NOTES} ")
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.engine.asked)
        await chat.pilot.press("up")
        assert text(chat) == f"{NOTES} " and "@notes.md" in chat.screen_text()
