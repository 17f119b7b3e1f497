"""The options that change settings for one run, before a subcommand or after it, and what they come to."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import click

from spark_chat.cli.completing import assignments, engines, models

if TYPE_CHECKING:
    from spark_chat.settings.resolve import Resolved

P = ParamSpec("P")
R = TypeVar("R")


@dataclass
class Overrides:
    """What the command line says so far; click's context object. Nothing is read until `resolved()`."""

    config: str | None = None
    sets: list[str] = field(default_factory=list)
    flags: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Flag -> setting's key and the text given."""

    def take(self, config: str | None, sets: tuple[str, ...], **flags: str | None) -> None:
        """Options of one level; those of a later level win."""
        self.config = config if config is not None else self.config
        self.sets += sets
        for name, text in flags.items():
            if text is not None:
                flag, key, fixed = FLAGS[name]
                self.flags[flag] = (key, fixed or text)

    def path(self) -> Path | None:
        """The file that --config names; None where there was none."""
        from spark_chat.locations import at_home

        if self.config == "":
            raise click.UsageError("--config is empty; it takes the path of a settings file.")
        return at_home(self.config) if self.config is not None else None

    def resolved(self) -> Resolved:
        """The settings in force. Raises click.UsageError where the command line itself is wrong."""
        from spark_chat.settings.resolve import Flag, resolve

        flags = [Flag(name, key, text) for name, (key, text) in self.flags.items()]
        path = self.path()
        found = resolve(self.sets, path=path, flags=flags)
        if path is not None and found.file is not None and not found.file.exists and not found.file.problems:
            from spark_chat.settings.problem import Problem

            missing = Problem("there is no such file", file=path, instead="defaults are used")
            found = replace(found, problems=(*found.problems, missing))
        wrong = [problem for problem in found.problems if problem.layer == "command line"]
        if wrong:
            raise click.UsageError("\n".join(str(problem) for problem in wrong))
        return found


FLAGS: dict[str, tuple[str, str, str]] = {
    "model": ("--model", "engine.model", ""),
    "engine": ("--engine", "engine.kind", ""),
    "theme": ("--theme", "ui.theme", ""),
    "no_history": ("--no-history", "ui.history", "false"),
}
"""Parameter -> flag, the setting it stands for, and its text where the flag takes none."""

config_option = click.option("--config", metavar="PATH", help="The settings file to use.")
set_option = click.option(
    "--set", "sets", multiple=True, metavar="KEY=VALUE", shell_complete=assignments,
    help="Override one setting, as often as needed: --set optimizations.mtp=off",
)  # fmt: skip
model_option = click.option(
    "--model",
    metavar="PATH|NAME",
    shell_complete=models,
    help="A .gguf file, a checkpoint's folder, or a model's name.",
)
engine_option = click.option(
    "--engine", metavar="KIND", shell_complete=engines, help="The engine: auto, llama.cpp or sglang."
)


def overridable(function: Callable[Concatenate[Resolved, P], R]) -> Callable[P, R]:
    """Gives a subcommand --config, --set, --model and --engine, and passes it the Resolved first."""

    @config_option
    @set_option
    @model_option
    @engine_option
    @click.pass_context
    @functools.wraps(function)
    def command(context: click.Context, *args: Any, **options: Any) -> R:
        overrides = context.ensure_object(Overrides)
        overrides.take(
            options.pop("config"), options.pop("sets"), model=options.pop("model"), engine=options.pop("engine")
        )
        return function(overrides.resolved(), *args, **options)

    return command


def narrate(text: str) -> None:
    """A line for the person, on stderr: stdout is data. Names of files and models in it drive no terminal."""
    from spark_chat.settings.problem import printable

    click.echo(printable(text), err=True)


def narrate_problems(resolved: Resolved) -> None:
    """Say everything that was passed over."""
    for problem in resolved.problems:
        narrate(str(problem))


def write(text: str) -> None:
    """A line of data on stdout, in UTF-8 whatever the locale; bytes of file names that are no text come out as they
    came in, and control characters too, but not to a terminal, which would obey them."""
    if sys.stdout is not None and sys.stdout.isatty():
        from spark_chat.settings.problem import printable

        text = printable(text)
    click.echo(text.encode("utf-8", "surrogateescape"))


def write_answer(text: str) -> None:
    """A model's text on stdout: as it came, but made harmless where a terminal would obey it."""
    if sys.stdout is not None and sys.stdout.isatty():
        from spark_chat.text.clean import clean

        text = clean(text)
    click.echo(text.encode("utf-8", "replace"))
