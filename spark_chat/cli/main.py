"""The command line: `spark-chat` opens the chat; its subcommands are the headless twins."""

from __future__ import annotations

import gc
import os
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

import click

from spark_chat import __version__
from spark_chat.cli.completing import themes
from spark_chat.cli.lazy import BadInput, LazyGroup
from spark_chat.cli.options import Overrides, config_option, engine_option, model_option, set_option

if TYPE_CHECKING:
    from spark_chat.settings.resolve import Resolved

COMMANDS = {
    "check": ("spark_chat.cli.check:command", "Answer one prompt without the screen, with its numbers."),
    "bench": ("spark_chat.cli.bench:command", "Measure prompts under several settings, and compare."),
    "doctor": ("spark_chat.cli.doctor:command", "Say what this machine has and lacks, and what to do."),
    "pull": ("spark_chat.cli.pull:command", "Fetch a model, or go on fetching it; or register one that is here."),
    "models": ("spark_chat.cli.models:command", "List, show and remove the models on this machine."),
    "prepare": ("spark_chat.cli.prepare:command", "Compile the kernels that the settings need, with no model loaded."),
    "stop": ("spark_chat.cli.stop:command", "End the engine that stays after a chat, and free its memory."),
    "history": ("spark_chat.cli.history:command", "List, show, search, export and import conversations."),
    "logs": ("spark_chat.cli.logs:command", "Print what the engine and the app wrote down."),
    "settings": ("spark_chat.cli.settings:command", "Show, change and check the settings."),
    "help": ("spark_chat.cli.help:command", "Print the help on keys, commands, numbers and more: `help` lists it."),
    "completion": ("spark_chat.cli.completion:command", "Print what makes bash, zsh or fish complete spark-chat."),
}
"""Imported only when called, so that the chat alone starts fast."""


@click.group(
    cls=LazyGroup, lazy=COMMANDS, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]}
)
@config_option
@set_option
@model_option
@engine_option
@click.option("--theme", metavar="NAME", shell_complete=themes, help="The theme for this run.")
@click.option("--no-history", is_flag=True, help="Keep nothing of this chat on disk.")
@click.option("--plain", is_flag=True, help="Line by line, without a screen: for pipes and screen readers.")
@click.option("--whole", is_flag=True, help="With --plain: all of standard input is one prompt.")
@click.version_option(__version__, "-V", "--version", prog_name="spark-chat")
@click.pass_context
def main(
    context: click.Context,
    config: str | None,
    sets: tuple[str, ...],
    model: str | None,
    engine: str | None,
    theme: str | None,
    no_history: bool,
    plain: bool,
    whole: bool,
) -> object:
    """Chat with a model on this machine, with true numbers."""
    overrides = context.ensure_object(Overrides)
    overrides.take(config, sets, model=model, engine=engine, theme=theme, no_history="yes" if no_history else None)
    if whole and not plain:
        raise click.UsageError("--whole says how --plain reads its input. Give --plain too.")
    if context.invoked_subcommand is not None:
        if plain:
            raise click.UsageError(f"--plain is for the chat, and {context.invoked_subcommand} is no chat.")
        return None
    resolved = overrides.resolved()
    if overrides.config is None or (resolved.file is not None and resolved.file.exists):
        resolved = with_file(resolved)  # a file that --config names and that is not there may be a slip of the pen
    if plain:
        code_of_plain: object = import_module("spark_chat.plain.chat").run(resolved, whole)
        return code_of_plain
    from spark_chat.tui.environment import refusal
    from spark_chat.tui.pace import draw_soon

    why_not = refusal()
    if why_not is not None:
        raise BadInput(why_not)
    draw_soon(os.environ)
    gc.disable()  # a start makes no garbage worth a search: a tenth of its time; on again once the screen is drawn
    code: object = import_module("spark_chat.tui.app").run(resolved)
    return code


def with_file(resolved: Resolved) -> Resolved:
    """The same, with the commented settings file made where this is the first start, and an old one brought forward."""
    if resolved.path is None or resolved.file is None:
        return resolved
    if resolved.file.exists:
        return _forward(resolved)
    from spark_chat.settings.template import ensure

    problem = ensure(resolved.path)
    if problem is None:
        return resolved.again()
    return replace(resolved, problems=(*resolved.problems, problem))


def _forward(resolved: Resolved) -> Resolved:
    """The same, with a file of an older schema brought to this one's."""
    from spark_chat.settings import migrate

    assert resolved.path is not None and resolved.file is not None
    if migrate.current() == 1 or resolved.file.problems:
        return resolved
    from spark_chat.settings.upgrade import forward

    problem = forward(resolved.path)
    return resolved.again() if problem is None else replace(resolved, problems=(*resolved.problems, problem))
