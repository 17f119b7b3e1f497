"""The one table of commands: slash commands, the palette and the help screen are all made from it.

`parse` says what a line is: a command, a word that means to leave, an unknown command, or plain text (None).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Command:
    """`action`: name of the method `action_<action>` that does it; it is given the argument where `argument` (what
    stands for it in the help, in brackets where it may be left out) is not empty. `keys`: as Textual names them."""

    name: str
    help: str
    action: str
    keys: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    argument: str = ""
    body: bool = False
    """Whether the lines below it belong to it: they follow the argument, after a newline."""

    @property
    def usage(self) -> str:
        return f"/{self.name} {self.argument}".rstrip()


COMMANDS: tuple[Command, ...] = (
    Command("help", "Every key, every command, and what the numbers mean.", "help", ("f1",), ("?", "keys")),
    Command("new", "Start a new conversation; the old one is kept.", "new", ("ctrl+n",), ("clear", "reset")),
    Command(
        "resume",
        "All conversations: search what was said in them, open, name, pin or delete one.",
        "resume",
        ("f3",),
        ("list", "conversations"),
        argument="[words]",
    ),
    Command("title", "Name this conversation; without a name, as its first prompt says.", "title", argument="[name]"),
    Command("message", "Choose a message, to copy, edit or ask it again, and more.", "message", ("alt+up",)),
    Command(
        "edit",
        "Edit the last prompt, or the chosen one, or ask this text there; the old one stays as a version.",
        "edit",
        argument="[text]",
        body=True,
    ),
    Command("again", "Ask the last prompt again; the old answer stays as a version.", "again", (), ("regenerate",)),
    Command("more", "Have the last answer go on where it was cut off.", "more", (), ("continue",)),
    Command("fork", "A conversation of its own that goes on from here; this one stays.", "fork"),
    Command("settings", "Open the settings.", "settings", ("f2",), ("set", "config")),
    Command("restart", "Restart the engine, with what was changed; the conversation stays.", "restart", ("f5",)),
    Command("go", "Do what the panel above the prompt offers.", "go_on", ("ctrl+g",)),
    Command("fold", "Open the model's reasoning or a long prompt, or fold it.", "fold", ("ctrl+t",)),
    Command("copy", "Copy the last answer, or: all, code.", "copy", ("ctrl+o",), argument="[all|code]"),
    Command(
        "export",
        "Write the conversation to a file that reads well (md) or has everything (json).",
        "export",
        argument="[md|json] [path]",
    ),
    Command("stop", "Stop the answer; what came so far is kept.", "stop", ("escape",), ("abort",)),
    Command("clear-queue", "Drop the prompts that wait; they can be recalled with the up key.", "clear_queue"),
    Command(
        "think",
        "Let the model reason before it answers, in this conversation, or not.",
        "think",
        argument="[on|off|auto]",
    ),
    Command("prompt", "Put a saved prompt here; tab goes through its places.", "prompt", argument="[name]"),
    Command("system", "What is said to the model before this conversation.", "system", argument="[name|none|auto]"),
    Command("save-prompt", "Save the lines below it, or the last prompt.", "save_prompt", argument="[name]", body=True),
    Command("editor", "Write in your own editor ($VISUAL or $EDITOR); the text comes back.", "editor", ("f4",)),
    Command("attach", "Attach a text file; so does @ and a part of its name.", "attach", argument="[path]"),
    Command(
        "check",
        "Run a prompt several times and see what it costs; it stays out of the conversation.",
        "check",
        ("f6",),
        ("bench",),
        argument="[prompt]",
        body=True,
    ),
    Command("compare", "The same prompts under several settings, side by side.", "compare", ("f7",)),
    Command("chart", "tok/s and accept length over the answer, or not.", "chart", ("f8",)),
    Command("panel", "All meters and the chart at the side, or not.", "panel", ("f12",)),
    Command("log", "The engine's log, or the app's, with a filter.", "log", ("f9",), ("logs",), argument="[words]"),
    Command("theme", "Switch to a theme; without a name, pick one.", "theme", argument="[name]"),
    Command("setup", "What fits this machine; fetch that model and build its kernels, beside the chat.", "setup"),
    Command("tour", "Four short steps through the chat.", "tour"),
    Command("quit", "Leave. What was written and received is kept.", "quit", ("ctrl+q",), ("exit", "bye", "q")),
)

LEAVING = frozenset({"exit", "quit"})
"""Typed alone, without a slash, these mean to leave."""

_SHAPE = re.compile(r"/([A-Za-z?][\w-]*)(?:[ \t]+(.*))?")


@dataclass(frozen=True)
class Given:
    """A command as it was typed."""

    command: Command
    argument: str = ""


@dataclass(frozen=True)
class Unknown:
    """Looks like a command and is none."""

    name: str

    @property
    def sentence(self) -> str:
        close = nearest(self.name)
        hint = f" Did you mean /{close}?" if close else " /help lists them."
        return f"There is no command /{self.name}.{hint} To send it as text, put a space before it."


def find(name: str) -> Command | None:
    """By name or alias, whatever the case."""
    wanted = name.lower()
    return next((command for command in COMMANDS if wanted == command.name or wanted in command.aliases), None)


def nearest(name: str) -> str | None:
    from difflib import get_close_matches

    found = get_close_matches(name.lower(), list(_names()), n=1)
    return found[0] if found else None


def parse(text: str) -> Given | Unknown | None:
    """What `text` is as a whole. A path (/etc/hosts), //text, several lines, or a leading space: text, hence None."""
    line = text.rstrip()
    if line in LEAVING and (leave := find(line)):
        return Given(leave)
    shape = _SHAPE.fullmatch(line)
    if shape is None:
        first, _, body = text.partition("\n")
        shape = _SHAPE.fullmatch(first.rstrip())
        command = find(shape[1]) if shape else None
        if shape is None or command is None or not command.body:
            return None
        return Given(command, f"{(shape[2] or '').strip()}\n{body}")
    command = find(shape[1])
    return Given(command, (shape[2] or "").strip()) if command else Unknown(shape[1])


def completions(text: str) -> list[Command]:
    """The commands that what is typed so far may become, in the table's order; none once an argument is begun."""
    if not re.fullmatch(r"/[\w-]*", text):
        return []
    start = text[1:].lower()
    by_name = [command for command in COMMANDS if command.name.startswith(start)]
    by_alias = [command for command in COMMANDS if any(alias.startswith(start) for alias in command.aliases)]
    return by_name + [command for command in by_alias if command not in by_name]


def _names() -> Iterator[str]:
    for command in COMMANDS:
        yield command.name
        yield from command.aliases
