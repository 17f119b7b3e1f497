"""The man page, made from what the app itself runs on: click's commands for the shell, the chat's table of commands,
its keys, badges and numbers as its help has them, and the settings' schema. `python packaging/deb/manpage.py` prints
it."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the app of this checkout

from spark_chat import __version__

PLAIN_SIGNS = {"●": r"\[bu]", "✗": "x", "…": "...", "■": "#", "▸": ">", "▾": "v"}
"""Marks of the screen that a terminal without Unicode has no sign for."""


def page() -> str:
    """In man's own language."""
    from spark_chat.cli.main import main

    context = click.Context(main, info_name="spark-chat")
    lines = [
        f'.TH SPARK-CHAT 1 "" "spark-chat {__version__}" "User Commands"',
        ".SH NAME",
        r"spark\-chat \- chat with a model on this machine, with true numbers",
        ".SH SYNOPSIS",
        r".B spark\-chat",
        _text("[OPTIONS] [COMMAND]"),
        ".SH DESCRIPTION",
        _text("A terminal chat for one person at one machine. It drives an engine on this machine and shows, live, "
              "tokens per second, accept length, and which optimizations were seen at work. Without a command it opens "
              "the chat."),
        ".SH OPTIONS",
        *_options(main, context),
        ".SH COMMANDS",
    ]  # fmt: skip
    for name in main.list_commands(context):
        command = main.get_command(context, name)
        assert command is not None
        lines += _command(command, name, context)
    lines += [*_of_the_chat(), *_plain(), ".SH SETTINGS", *_settings()]
    lines += [".SH FILES", *_files(), ".SH ENVIRONMENT", *_variables()]
    lines += [".SH EXIT STATUS", _text("0 fine; 1 something failed; 2 bad input; 130 ctrl+c.")]
    return "\n".join(lines) + "\n"


def _command(command: click.Command, path: str, above: click.Context) -> Iterator[str]:
    context = click.Context(command, info_name=path.rpartition(" ")[2], parent=above)
    arguments = " ".join(str(part) for part in command.collect_usage_pieces(context) if part != "[OPTIONS]")
    yield f".SS {_text(f'{path} {arguments}'.strip())}"
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        if paragraph.startswith("\b"):
            yield from (".nf", *(_text(line) for line in paragraph.split("\n")[1:]), ".fi")
        else:
            yield from (_text(" ".join(paragraph.split())), ".PP")
    yield from _options(command, context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from _command(inner, f"{path} {name}", context)


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context) if isinstance(parameter, click.Option) else None
        if record is not None and "--help" not in record[0]:
            yield from (".TP", f".B {_text(record[0])}", _text(" ".join(record[1].split())))


def _of_the_chat() -> Iterator[str]:
    """The parts of the chat's own help."""
    from spark_chat.tui.screens.help import help_rows

    titles = {"Keys": "KEYS", "Commands": "IN THE CHAT", "Badges and marks": "BADGES AND MARKS", "Numbers": "NUMBERS"}
    for title, rows in help_rows():
        yield f".SH {titles.get(title, title.upper())}"
        yield from _rows(rows)


def _plain() -> Iterator[str]:
    from spark_chat.cli.help import PLAIN

    yield ".SH PLAIN CHAT"
    for paragraph in PLAIN.split("\n\n"):
        yield from (_text(paragraph), ".PP")


def _settings() -> Iterator[str]:
    from spark_chat.cli.help import settings_rows

    yield _text("In settings.toml, by section; `spark-chat settings` shows and changes them.")
    yield from _rows(settings_rows())


def _rows(rows: list[tuple[str, str]]) -> Iterator[str]:
    for name, text in rows:
        yield from (".TP", f".B {_text(name)}", _text(text))


def _files() -> Iterator[str]:
    for path, text in (
        ("~/.config/spark-chat/settings.toml", "The settings, each with its meaning as a comment."),
        ("~/.local/share/spark-chat/history.sqlite3", "Conversations."),
        ("~/.local/state/spark-chat/logs/", "The engine's logs, one a start, and the app's."),
        ("~/.local/state/spark-chat/state.toml", "The last configuration that ran."),
        ("~/.cache/spark-chat/", "Models and compiled kernels: all of it can be fetched or built again."),
    ):
        yield from (".TP", f".I {_text(path)}", _text(text))


def _variables() -> Iterator[str]:
    for name, text in (
        ("SPARK_CHAT_CONFIG", "The settings file to use."),
        ("SPARK_CHAT__SECTION__KEY", "Overrides one setting: SPARK_CHAT__OPTIMIZATIONS__MTP=0."),
        ("HF_HOME, HF_ENDPOINT, HF_TOKEN", "Hugging Face's cache, a mirror, a token; used by pull."),
        ("NO_COLOR", "No colours: bold, dim and reverse alone."),
        (
            "TEXTUAL_COLOR_SYSTEM, TEXTUAL_FPS, TEXTUAL_ANIMATIONS, ...",
            "Textual's own; one that it would fall over is refused in a sentence.",
        ),
        ("VISUAL, EDITOR", "The editor that `spark-chat settings edit` opens."),
    ):
        yield from (".TP", f".B {_text(name)}", _text(text))


def _text(text: str) -> str:
    r"""As man's language has it: a leading dot or quote is no request, and a hyphen is one that can be copied."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    for sign, plain in PLAIN_SIGNS.items():
        escaped = escaped.replace(sign, plain)
    escaped = re.sub(r"[^\x20-\x7e]", lambda sign: rf"\[u{ord(sign[0]):04X}]", escaped)
    return r"\&" + escaped if escaped[:1] in (".", "'") else escaped


if __name__ == "__main__":
    sys.stdout.write(page())
