"""`spark-chat help`: what the chat's own help says, on the command line; and the help of each command."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator

import click
from click.shell_completion import CompletionItem

from spark_chat.cli.lazy import BadInput
from spark_chat.cli.options import write

TOPICS = ("keys", "commands", "messages", "conversations", "badges", "numbers", "settings", "plain")
WIDTH, NARROW = 100, 70
"""Cells of a line at most; below so many, a name stands on a line of its own."""
PLAIN = """\
A line of standard input is a prompt. Three things make one prompt of several lines: a backslash at the end of a line \
(two are text), a Markdown fence (``` or ~~~) up to the one that closes it, and a line of three double quotes before \
and after. --whole takes all of the input as one prompt.

Standard output gets the answers, an empty line between two; standard error gets all else: the start, the badges, the \
numbers of each answer once it is over. No control character is ever written.

Commands of the chat work where they make sense without a screen; /help lists them. @ and the path of a text file, \
after a space or at the start of a line, has its text go along with a prompt; so does /attach. /message lists what was \
said, for /edit, /again, /more, /fork and /copy. /prompt asks for the places of a saved prompt, a line for each. \
ctrl+c leaves what is begun, or stops an answer; twice, when nothing runs, it leaves. A pipe is read no faster than it \
is answered, and its end ends the chat.

Exit code: 0 fine, 1 a prompt got no answer, 2 bad input, 130 ctrl+c."""


@click.command("help", short_help="Print the help on keys, commands, numbers and more: `help` lists it.")
@click.argument("topic", required=False, shell_complete=lambda context, parameter, typed: _topics(context, typed))
@click.pass_context
def command(context: click.Context, topic: str | None) -> None:
    """Print the help on TOPIC: keys, commands (in the chat), messages, conversations, badges, numbers, settings,
    plain, or one of the commands of spark-chat."""
    above = context.parent
    assert above is not None and isinstance(above.command, click.Group)
    if topic is None:
        write(above.get_help())
        write(f"\nTopics of `spark-chat help`: {', '.join(TOPICS)}.")
        return
    if topic in TOPICS:
        for line in _lines(topic):
            write(line)
        return
    found = above.command.get_command(above, topic)
    if found is None:
        from difflib import get_close_matches

        near = get_close_matches(topic, [*TOPICS, *above.command.list_commands(above)], 1)
        hint = f"Did you mean {near[0]}?" if near else f"There are {', '.join(TOPICS)}, and the commands."
        raise BadInput(f"There is no help on {topic[:40]}. {hint}")
    with click.Context(found, info_name=topic, parent=above) as inner:
        write(found.get_help(inner))


def _topics(context: click.Context, typed: str) -> list[CompletionItem]:
    group = context.parent.command if context.parent else None
    names = [*TOPICS, *(group.list_commands(context) if isinstance(group, click.Group) else ())]
    return [CompletionItem(name) for name in names if name.startswith(typed)]


def _lines(topic: str) -> Iterator[str]:
    """As wide as the terminal, where there is one, and no wider than `WIDTH`."""
    width = max(20, min(WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns))
    if topic == "plain":
        for paragraph in PLAIN.split("\n\n"):
            yield from (*textwrap.wrap(paragraph, width), "")
        return
    rows = settings_rows() if topic == "settings" else _of_the_chat(topic)
    for name, text in rows:
        if width < NARROW:
            yield from (*textwrap.wrap(name, width), *_indented(text, width, 2))
        elif len(name) > 34:
            yield from (name, *_indented(text, width, 36))
        else:
            yield from textwrap.wrap(f"{name:<34}  {text}", width, subsequent_indent=" " * 36)


def _indented(text: str, width: int, by: int) -> list[str]:
    return textwrap.wrap(text, width, initial_indent=" " * by, subsequent_indent=" " * by)


def _of_the_chat(topic: str) -> list[tuple[str, str]]:
    from spark_chat.tui.screens.help import help_rows

    return next(rows for title, rows in help_rows() if title.lower().startswith(topic))


def settings_rows() -> list[tuple[str, str]]:
    """Each setting, and what it means: its range, its default."""
    from spark_chat.settings.schema import rows
    from spark_chat.settings.values import allowed, literal

    found = []
    for row in rows():
        facts = [] if row.kind in ("str", "table") else [allowed(row)]
        facts.append("left out by default" if row.default is None else f"default {literal(row.default)}")
        facts += ["takes effect at restart"] if row.restart else []
        found.append((row.key, f"{row.doc} ({'; '.join(facts)})"))
    return found
