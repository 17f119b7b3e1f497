"""Pages of files in the page cache: how many there are, and taking the clean ones out. No right of root's is needed.

Why: on a GB10 CUDA counts the page cache as used, so that what reading a model leaves there stands in the way of the
model itself. posix_fadvise(DONTNEED) drops pages that are clean and that no process has mapped at that moment.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_FLAGS = os.O_RDONLY | os.O_CLOEXEC


def evict(files: Iterable[Path]) -> int:
    """Take the clean pages of `files` out; how many files were asked for. One that can't be opened is passed over."""
    asked = 0
    for file in files:
        with suppress(OSError):
            opened = os.open(file, _FLAGS)
            try:
                os.posix_fadvise(opened, 0, 0, os.POSIX_FADV_DONTNEED)
                asked += 1
            finally:
                os.close(opened)
    return asked


def resident(file: Path) -> int:
    """Bytes of `file` that are in the page cache, in whole pages, by mincore. Raises OSError.

    The kernel tells this of files alone that this user owns or may write; of others it says that all are there.
    """
    opened = os.open(file, _FLAGS)
    try:
        size = os.fstat(opened).st_size
        if size == 0:
            return 0
        with mmap.mmap(opened, size, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE) as mapped:
            return _in_core(mapped, size)
    finally:
        os.close(opened)


def _in_core(mapped: mmap.mmap, size: int) -> int:
    pages = -(-size // mmap.PAGESIZE)
    seen = (ctypes.c_ubyte * pages)()
    start = ctypes.c_char.from_buffer(mapped)
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mincore(ctypes.c_void_p(ctypes.addressof(start)), ctypes.c_size_t(size), seen) != 0:
            raise OSError(ctypes.get_errno(), "mincore")
    finally:
        del start  # else the map can't be closed
    raw = bytes(seen)
    return sum(raw.count(value) for value in range(1, 256, 2)) * mmap.PAGESIZE
