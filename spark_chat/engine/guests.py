"""Everybody who is connected to one worker: who is let in at the door, and how long the engine stays without anyone.

Thread-safe; every guest's thread comes in here. What the engine itself does is the worker's.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from typing import Protocol

import msgspec

from spark_chat.engine import refusals
from spark_chat.engine.configuration import differences
from spark_chat.engine.guest import Guest
from spark_chat.engine.protocol import (
    PROTOCOL,
    AnyCommand,
    AnyEvent,
    Attach,
    End,
    Leave,
    Left,
    Load,
    ProtocolError,
    Ready,
    Shutdown,
    Standing,
    Status,
)

MOST = 24
"""Guests that use the engine at a time."""
STRANGERS = 24
"""Connections at the door at a time. One more takes the place of the oldest."""


class Desk(Protocol):
    """The worker, as its guests' threads need it."""

    def command(self, guest: Guest, command: AnyCommand) -> None:
        """One that is for the engine."""
        ...

    def gone(self, guest: Guest) -> None:
        """A guest that was let in has left."""
        ...

    def greet(self, guest: Guest) -> None:
        """Tell one that was just let in that the engine is ready, or how far the start is."""
        ...

    def standing(self) -> Standing:
        """As the engine stands, without `people` and `lingers_s`."""
        ...

    def end(self) -> None:
        """End the worker. Called once; returns or not."""
        ...


class Guests:
    """`loaded`: what the engine is built from, once that is known. `ready`: once it is up; before, a start that nobody
    waits for ends at once. `findable`: whether there is a door; without one it is no use to linger."""

    def __init__(self, desk: Desk, clock: Callable[[], float] = time.monotonic) -> None:
        self._desk, self._clock = desk, clock
        self._lock = threading.RLock()
        self._all: list[Guest] = []
        self._count = 0
        self._linger_s = 0.0
        self._timer: threading.Timer | None = None
        self._until: float | None = None
        self._ending = False
        self.loaded: Load | None = None
        self.ready: Ready | None = None
        self.findable = False

    # ------------------------------------------------------------ coming

    def welcome(self, stream: socket.socket, pid: int) -> None:
        """Take a connection in; the first is the one that spawned the worker."""
        with self._lock:
            strangers = [guest for guest in self._all if guest.wanted is None and guest.number > 0]
            if len(strangers) >= STRANGERS:
                self._all.remove(strangers[0])
                strangers[0].close()
            guest = Guest(stream, self._count, pid, self._take, self.leave)
            self._count += 1
            self._all.append(guest)
        guest.begin()

    def let_in(self, guest: Guest, load: Load) -> None:
        """It uses the engine from now on."""
        with self._lock:
            if not self._inside():
                self._linger_s = 0.0
            self._linger_s = max(self._linger_s, load.linger_s)
            if self._timer is not None:
                self._timer.cancel()
            self._timer = self._until = None
            guest.let_in(load)

    def _take(self, guest: Guest, message: AnyCommand | ProtocolError) -> None:
        if isinstance(message, ProtocolError):
            guest.send(refusals.unreadable(message, guest.wanted is None and guest.number > 0))
        elif isinstance(message, Status):
            guest.send(self._standing())
        elif isinstance(message, End):
            self._asked_to_end(guest, message.force)
        elif isinstance(message, Attach) and guest.number > 0 and guest.wanted is None:
            self._attach(guest, message)
        elif guest.wanted is None and guest.number > 0:
            guest.send(refusals.unreadable(ProtocolError("Say first what you want: attach, status or end."), True))
        elif isinstance(message, Shutdown | Leave):
            self._asked_to_go(guest, stays=isinstance(message, Leave))
        else:
            self._desk.command(guest, message)

    def _attach(self, guest: Guest, wish: Attach) -> None:
        with self._lock:
            if self._ending or self.loaded is None:
                guest.close()
                return
            differs = differences(self.loaded, wish.load)
            if wish.protocol != PROTOCOL or wish.fresh or self.loaded.alone or differs:
                guest.send(refusals.refused(self._standing(), differs, wish, self.loaded.alone))
                return
            if len(self._inside()) >= MOST:
                guest.send(refusals.full(self._standing()))
                return
            self.let_in(guest, wish.load)
            self._desk.greet(guest)

    # ------------------------------------------------------------ going

    def leave(self, guest: Guest) -> None:
        """Its connection ended, or it said so."""
        with self._lock:
            if guest not in self._all:
                return
            self._all.remove(guest)
            was_inside = guest.wanted is not None or guest.number == 0
            nobody = not self._inside()
        if not was_inside:
            return
        self._desk.gone(guest)
        if nobody:
            self._alone()

    def _asked_to_go(self, guest: Guest, stays: bool) -> None:
        with self._lock:
            others = len(self._inside()) - 1
            lingers = self._stays_for_s() if stays else 0.0
            if others > 0 or lingers > 0:
                guest.send(Left(lingers_s=lingers, others=max(0, others), time=self._clock()))
                self.leave(guest)
                return
        self._end()

    def _asked_to_end(self, guest: Guest, force: bool) -> None:
        with self._lock:
            if self._inside() and not force:
                guest.send(refusals.in_use(self._standing()))
                return
        self.tell(refusals.ended())
        self._end()

    def _alone(self) -> None:
        with self._lock:
            if self._inside() or self._ending:
                return
            stays = self._stays_for_s()
            if stays > 0:
                self._until = self._clock() + stays
                self._timer = threading.Timer(stays, self._time_is_up, [self._until])
                self._timer.daemon = True
                self._timer.start()
                return
        self._end()

    def _stays_for_s(self) -> float:
        return self._linger_s if self.ready is not None and self.findable else 0.0

    def _time_is_up(self, until: float) -> None:
        with self._lock:
            if self._until != until:
                return  # somebody came
        self._end()

    def _end(self) -> None:
        with self._lock:
            if self._ending:
                return
            self._ending = True
        self._desk.end()

    # ------------------------------------------------------------ all of them

    def _inside(self) -> list[Guest]:
        return [guest for guest in self._all if guest.wanted is not None]

    def became_ready(self, event: Ready) -> None:
        """Tell everybody, each once."""
        with self._lock:
            self.ready = event
            self.tell(event)

    def tell(self, event: AnyEvent) -> None:
        """To everybody who was let in."""
        with self._lock:
            inside = self._inside()
        for guest in inside:
            guest.send(event)

    def _standing(self) -> Standing:
        with self._lock:
            people = [guest.person for guest in self._inside()]
            left = max(0.0, self._until - self._clock()) if self._until is not None else None
        return msgspec.structs.replace(self._desk.standing(), people=people, lingers_s=left, protocol=PROTOCOL)
