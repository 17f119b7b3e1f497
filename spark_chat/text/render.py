"""From a closed block to pieces that can be drawn. Whatever goes wrong, the text shows: plain, in the worst case."""

from __future__ import annotations

from typing import Any

from spark_chat.text.blocks import LARGEST, Block
from spark_chat.text.code import more_code
from spark_chat.text.outline import outline, plain_pieces
from spark_chat.text.palette import Palette
from spark_chat.text.piece import Piece, Plain
from spark_chat.text.row import Row


def pieces_of(block: Block, references: dict[str, Any] | None = None) -> list[Piece]:
    """What to draw for `block`; empty where it is blank."""
    try:
        if len(block.source) > LARGEST and block.kind != "fence":
            return plain_pieces(block.source)
        if block.info is not None:
            return [*more_code(block.source, block.info, block.ended)]
        pieces = outline(block.source, references, number=block.number)
    except Exception:  # hostile text may find a way; it is still text
        return plain_pieces(block.source.strip("\n"))
    if pieces:
        pieces[0].gap = int(block.gap)
    return pieces


def rows_of_piece(piece: Piece, width: int, palette: Palette) -> list[Row]:
    """The rows of `piece`."""
    try:
        return piece.rows(width, palette)
    except Exception:  # drawing is the last step before the screen: the text must show
        return Plain(piece.source).rows(width, palette)


__all__ = ["LARGEST", "pieces_of", "rows_of_piece"]
