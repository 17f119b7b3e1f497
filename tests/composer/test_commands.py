"""The table of commands and what counts as one."""

from __future__ import annotations

import pytest

from spark_chat.tui import commands
from spark_chat.tui.commands import COMMANDS, Given, Unknown, completions, find, parse


def test_no_name_key_or_action_stands_twice():
    names = [name for command in COMMANDS for name in (command.name, *command.aliases)]
    keys = [key for command in COMMANDS for key in command.keys]
    actions = [command.action for command in COMMANDS]
    assert len(names) == len(set(names))
    assert len(keys) == len(set(keys))
    assert len(actions) == len(set(actions))
    assert all(command.help.endswith(".") for command in COMMANDS)


@pytest.mark.parametrize(
    ("text", "name", "argument"),
    [
        ("/help", "help", ""),
        ("/HELP  ", "help", ""),
        ("/copy all", "copy", "all"),
        ("/theme   spark light ", "theme", "spark light"),
        ("/clear-queue", "clear-queue", ""),
        ("/exit", "quit", ""),
        ("/bye", "quit", ""),
        ("/quit", "quit", ""),
        ("exit", "quit", ""),
        ("quit", "quit", ""),
        ("exit\n", "quit", ""),
    ],
)
def test_a_command_is_known_by_its_names(text, name, argument):
    assert parse(text) == Given(find(name), argument)


@pytest.mark.parametrize(
    "text",
    [
        "hello", "//help", "/etc/hosts", "/etc/hosts is what?", "/", "/ help", " /help", "exit now", "Exit", "bye",
        "/help\nme", "say exit", "/usr/bin", "quit.", "/1", "",
    ],
)  # fmt: skip
def test_text_is_text(text):
    assert parse(text) is None


def test_an_unknown_command_is_answered_with_the_nearest():
    meant = parse("/hlep me")
    assert isinstance(meant, Unknown)
    assert "/hlep" in meant.sentence and "/help" in meant.sentence and "put a space before" in meant.sentence
    far = parse("/zzzzzz")
    assert isinstance(far, Unknown) and "/help lists them" in far.sentence


def test_completion_offers_what_may_follow():
    assert [command.name for command in completions("/")] == [command.name for command in COMMANDS]
    assert [command.name for command in completions("/th")] == ["think", "theme"]
    assert [command.name for command in completions("/exi")] == ["quit"]
    assert completions("/think on") == completions("hello") == completions("/etc/h") == completions("") == []


def test_every_command_parses_as_itself():
    for command in commands.COMMANDS:
        for name in (command.name, *command.aliases):
            assert parse(f"/{name}") == Given(command)
