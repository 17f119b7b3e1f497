"""Laying out answers without an app."""

from __future__ import annotations

from collections.abc import Iterable

from spark_chat.text.clean import clean
from spark_chat.text.grammar import block_tokens
from spark_chat.text.outline import outline
from spark_chat.text.palette import Palette
from spark_chat.text.piece import Piece
from spark_chat.text.render import rows_of_piece
from spark_chat.tui.transcript.answer import Answer

PALETTE = Palette()


def rows_of(pieces: Iterable[Piece], width: int) -> list[str]:
    """What pieces show, their gaps included; the first has none."""
    rows: list[str] = []
    for piece in pieces:
        rows += [""] * (piece.gap if rows else 0)
        rows += [row.text.rstrip() for row in rows_of_piece(piece, width, PALETTE)]
    return rows


def whole(text: str, width: int) -> list[str]:
    """`text` parsed at once, as one document."""
    references: dict[str, object] = {}
    source = clean(text)
    block_tokens(source, references)
    return rows_of(outline(source, references), width)


def streamed(chunks: Iterable[str], width: int, *, each: bool = False) -> list[str]:
    """The same text as an answer that came in `chunks`; `each` looks at it after every one of them."""
    answer = Answer("a", "model")
    answer.prepare(width, 0)
    for chunk in chunks:
        answer.append(chunk, "", "")
        answer.digest(float("inf"))
        if each:
            measured(answer)
    answer.finish("", "done", "")
    answer.digest(float("inf"))
    return measured(answer)


def measured(answer: Answer) -> list[str]:
    """All of an answer's rows; its heights must agree with them."""
    at = 0
    while at < len(answer.slots):
        answer.measure(at, PALETTE)
        at += 1
    rows: list[str] = []
    for slot in answer.slots:
        rows += [""] * slot.piece.gap + [row.text.rstrip() for row in slot.rows(answer.width, PALETTE)]
    assert answer.height == len(rows)
    return rows
