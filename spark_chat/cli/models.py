"""`spark-chat models`: what is on this machine, what is known of it, and taking it away."""

from __future__ import annotations

import json
from typing import Any

import click

from spark_chat.cli.completing import names
from spark_chat.cli.group import Group
from spark_chat.cli.options import narrate, write


@click.group("models", cls=Group)
def command() -> None:
    """List, show and remove the models on this machine."""


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="All of it as JSON.")
def list_(as_json: bool) -> None:
    """Print each model that can be named, its size, and where it is kept."""
    from spark_chat.meters.units import size
    from spark_chat.models import shelf

    books, parts = shelf.books(), shelf.unfinished()
    if as_json:
        models: list[dict[str, Any]] = [_json(book) for book in books]
        unfinished = [{"name": name, "size": held} for name, held in parts]
        return write(json.dumps({"models": models, "unfinished": unfinished}, indent=2))
    names = max((len(book.name) for book in books), default=0)
    for book in books:
        state = "" if not book.fault else "  NOT WHOLE"
        write(f"{book.name:<{names}}  {size(book.size):>10}  {shelf.PLACES[book.where]}{state}")
    for name, held in parts:
        narrate(f"{name}: {size(held)} have come. `spark-chat pull {name}` goes on.")
    if not books and not parts:
        narrate("There is no model on this machine yet. `spark-chat pull` brings one.")


@command.command()
@click.argument("name", shell_complete=names)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def show(name: str, as_json: bool) -> None:
    """Print what is known of the model NAME: path, size, kind, licence."""
    from spark_chat.meters.units import size
    from spark_chat.models import shelf
    from spark_chat.models.about import about

    book = _book(name)
    facts = about(book.path)
    if as_json:
        return write(json.dumps(_json(book) | facts, indent=2))
    lines = {"name": book.name, "path": str(book.path), "kept in": shelf.PLACES[book.where], "size": size(book.size)}
    lines |= {key: str(value) for key, value in facts.items() if value not in (None, "", False)}
    lines.setdefault("licence", "not told by its files")
    for key, text in lines.items():
        write(f"{key + ':':<14} {text}")
    if book.fault:
        narrate(book.fault)


@command.command()
@click.argument("name", shell_complete=names)
@click.option("--yes", is_flag=True, help="Don't ask.")
def rm(name: str, yes: bool) -> None:
    """Delete the model NAME. One that is registered in place is forgotten; its files stay."""
    from spark_chat.meters.units import size
    from spark_chat.models import shelf

    book = _book(name)
    if book.where == "link":
        question = f"Forget {book.name}? Its files in {book.path.resolve()} stay."
    else:
        question = f"Delete {book.name} from {shelf.PLACES[book.where]}? It frees {size(book.frees)}."
    if not yes and not click.confirm(question, err=True):
        raise click.Abort
    try:
        shelf.take_away(book)
    except OSError as error:
        raise click.ClickException(f"{book.name} could not be deleted: {error.strerror or error}.") from None
    narrate(
        f"{book.name} is gone." if book.where != "link" else f"{book.name} is forgotten; its files are as they were."
    )


def _book(name: str) -> Any:
    from spark_chat.models import shelf
    from spark_chat.models.sanity import ModelProblem

    try:
        return shelf.book(name)
    except ModelProblem as problem:
        by_name = [book for book in shelf.books() if book.name.casefold() == name.casefold()]
        if by_name:  # not whole, and yet it may be looked at and deleted
            return by_name[0]
        raise click.ClickException(str(problem)) from None


def _json(book: Any) -> dict[str, Any]:
    return {
        "name": book.name, "path": str(book.path), "where": book.where, "size": book.size,
        "whole": not book.fault, "fault": book.fault or None,
    }  # fmt: skip
