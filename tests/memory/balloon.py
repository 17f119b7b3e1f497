"""A program that takes memory and holds it: `python -m tests.memory.balloon BYTES [NAME]`, gone at the end of its
stdin. It says "full" once every page is its own. Its name is NAME, else "balloon"; at most 15 bytes."""

from __future__ import annotations

import ctypes
import sys


def main() -> None:
    ctypes.CDLL(None).prctl(15, sys.argv[2].encode() if len(sys.argv) > 2 else b"balloon", 0, 0, 0)
    held = bytearray(int(sys.argv[1]))
    held[::4096] = b"x" * len(range(0, len(held), 4096))
    print("full", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
