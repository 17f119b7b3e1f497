"""Groups of commands: a name that is none is answered with what was probably meant, and the help says of each command,
in whole, what it does."""

from __future__ import annotations

from collections.abc import Sequence

import click

from spark_chat.settings.problem import printable

LONGEST = 10_000
"""Characters of a command's sentence; click would cut it to what fits in a line."""


class Suggesting(click.Group):
    """Every group of ours is one."""

    def meant(self, ctx: click.Context, name: str, rest: Sequence[str]) -> str:
        """A sentence for what `name`, which is no command, and the words behind it may have been meant to be."""
        from difflib import get_close_matches

        known = self.list_commands(ctx)
        near = get_close_matches(name.lower(), known, n=1, cutoff=0.5)
        return f"Did you mean {near[0]}?" if near else f"There are {', '.join(known)}."

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = printable(args[0])[:80]
        if name not in self.list_commands(ctx) and not name.startswith("-"):
            hint = self.meant(ctx, name, [printable(word)[:80] for word in args[1:]])
            raise click.UsageError(f"There is no command {name}. {hint}", ctx)
        return super().resolve_command(ctx, args)


class Group(Suggesting):
    """What does not fit beside a command's name goes on below."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        named = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, found.get_short_help_str(LONGEST)) for name, found in named if found])
