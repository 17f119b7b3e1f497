"""Whether a .safetensors file is whole, by its own header: 8 bytes of length, JSON, then the tensors' bytes."""

from __future__ import annotations

import json
from pathlib import Path

LONGEST = 100_000_000
"""Bytes of a header, as the format limits it."""


def fault(path: Path) -> str:
    """What is wrong, as the end of a sentence; "" where it is whole. Reads the header alone. Raises OSError."""
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if not 2 <= length <= min(LONGEST, size - 8):
            return "its header is cut off or damaged"
        try:
            header = json.loads(file.read(length))
            end = max((entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"), default=0)
            wanted = 8 + length + int(end)
        except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
            return "its header is damaged"
    if size != wanted:
        return f"it has {size:,} bytes and should have {wanted:,}"
    return ""
