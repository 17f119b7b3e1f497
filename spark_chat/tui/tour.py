"""The tour: four short steps above the composer, one after the other. Nothing waits for it, and typing goes on."""

from __future__ import annotations

from spark_chat.tui import keymap
from spark_chat.tui.notices import DISMISS, GO_ON
from spark_chat.tui.widgets.notice import Notice

STEPS = 4


def step(number: int) -> Notice:
    """The step of that number, from 1, with the person's own keys."""
    key = keymap.key
    titles_and_texts = (
        (
            "Write below; enter sends.",
            "shift+enter or ctrl+j makes a new line, up brings earlier prompts back, esc stops an answer. "
            "A paste never sends.",
        ),
        (
            "The numbers are the engine's own, and so are the badges.",
            "The line under this shows them live; each answer keeps its own. tab goes to the badges: enter "
            "on one shows what was proven.",
        ),
        (
            f"{key('palette')} has every command; so has / at the start of a line.",
            f"@ attaches a file, /prompt brings a saved prompt, {key('editor')} opens your editor.",
        ),
        (
            f"{key('settings')} has the settings, {key('help')} everything else.",
            "Conversations are kept on this machine. ctrl+q leaves; /tour shows this again.",
        ),
    )
    title, text = titles_and_texts[number - 1]
    last = number == STEPS
    keys = ((GO_ON, "done"),) if last else ((GO_ON, "next"), (DISMISS, "end the tour"))
    return Notice("tour", f"{number} of {STEPS}: {title}", (text,), keys, accept="tour")
