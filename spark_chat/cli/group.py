"""A group of commands whose help says of each, in whole, what it does."""

from __future__ import annotations

import click

LONGEST = 10_000
"""Characters of a command's sentence; click would cut it to what fits in a line."""


class Group(click.Group):
    """What does not fit beside a command's name goes on below."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        named = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, found.get_short_help_str(LONGEST)) for name, found in named if found])
