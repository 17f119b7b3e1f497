"""The list of conversations, for tests: talk, leave, open it, read what stands there."""

from __future__ import annotations

from spark_chat.history.message import Hit
from spark_chat.tui.talks.screen import TalksScreen
from tests.tui.sitting import Sitting


async def command(chat: Sitting, text: str) -> None:
    await chat.type(text)
    await chat.pilot.press("enter")
    await chat.until(lambda: chat.app.chat.composer.is_empty)


async def talk(chat: Sitting, *prompts: str) -> None:
    for text in prompts:
        await chat.send(text)
        chat.engine.answer(f"answer to {text}")
        await chat.until(lambda: not chat.app.session.busy)


async def open_list(chat: Sitting) -> list[str]:
    chat.app.run_command("resume")
    await chat.until(lambda: isinstance(chat.app.screen, TalksScreen) and chat.app.screen.is_mounted, "the list")
    await chat.until(lambda: "Conversations ·" in chat.screen_text(), "its rows")
    return titles(chat)


def titles(chat: Sitting) -> list[str]:
    screen = chat.app.screen
    assert isinstance(screen, TalksScreen)
    rows = [found for _, found in screen.list.window.view]
    return [(found.listed if isinstance(found, Hit) else found).title for found in rows if found is not None]


async def back(chat: Sitting) -> None:
    await chat.until(lambda: chat.app.screen is chat.app.chat, "the chat")


def prompts(chat: Sitting) -> list[str]:
    return [item.prompt for item in chat.app.session.conversation]
