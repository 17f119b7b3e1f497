"""`spark-chat completion SHELL`: the lines that make a shell complete commands, options, settings' keys and names."""

from __future__ import annotations

from typing import Any

import click

from spark_chat.cli.options import write

SHELLS = ("bash", "zsh", "fish")
PROGRAM = "spark-chat"
VARIABLE = "_SPARK_CHAT_COMPLETE"


@click.command("completion", short_help="Print what makes bash, zsh or fish complete spark-chat.")
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the completion script for SHELL. The .deb brings all three; otherwise:

    \b
    bash   spark-chat completion bash > ~/.local/share/bash-completion/completions/spark-chat
    zsh    spark-chat completion zsh > "${fpath[1]}/_spark-chat"
    fish   spark-chat completion fish > ~/.config/fish/completions/spark-chat.fish
    """
    write(script(shell).rstrip("\n"))


def script(shell: str) -> str:
    """click's own for that shell; it asks the program, so it never falls behind the commands."""
    from click.shell_completion import get_completion_class

    from spark_chat.cli.main import main

    found = get_completion_class(shell)
    assert found is not None
    return str(_Unprobed.of(found)(main, {}, PROGRAM, VARIABLE).source())


class _Unprobed:
    """Without the look at the installed bash's version: the script may be for another machine."""

    @staticmethod
    def of(kind: type[Any]) -> type[Any]:
        return type(kind.__name__, (kind,), {"_check_version": staticmethod(lambda: None)})
