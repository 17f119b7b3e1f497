"""One file's bytes, from where they stopped last time to the last one, hashed as they come.

The hub's library downloads too, but starts each file anew after a kill and compares no hash.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from spark_chat.pull.blobs import Repository
from spark_chat.pull.hashes import Digest, over
from spark_chat.pull.plan import BadPlan, File, Plan
from spark_chat.pull.tally import Tally
from spark_chat.pull.trouble import passing

TRIES = 6
"""How often in a row it is tried without a byte more."""
WAIT_S = 1.0
"""Before the second try; twice as long before each one after."""


class Answer(Protocol):
    """What a server sends: `start` is the offset of the first byte of `pieces`."""

    start: int

    def pieces(self) -> Iterator[bytes]: ...


Ask = Callable[[File, int], AbstractContextManager[Answer]]
"""ask(file, offset): its bytes from that offset on, where the server can begin there."""


@dataclass(frozen=True)
class Receiver:
    """Brings files of `plan` into `repository`."""

    repository: Repository
    plan: Plan
    ask: Ask
    tally: Tally
    wait: Callable[[float], None] = time.sleep

    def bring(self, file: File) -> None:
        """Whole and checked, whatever of it is here. Raises what the network or the disk did, or BadPlan."""
        held = self.repository.held(self.plan, file)
        if held is not None:
            counted = 0

            def tell(size: int) -> None:
                nonlocal counted
                counted += size
                self.tally.present(size, file.path)

            if over(held, file, tell).right:
                return
            self.tally.present(-counted, file.path)
            held.unlink()
        for last in (False, True):
            if self._received(file):
                return
            if last:
                raise BadPlan(
                    f"What came as {file.path} is not what the repository lists (its hash differs), twice.",
                    "A mirror or a proxy may be in between: see HF_ENDPOINT and HTTPS_PROXY.",
                )

    def _received(self, file: File) -> bool:
        """One go at the whole file; False where the hash is not right, and nothing of it is kept."""
        partial = self.repository.partial(file)
        partial.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("ab", buffering=0) as out:
            fcntl.flock(out, fcntl.LOCK_EX)
            digest = over(partial, file, lambda size: self.tally.present(size, file.path))
            kept = digest.size
            if kept > file.size:
                out.truncate(0)
                self.tally.present(-kept, file.path)
                digest, kept = Digest(file), 0
            came = self._rest(file, out, digest, kept)
            if came.right:
                os.fsync(out.fileno())
                partial.replace(self.repository.blob(file))
                return True
            out.truncate(0)
            self.tally.present(-kept, file.path)
            self.tally.received(kept - came.size, file.path)
            return False

    def _rest(self, file: File, out: object, digest: Digest, kept: int) -> Digest:
        assert hasattr(out, "write") and hasattr(out, "truncate")
        tries, wait = 0, WAIT_S
        while digest.size < file.size:
            before = digest.size
            try:
                with self.ask(file, digest.size) as answer:
                    if answer.start == 0 and digest.size:  # the server can't begin in the middle
                        out.truncate(0)
                        self.tally.received(-digest.size, file.path)
                        digest = Digest(file)
                        before = 0
                    for piece in answer.pieces():
                        taken = piece[: file.size - digest.size + 1]
                        out.write(taken)
                        digest.update(taken)
                        self.tally.received(len(taken), file.path)
                        if digest.size > file.size:
                            return digest
            except Exception as error:
                if not passing(error) or (tries + 1 >= TRIES and digest.size == before):
                    raise
                self.tally.trouble("the hub does not answer, trying again", file.path)
            if digest.size > before:
                tries, wait = 0, WAIT_S
            elif digest.size < file.size:
                tries += 1
                if tries >= TRIES:
                    raise BadPlan(f"{file.path} does not come: the hub ends the transfer early, again and again.")
                self.wait(wait)
                wait *= 2
        return digest
