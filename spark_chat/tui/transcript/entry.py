"""What stands in the transcript: an entry with a label and slots. Answers have a file of their own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from spark_chat.meters import units
from spark_chat.text.clean import clean
from spark_chat.text.outline import plain_pieces
from spark_chat.text.palette import Palette
from spark_chat.text.piece import Piece, Plain, rows_of
from spark_chat.text.render import pieces_of
from spark_chat.text.row import Row
from spark_chat.tui.transcript.heights import Heights
from spark_chat.tui.transcript.slot import Closed, Slot

FOLDED_OVER = 40
"""Lines of a prompt that is shown whole; a longer one shows its first lines and says how much more there is."""
FOLDED_TO = 12
QUEUED = "… queued: sent when its turn comes"
FOLDED_CHARACTERS = 8_000


class Entry(ABC):
    """Slots are made when the entry comes near the screen; until then its height is an estimate."""

    role = "text"

    def __init__(self, id: str, label: str) -> None:
        self.id = id
        self.label = clean(label).replace("\n", " ")
        self.slots: list[Slot] = []
        self.heights = Heights()
        self.width = 0
        self.built = False
        self.opened = False
        self.versions = ""
        """Which of its versions it is, `2/3`; empty where there is one."""

    @property
    def raw(self) -> str:
        """The text as it came."""
        return ""

    @property
    def height(self) -> int:
        """Rows, without what stands between entries."""
        return self.heights.total

    def guess(self, width: int) -> int:
        """Rows at `width`, about, without building."""
        if self.built:
            return max(1, self.height * max(1, self.width) // max(1, width))
        return rows_of(self.raw, width)

    def prepare(self, width: int, deadline: float) -> bool:
        """Make the slots for `width`. False where there is more to do than fitted in before `deadline`."""
        if not self.built:
            self.width = width
            self.built = True
            self.build()
        elif self.width != width:
            self.width = width
            for slot in self.slots:
                slot.estimate(width)
            self.heights = Heights([slot.height for slot in self.slots])
        return True

    @abstractmethod
    def build(self) -> None:
        """Fill in the slots."""

    def put(self, start: int, end: int, pieces: Sequence[Piece]) -> None:
        """Put new slots for `pieces` where the slots `start` to `end` are."""
        slots = [Slot(piece, self.width) for piece in pieces]
        self.slots[start:end] = slots
        if self.slots and self.slots[0].piece.gap:
            self.slots[0].piece.gap = 0
            self.slots[0].estimate(self.width)
        self.heights.replace(start, end, [slot.height for slot in slots])
        if slots and start == 0:
            self.heights[0] = self.slots[0].height

    def grown(self, index: int) -> None:
        """The piece of a slot has changed."""
        slot = self.slots[index]
        slot.grown()
        slot.estimate(self.width)
        self.heights[index] = slot.height

    def measure(self, index: int, palette: Palette) -> None:
        """Make the height of slot `index` exact; a closed block is opened, so more slots may stand there."""
        piece = self.slots[index].piece
        if isinstance(piece, Closed):
            self.open(index, piece)
            if index >= len(self.slots):
                return
        slot = self.slots[index]
        slot.rows(self.width, palette)
        self.heights[index] = slot.height

    def open(self, index: int, piece: Closed) -> None:
        """Put a closed block's pieces in its place."""
        self.put(index, index + 1, pieces_of(piece.block) or [Nothing()])

    def toggle(self, slot: int | None = None) -> bool:
        """Open or close what folds at `slot`, or wherever; False where nothing does."""
        return False

    def _version_pieces(self) -> list[Piece]:
        return [Plain(f"‹ {self.versions} ›", role="muted")] if self.versions else []


class Nothing:
    """A block of blank lines."""

    source = ""
    gap = 0

    def estimate(self, width: int) -> int:
        return 0

    def rows(self, width: int, palette: Palette) -> list[Row]:
        return []


class Prompt(Entry):
    """What the person wrote: as it is, no markup. A long one is folded."""

    role = "you"

    def __init__(self, id: str, text: str, queued: bool, label: str = "you") -> None:
        super().__init__(id, label)
        self._raw = text
        self.mark = QUEUED if queued else ""
        """What stands under it: that it waits, or was not sent."""

    @property
    def raw(self) -> str:
        return self._raw

    def guess(self, width: int) -> int:
        rows = rows_of(self._raw, width)
        return rows if rows <= FOLDED_OVER or self.opened else FOLDED_TO + 1

    @property
    def long(self) -> bool:
        """Whether it is folded, or was before it was opened."""
        return len(self._raw) > FOLDED_CHARACTERS or self._raw.count("\n") > FOLDED_OVER

    def build(self) -> None:
        text, long = self._raw, self.long
        pieces: list[Piece] = []
        if long:
            lines = text.count("\n") + 1
            size = f"{lines:,} lines · {units.text_size(len(text.encode('utf-8', 'replace')))}"
            if not self.opened:
                text = "\n".join(text[:FOLDED_CHARACTERS].split("\n", FOLDED_TO)[:FOLDED_TO])[: FOLDED_CHARACTERS // 4]
            pieces.append(Fold(f"{'▾' if self.opened else '▸'} {size}"))
        pieces = [*plain_pieces(text), *pieces]
        pieces += self._version_pieces()
        if self.mark:
            pieces.append(Plain(self.mark, role="muted"))
        self.put(0, len(self.slots), pieces or [Plain(" ")])

    def set_mark(self, mark: str) -> None:
        """Show a line under it, or take it away."""
        self.mark = mark
        if self.built:
            self.build()

    def toggle(self, slot: int | None = None) -> bool:
        if not self.long:
            return False
        if slot is not None and not isinstance(self.slots[slot].piece, Fold):
            return False
        self.opened = not self.opened
        if self.built:
            self.build()
        return True


class Notice(Entry):
    """A sentence of the app's own: what happened, and what to do."""

    LABELS = {"info": "note", "warning": "warning", "error": "error"}
    ROLES = {"info": "muted", "warning": "warning", "error": "error"}

    def __init__(self, id: str, kind: str, text: str) -> None:
        super().__init__(id, self.LABELS.get(kind, kind))
        self.role = self.ROLES.get(kind, "muted")
        self._raw = text

    @property
    def raw(self) -> str:
        return self._raw

    def build(self) -> None:
        role = "muted" if self.role == "muted" else "text"
        self.put(0, len(self.slots), plain_pieces(clean(self._raw), role) or [Plain(" ")])


class Fold(Plain):
    """A line that opens and closes what belongs to it."""

    def __init__(self, text: str) -> None:
        super().__init__(text, role="fold")
