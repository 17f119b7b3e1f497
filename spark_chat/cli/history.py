"""`spark-chat history`: conversations listed, shown, searched, written out and taken in, without the screen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spark_chat.cli.group import Group
from spark_chat.cli.lazy import BadInput
from spark_chat.cli.options import narrate, write
from spark_chat.moment import minute

if TYPE_CHECKING:
    from spark_chat.history.store import Store

LARGEST = 1 << 30
"""Bytes of a file that is imported."""
SHORT = 8
"""Characters of an id that are shown; as many of them as tell it from the others will do."""
LINE = 1_000
"""Characters of a title or an excerpt that are looked at for its line."""


class _Group(Group):
    """A file that turns out to be damaged or locked ends a command with a sentence."""

    def invoke(self, ctx: click.Context) -> Any:
        from spark_chat.history.store import HistoryProblem

        try:
            return super().invoke(ctx)
        except HistoryProblem as problem:
            raise click.ClickException(str(problem)) from None


@click.group("history", cls=_Group)
def command() -> None:
    """List, show, search, export and import conversations. ID: the first characters of an id, or "last"."""


@command.command("list")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="How many at most.")
@click.option("--json", "as_json", is_flag=True, help="All that is listed as JSON.")
def list_(limit: int, as_json: bool) -> None:
    """Print the conversations, pinned ones first, then used last first: id, when, how many messages, title."""
    from spark_chat.history import listing

    store = _opened()
    if store is None:
        return write("[]") if as_json else _nothing()
    rows = listing.page(store, "", 0, limit).rows
    count = "SELECT count(*) FROM messages WHERE conversation = ?"
    counts = {row.conversation: store.rows(count, row.conversation)[0][0] for row in rows}
    if as_json:
        return write(json.dumps([
            {"id": row.conversation, "title": row.title, "updated": row.updated, "pinned": row.pinned,
             "messages": counts.get(row.conversation, 0)} for row in rows
        ], indent=2))  # fmt: skip
    if rows:
        write(f"{'id':<{SHORT}}  {'last used':<16}  {'messages':>8}  title   (* pinned)")
    for row in rows:
        messages = counts.get(row.conversation, 0)
        pin = "* " if row.pinned else "  "
        write(f"{_line(row.conversation[:SHORT])}  {minute(row.updated)}  {messages:>8}  {pin}{_line(row.title)}")
    if not rows:
        _nothing()


@command.command()
@click.argument("id")
def show(id: str) -> None:
    """Print the conversation ID as Markdown, without the comments that an export has."""
    from spark_chat.chat.markdown import MARK, markdown
    from spark_chat.history import resume

    store = _needed()
    found = resume.load(store, _whole_id(store, id))
    if found is not None:
        for line in markdown(found).splitlines():
            if not line.startswith(MARK):
                write(line)


@command.command()
@click.argument("words", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="How many at most.")
@click.option("--json", "as_json", is_flag=True, help="What is found as JSON.")
def search(words: tuple[str, ...], limit: int, as_json: bool) -> int:
    """Print the conversations that have all WORDS, newest first, with a line around the first hit.

    A word finds longer ones that begin with it; "words in quotes" must follow each other. Exit code 1: none found.
    """
    from spark_chat.history import search as finding

    store = _opened()
    hits = finding.search(store, "", " ".join(words), limit) if store is not None else []
    if as_json:
        write(json.dumps([
            {"id": hit.listed.conversation, "title": hit.listed.title, "updated": hit.listed.updated,
             "message": hit.message or None, "messages": hit.count, "text": "".join(text for text, _ in hit.text)}
            for hit in hits
        ], indent=2))  # fmt: skip
    else:
        for hit in hits:
            write(f"{_line(hit.listed.conversation[:SHORT])}  {minute(hit.listed.updated)}  {_line(hit.listed.title)}")
            text = "".join(f"[{text}]" if found else text for text, found in hit.text)
            if text:
                write(f"{'':<{SHORT}}  {_line(text)}")
        if not hits:
            narrate("Nothing was found.")
    return 0 if hits else 1


@command.command()
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--all", "everything", is_flag=True, help="Every conversation.")
@click.option(
    "--format", "form", type=click.Choice(["md", "json"]),
    help="md reads well; json has everything. Else by the name of --output, else md.",
)  # fmt: skip
@click.option("--output", metavar="FILE|FOLDER", help="Else stdout. A folder gets a file for each conversation.")
def export(ids: tuple[str, ...], everything: bool, form: str | None, output: str | None) -> None:
    """Write conversations out, as Markdown with the numbers of each answer, or as JSON, from which `history import`
    brings them back whole. A file that is there already is never written over."""
    from spark_chat.chat import exporting
    from spark_chat.history import document
    from spark_chat.locations import at_home

    if everything == bool(ids):
        raise click.UsageError("Name the conversations (`spark-chat history list`), or take --all.")
    store = _needed()
    wanted = document.listed(store) if everything else [_whole_id(store, id) for id in ids]
    target = at_home(output) if output else None
    form = form or ("json" if target is not None and target.suffix == ".json" else "md")
    if target is None:
        for piece in exporting.pieces(store, wanted, form):
            click.echo(piece.encode("utf-8", "replace"), nl=False)
        return
    try:
        if target.is_dir():
            for id in wanted:
                narrate(str(exporting.to_folder(store, id, form, target)))
        else:
            exporting.to_file(exporting.pieces(store, wanted, form), target)
    except FileExistsError as error:
        raise click.ClickException(
            f"{error.filename} is there already, and is left as it is. Give another name."
        ) from None
    except OSError as error:
        raise click.ClickException(f"{error.filename or target} could not be written: {error.strerror}.") from None
    if not target.is_dir():
        narrate(f"{len(wanted)} conversation{'' if len(wanted) == 1 else 's'} written to {target}.")


@command.command("import")
@click.argument("file", metavar="FILE|-")
def import_(file: str) -> None:
    """Take in conversations from FILE, JSON or Markdown that `history export` wrote. Done twice it is done once; what
    is kept under the same id and differs stays, and FILE's becomes a copy."""
    from spark_chat.chat import markdown_reading
    from spark_chat.history import importing

    text = _read(file)
    try:
        items = (
            markdown_reading.parse(text) if not text.lstrip("\ufeff \t\r\n").startswith("{") else importing.parse(text)
        )
        narrate(importing.take_in(_store(), items).sentence)
    except importing.BadDocument as problem:
        raise BadInput(f"{file} can't be imported. {problem}") from None


# ---------------------------------------------------------------------- parts


def _read(file: str) -> str:
    import sys

    from spark_chat import ordinary

    try:
        data = sys.stdin.buffer.read(LARGEST + 1) if file == "-" else ordinary.read(Path(file).expanduser(), LARGEST)
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise BadInput(f"{file} is not UTF-8 text, so it is no export.") from None
    except (OSError, ValueError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise BadInput(f"{file} can't be read: {reason}.") from None


def _store() -> Store:
    """The history file, made where there is none."""
    from spark_chat.history.store import Store
    from spark_chat.locations import history_file

    store = Store.open(history_file())
    for note in store.notes:
        narrate(note)
    return store


def _opened() -> Store | None:
    """The history file; None where nothing was kept yet."""
    from spark_chat.locations import history_file

    return _store() if history_file().exists() else None


def _needed() -> Store:
    store = _opened()
    if store is None:
        raise click.ClickException("No conversation is kept yet.")
    return store


def _whole_id(store: Store, start: str) -> str:
    """The id that begins so."""
    if start == "last":
        found = store.rows("SELECT id FROM conversations WHERE deleted_at IS NULL AND title IS NOT NULL "
                           "ORDER BY updated DESC LIMIT 1")  # fmt: skip
    else:
        found = store.rows("SELECT id FROM conversations WHERE deleted_at IS NULL AND substr(id, 1, ?) = ? LIMIT 2",
                           len(start), start)  # fmt: skip
    if len(found) == 1 and start:
        whole: str = found[0][0]
        return whole
    what = "More than one conversation's id begins" if found else "No conversation's id begins"
    raise BadInput(f"{what} with {start[:40]}. `spark-chat history list` shows them.")


def _nothing() -> None:
    narrate("No conversation is kept yet.")


def _line(text: Any) -> str:
    from spark_chat.text.clean import printable

    return " ".join(printable(str(text)[:LINE]).split())
