"""The command line: `spark-chat` opens the chat; its subcommands are the headless twins."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

import click

from spark_chat import __version__
from spark_chat.cli.lazy import LazyGroup
from spark_chat.cli.options import Overrides, config_option, engine_option, model_option, set_option

if TYPE_CHECKING:
    from spark_chat.settings.resolve import Resolved

COMMANDS = {
    "check": ("spark_chat.cli.check:command", "Answer one prompt without the screen; numbers and proofs as JSON."),
    "doctor": ("spark_chat.cli.doctor:command", "Say what this machine has and lacks, and what to do."),
    "pull": ("spark_chat.cli.pull:command", "Fetch a model, or go on fetching it; or register one that is here."),
    "models": ("spark_chat.cli.models:command", "List, show and remove the models on this machine."),
    "settings": ("spark_chat.cli.settings:command", "Show, change and check the settings."),
}
"""Imported only when called, so that the chat alone starts fast."""


@click.group(
    cls=LazyGroup, lazy=COMMANDS, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]}
)
@config_option
@set_option
@model_option
@engine_option
@click.option("--theme", metavar="NAME", help="The theme for this run.")
@click.option("--no-history", is_flag=True, help="Keep nothing of this chat on disk.")
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
) -> object:
    """Chat with a model on this machine, with true numbers."""
    overrides = context.ensure_object(Overrides)
    overrides.take(config, sets, model=model, engine=engine, theme=theme, no_history="yes" if no_history else None)
    if context.invoked_subcommand is not None:
        return None
    resolved = with_file(overrides.resolved())
    code: object = import_module("spark_chat.tui.app").run(resolved)
    return code


def with_file(resolved: Resolved) -> Resolved:
    """The same, with the commented settings file made where this is the first start."""
    if resolved.path is None or resolved.file is None or resolved.file.exists:
        return resolved
    from spark_chat.settings.template import ensure

    problem = ensure(resolved.path)
    if problem is None:
        return resolved.again()
    return replace(resolved, problems=(*resolved.problems, problem))
