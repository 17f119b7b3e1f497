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
from spark_chat.tui import commands, keymap, message_keys
from spark_chat.tui.talks import keys as talk_keys

KEYS = (
    ("enter", "send what is written"),
    ("shift+enter, ctrl+j, alt+enter", "a new line"),
    ("up, down", "earlier and later prompts, from the first and the last line; what was being written is kept"),
    ("esc", "stop the answer; else close what stands open"),
    ("ctrl+c", "copy what is selected; else stop the answer; else, twice, quit; nothing written is cleared"),
    ("ctrl+d", "quit, where nothing is written"),
    ("ctrl+z, ctrl+y", "undo and redo what was written; ctrl+z suspends nothing"),
    ("tab, shift+tab", "to the badges and back; enter opens one"),
    ("alt+o", "open a pasted text that shows as a chip; up, down, pgup, pgdn scroll it, esc closes it"),
)
"""Keys of widgets, which are no commands."""

STATES = {
    State.ACTIVE: "the engine was seen using it",
    State.OFF: "not asked for",
    State.UNAVAILABLE: "cannot run here; the badge says why",
    State.FAILED: "asked for, and not at work; the badge says why",
    State.STARTING: "the engine is coming up; or drafting is set up, and no draft was counted yet",
    State.WAITING: "no engine was started; the badge says why",
}


SCROLLING = ("page_up", "page_down", "up", "down")

MARKS = [
    ("!", "on a badge: a warning, enter says which; in the settings: a variable or flag stands over what is saved"),
    ("! not kept", "in the header: what is said here is not written to disk, which is full, read-only or in the way"),
    ("•", "in the settings: not the default"),
    ("… queued", "a prompt that waits for its turn, or for the engine"),
    ("■", "stopped, or taken back before it was sent"),
    ("▸ ▾", "folded, open: click it, or {fold} for the last reasoning, else the last long prompt"),
    ("‹ 2/3 ›", "the second of three versions: choose the message, then left and right step between them"),
]


def help_rows() -> list[tuple[str, list[tuple[str, str]]]]:
    """(title, rows of name and text) of each part, in order."""
    listed = []
    for command in commands.COMMANDS:
        keys = _keys(*keymap.keys_of(command.name, command.keys))
        aliases = "".join(f" /{alias}" for alias in command.aliases)
        listed.append((f"{command.usage}  {keys}".strip(), command.help + (f"  Also:{aliases}" if aliases else "")))
    states = [(f"{state.mark} {state.value}", text) for state, text in STATES.items()]
    states += [(mark, text.format(fold=keymap.key("fold"))) for mark, text in MARKS]
    states.append(("→ pending", "what is saved differs from what runs; it takes effect at restart"))
    numbers = [(item.name + (f", {item.unit}" if item.unit else ""), item.text) for item in DEFINITIONS]
    return [
        ("Keys", [*KEYS, *_moved()]),
        ("Commands", listed),
        ("Messages: with one chosen", message_keys.help_rows()),
        ("Conversations: in their list", talk_keys.help_rows()),
        ("Badges and marks", states),
        ("Numbers", numbers),
    ]


def _keys(*keys: str) -> str:
    return ", ".join(format_key(key) for key in keys)


def _moved() -> list[tuple[str, str]]:
    """Keys of actions that are no commands, as the person has them."""
    scrolling = _keys(*(key for name in SCROLLING for key in keymap.keys_of(f"scroll_{name}")))
    newest = _keys(*keymap.keys_of("scroll_newest"), *keymap.keys_of("scroll_end"))
    found = [
        (_keys(*keymap.keys_of("palette")), "all commands, to search"),
        (scrolling, "scroll the conversation from the prompt"),
        (_keys(*keymap.keys_of("scroll_start")), "to the start of the conversation"),
        (newest, "to the newest"),
    ]
    return [row for row in found if row[0]]


def help_text(width: int) -> Content:
    """All of it in `width` cells: names in a column where there is room."""
    narrow = width < 70
    column = 2 if narrow else 34
    lines = [Content.assemble(("Help", "bold"), ("   esc closes, arrows and pages scroll", "$text-muted"))]
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
