"""Every key, every command, and what each number means: made from the tables that the app itself runs on."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.keys import format_key
from textual.screen import Screen
from textual.widget import Widget

from spark_chat.meters.definitions import DEFINITIONS
from spark_chat.optimizations.optimization import State
from spark_chat.tui import commands

KEYS = (
    ("enter", "send what is written"),
    ("shift+enter, ctrl+j, alt+enter", "a new line"),
    ("up, down", "earlier and later prompts, from the first and the last line; what was being written is kept"),
    ("escape", "stop the answer; else close what stands open"),
    ("ctrl+c", "copy what is selected; else stop the answer; else, twice, quit; nothing written is cleared"),
    ("ctrl+d", "quit, where nothing is written"),
    ("ctrl+z, ctrl+y", "undo and redo what was written; ctrl+z suspends nothing"),
    ("ctrl+p", "all commands, to search"),
    ("tab, shift+tab", "to the badges and back; enter opens one"),
    ("pageup, pagedown, shift+up, shift+down", "scroll the conversation from the prompt"),
    ("end", "to the newest, from the conversation"),
    ("alt+o", "open a pasted text that shows as a chip; up, down, pageup, pagedown scroll it, escape closes it"),
)
"""Keys of widgets, which are no commands."""

STATES = {
    State.ACTIVE: "the engine was seen using it",
    State.OFF: "not asked for",
    State.UNAVAILABLE: "cannot run here; the badge says why",
    State.FAILED: "asked for, and not at work; the badge says why",
    State.STARTING: "the engine is coming up; or drafting is set up, and no draft was counted yet",
    State.WAITING: "no engine was started: there is no model yet",
}


MARKS = [
    ("!", "on a badge: a warning, enter says which; in the settings: a variable or flag stands over what is saved"),
    ("•", "in the settings: not the default"),
    ("… queued", "a prompt that waits for its turn, or for the engine"),
    ("■", "stopped, or taken back before it was sent"),
    ("▸ ▾", "folded, open: click it, or ctrl+t for the last reasoning"),
]


def help_rows() -> list[tuple[str, list[tuple[str, str]]]]:
    """(title, rows of name and text) of each part, in order."""
    listed = []
    for command in commands.COMMANDS:
        keys = ", ".join(format_key(key) for key in command.keys)
        aliases = "".join(f" /{alias}" for alias in command.aliases)
        listed.append((f"{command.usage}  {keys}".strip(), command.help + (f"  Also:{aliases}" if aliases else "")))
    states = [(f"{state.mark} {state.value}", text) for state, text in STATES.items()]
    states += MARKS
    states.append(("→ pending", "what is saved differs from what runs; it takes effect at restart"))
    numbers = [(item.name + (f", {item.unit}" if item.unit else ""), item.text) for item in DEFINITIONS]
    return [("Keys", list(KEYS)), ("Commands", listed), ("Badges and marks", states), ("Numbers", numbers)]


def help_text(width: int) -> Content:
    """All of it in `width` cells: names in a column where there is room."""
    narrow = width < 70
    column = 2 if narrow else 34
    lines = [Content.assemble(("Help", "bold"), ("   esc closes, arrows and pages scroll", "dim"))]
    for title, rows in help_rows():
        lines += [Content(""), Content.styled(title, "bold $text-primary")]
        for name, text in rows:
            if narrow or len(name) >= column:
                lines.append(Content.styled(name, "bold"))
                name = ""
            wrapped = Content(text).wrap(max(10, width - column))
            for number, line in enumerate(wrapped):
                lines.append(Content.assemble(((name if number == 0 else "").ljust(column), "bold"), line))
    return Content("\n").join(lines)


class HelpText(Widget):
    """The text, laid out for the width there is."""

    def render(self) -> Content:
        return help_text(self.container_size.width)


class HelpScreen(Screen[None]):
    """Over the chat; what is written there stays."""

    AUTO_FOCUS = "VerticalScroll"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,f1", "dismiss", "Back to the chat", id="help.back", show=False, priority=True)
    ]

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help"):
            yield HelpText()
