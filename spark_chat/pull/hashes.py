"""The two hashes that hubs name content by, computed as the bytes go past."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from spark_chat.pull.plan import File

PIECE = 1 << 20
"""Bytes a read."""


class Digest:
    """Of one file's content from its first byte on."""

    def __init__(self, file: File) -> None:
        self._file = file
        self.size = 0
        self._hash = hashlib.sha256() if file.sha256 else hashlib.sha1(f"blob {file.size}\0".encode())

    def update(self, piece: bytes) -> None:
        self._hash.update(piece)
        self.size += len(piece)

    @property
    def right(self) -> bool:
        """Whether all that was given is the file."""
        return self.size == self._file.size and self._hash.hexdigest() == self._file.key


def over(path: Path, file: File, tell: Callable[[int], None] = lambda size: None) -> Digest:
    """The digest of what lies at `path`; `tell` is given the bytes of each piece. Raises OSError."""
    digest = Digest(file)
    with path.open("rb", buffering=0) as content:
        while piece := content.read(PIECE):
            digest.update(piece)
            tell(len(piece))
    return digest
