"""A place in the transcript: a piece, its height as far as it is known, and its rows while they are near the screen."""

from __future__ import annotations

from spark_chat.text.blocks import Block
from spark_chat.text.palette import Palette
from spark_chat.text.piece import Piece, rows_of
from spark_chat.text.render import rows_of_piece
from spark_chat.text.row import Row


class Closed:
    """A closed block that nobody looked at yet. It is opened into pieces before it is drawn."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.source = block.source
        self.gap = int(block.gap)

    def estimate(self, width: int) -> int:
        """Rows without its blank lines; a fence shows a label for its opening line and nothing for its closing one."""
        return max(1, rows_of(self.source.strip("\n"), width) - (self.block.kind == "fence"))

    def rows(self, width: int, palette: Palette) -> list[Row]:
        raise TypeError("A closed block has no rows of its own; it is opened first.")


class Slot:
    """`height`: rows with the gap, exact where `exact` is the width in use, else an estimate."""

    __slots__ = ("_key", "_rows", "exact", "height", "piece")

    def __init__(self, piece: Piece, width: int) -> None:
        self.piece = piece
        self.exact = 0
        self.height = piece.gap + piece.estimate(width)
        self._rows: list[Row] | None = None
        self._key: tuple[int, Palette, int] | None = None

    def estimate(self, width: int) -> None:
        """Another width: guess again."""
        self.exact = 0
        self.height = self.piece.gap + self.piece.estimate(width)

    def grown(self) -> None:
        """The piece has changed. Its rows are kept, for those of them that stay the same."""
        self.exact = 0
        self._key = None

    def rows(self, width: int, palette: Palette) -> list[Row]:
        """The piece's rows, kept until `drop`; the height becomes exact."""
        key = (width, palette, getattr(self.piece, "version", 0))
        if self._rows is None or self._key != key:
            rows = rows_of_piece(self.piece, width, palette)
            if self._rows is not None:
                rows = _kept(self._rows, rows)
            self._rows, self._key = rows, key
        self.height = self.piece.gap + len(self._rows)
        self.exact = width
        return self._rows

    def drop(self) -> None:
        """Give the rows back; the height stays."""
        self._rows = self._key = None


def _kept(before: list[Row], after: list[Row]) -> list[Row]:
    """`after`, with the rows of `before` where they are the same: what was drawn of them is kept with them."""
    for index, (old, new) in enumerate(zip(before, after, strict=False)):
        if old.segments == new.segments and old.join == new.join and old.lead == new.lead:
            after[index] = old
    return after
