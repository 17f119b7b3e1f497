"""The command line: `spark-chat` opens the chat; its subcommands are the headless twins."""

from __future__ import annotations

import click

from spark_chat import __version__


@click.group(invoke_without_command=True)
@click.version_option(__version__, prog_name="spark-chat")
@click.pass_context
def main(context: click.Context) -> None:
    """Chat with a model on this machine, with true numbers."""
