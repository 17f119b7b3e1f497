"""Holds the engine's place and answers nonsense at its door, as an engine of an age to come might."""

from __future__ import annotations

import socket
import threading

from spark_chat.engine import lock
from spark_chat.engine.door import Door

held: list[socket.socket] = []


def welcome(stream: socket.socket, pid: int) -> None:
    held.append(stream)
    stream.sendall(b"\x00\x01 what? \n" * 3)


if __name__ == "__main__":
    place = lock.EngineLock(lock.folder())
    assert place.take()
    Door(lock.folder(), welcome).open()
    print("open", flush=True)
    threading.Event().wait()
