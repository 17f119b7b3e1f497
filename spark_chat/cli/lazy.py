"""A command group whose commands are imported when they are called, and which ends a run in sentences."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, NoReturn

import click

from spark_chat.cli.group import Suggesting
from spark_chat.locations import NoHome
from spark_chat.settings.problem import printable

FAILED = 1
BAD_INPUT = 2
INTERRUPTED = 130


class BadInput(click.ClickException):
    """Said as it is, without the usage: the command was understood."""

    exit_code = BAD_INPUT


class LazyGroup(Suggesting):
    """`lazy`: name -> ("module:attribute", one line of help).

    Exit codes: 0 fine, 1 something failed, 2 bad input, 130 ctrl+c. A command may return its code.
    """

    def __init__(self, *args: Any, lazy: Mapping[str, tuple[str, str]], **options: Any) -> None:
        super().__init__(*args, **options)
        self.lazy = lazy

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.lazy:
            return None
        module, _, name = self.lazy[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def meant(self, ctx: click.Context, name: str, rest: Sequence[str]) -> str:
        if name.lower().endswith(".gguf"):
            return f"To chat with a model file: {ctx.command_path} --model {name}"
        return super().meant(ctx, name, rest)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self.lazy.items()])

    def invoke(self, ctx: click.Context) -> Any:
        try:
            code = super().invoke(ctx)
            flush()
        except OSError as error:
            if error.errno != errno.EPIPE:
                raise
            _reader_left()
        return code

    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **options: Any
    ) -> Any:
        """Run, then leave by the exit code. With standalone_mode=False errors are raised to the caller instead."""
        alone = options.pop("standalone_mode", True)
        options["standalone_mode"] = False
        if not alone:
            return super().main(args, prog_name, **options)
        try:
            code = super().main(args, prog_name, **options)
        except click.ClickException as error:
            _said(error.show)
            sys.exit(error.exit_code)
        except NoHome as error:
            _said(click.ClickException(str(error)).show)
            sys.exit(BAD_INPUT)
        except (click.Abort, KeyboardInterrupt):
            sys.exit(INTERRUPTED)
        except OSError as error:  # none that a command expected; most often stdout on a full disk
            _out_of_use((sys.stdout,))
            about = f" ({printable(str(error.filename))})" if error.filename else ""
            _said(click.ClickException(f"It could not go on: {error.strerror or error}{about}. See that what it "
                                       "writes to has room and may be written to.").show)  # fmt: skip
            sys.exit(FAILED)
        _said(flush)
        sys.exit(code if isinstance(code, int) else 0)


def flush() -> None:
    """Write out what waits for stdout."""
    if sys.stdout is not None:  # it is where it was closed before the start
        sys.stdout.flush()


def _said(say: Callable[[], None]) -> None:
    try:
        say()
    except BrokenPipeError:
        _reader_left()


def _reader_left() -> NoReturn:
    """Whoever read our output has gone (`| head`): end quietly, as a program does that the signal ends."""
    _out_of_use((sys.stdout, sys.stderr))
    sys.exit(128 + 13)


def _out_of_use(streams: Sequence[Any]) -> None:
    """What still waits in `streams` goes nowhere: at the end of the process it would fail again, with a traceback."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in streams:
        try:
            os.dup2(nowhere, stream.fileno())
        except (OSError, ValueError, AttributeError):
            continue
