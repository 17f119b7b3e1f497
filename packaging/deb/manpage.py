"""The man page, made from the commands themselves: click's for the shell, the chat's own table for what is typed
into it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import click

from spark_chat import __version__


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
    lines += [".SH IN THE CHAT", *_typed(), ".SH FILES", *_files(), ".SH ENVIRONMENT", *_variables()]
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


def _typed() -> Iterator[str]:
    from spark_chat.tui.commands import COMMANDS

    for command in COMMANDS:
        keys = f" ({', '.join(command.keys)})" if command.keys else ""
        yield from (".TP", f".B {_text(command.usage + keys)}", _text(command.help))


def _files() -> Iterator[str]:
    for path, text in (
        ("~/.config/spark-chat/settings.toml", "The settings, each with its meaning as a comment."),
        ("~/.local/share/spark-chat/history.sqlite3", "Conversations."),
        ("~/.local/state/spark-chat/", "Logs, and the last configuration that ran."),
        ("~/.cache/spark-chat/", "Models and compiled kernels: all of it can be fetched or built again."),
    ):
        yield from (".TP", f".I {_text(path)}", _text(text))


def _variables() -> Iterator[str]:
    for name, text in (
        ("SPARK_CHAT_CONFIG", "The settings file to use."),
        ("SPARK_CHAT__SECTION__KEY", "Overrides one setting: SPARK_CHAT__OPTIMIZATIONS__MTP=0."),
        ("HF_HOME, HF_ENDPOINT, HF_TOKEN", "Hugging Face's cache, a mirror, a token; used by pull."),
        ("NO_COLOR", "Greys only."),
    ):
        yield from (".TP", f".B {_text(name)}", _text(text))


def _text(text: str) -> str:
    r"""As man's language has it: a leading dot or quote is no request, and a hyphen is one that can be copied."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    escaped = re.sub(r"[^\x20-\x7e]", lambda sign: rf"\[u{ord(sign[0]):04X}]", escaped)
    return r"\&" + escaped if escaped[:1] in (".", "'") else escaped
