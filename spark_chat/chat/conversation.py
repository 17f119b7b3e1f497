"""A conversation: what was asked, what came back, other versions of both, and what of it the model is sent.

Pure: no I/O, no clock. The exchanges are a tree. A way through it is on screen; it ends where one writes on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from spark_chat.chat.exchange import AGAIN, TOO_LONG, Exchange, Gathered, Stage

if TYPE_CHECKING:
    from spark_chat.engine.protocol import Turn

__all__ = ["TOO_LONG", "Conversation", "Exchange", "Gathered", "Stage"]


class Conversation:
    """`exchanges` are those on screen, in order. `thinking`: whether the model may reason here; None as the settings
    say."""

    def __init__(self, id: str = "", exchanges: list[Exchange] | None = None) -> None:
        self.id = id
        self.exchanges: list[Exchange] = []
        self.thinking: bool | None = None
        self.system_prompt: str | None = None
        """Said to the model before all else here, "" for nothing; None as the settings say."""
        self.system_name = ""
        """What that is called in the library of prompts."""
        self._all: dict[str, Exchange] = {}
        self._following: dict[str, list[Exchange]] = {}
        self._on_screen: set[str] = set()
        self._left_out: set[str] = set()
        self._turns = 0
        for exchange in exchanges or ():
            self.add(exchange)

    def __iter__(self) -> Iterator[Exchange]:
        return iter(self.exchanges)

    def __len__(self) -> int:
        return len(self.exchanges)

    @property
    def all(self) -> list[Exchange]:
        """Every exchange, also those that are not on screen, in the order they came."""
        return list(self._all.values())

    def find(self, id: str) -> Exchange | None:
        """The exchange that is called `id`, or was asked under it; on screen or not."""
        return self._all.get(id) or self._all.get(id.partition(AGAIN)[0])

    def shows(self, exchange: Exchange) -> bool:
        """Whether it is on screen."""
        return exchange.id in self._on_screen

    @property
    def waiting(self) -> list[Exchange]:
        """Those whose turn has not come, on screen or not."""
        return [item for item in self._all.values() if item.stage is Stage.QUEUED]

    # ------------------------------------------------------------------ growing

    def add(self, exchange: Exchange) -> Exchange:
        """One more at the end of what is on screen."""
        exchange.parent = self.exchanges[-1].id if self.exchanges else ""
        self.plant(exchange)
        self.exchanges.append(exchange)
        self._on_screen.add(exchange.id)
        return exchange

    def plant(self, exchange: Exchange) -> None:
        """One more, wherever its parent is; what is on screen stays."""
        self._all[exchange.id] = exchange
        self._following.setdefault(exchange.parent, []).append(exchange)
        self.choose(exchange)

    def put_beside(self, exchange: Exchange, other: Exchange) -> int:
        """`exchange` as another version of `other`, in its place on screen, where what followed is gone from now.
        Returns its place among those on screen."""
        exchange.parent = other.parent
        self.plant(exchange)
        return self.turn_to(exchange)

    def take_out(self, exchange: Exchange) -> int | None:
        """Take away one that nothing follows and that has another version, which is shown in its place. Returns that
        place where it was on screen; None where it was not, or stays."""
        beside = self._following.get(exchange.parent, [])
        if self._following.get(exchange.id) or len(beside) < 2:
            return None
        was_shown = self.shows(exchange)
        del self._all[exchange.id]
        beside.remove(exchange)
        return self.turn_to(max(beside, key=lambda item: item.turn), deeper=True) if was_shown else None

    # ------------------------------------------------------------------ versions

    def choose(self, exchange: Exchange) -> None:
        """It is the one of its versions that was shown last."""
        self._turns += 1
        exchange.turn = self._turns

    def prompts(self, exchange: Exchange) -> list[str]:
        """Ids of the versions of its prompt, in the order they came."""
        return list(dict.fromkeys(item.prompt_id for item in self._following.get(exchange.parent, ())))

    def answers(self, exchange: Exchange) -> list[Exchange]:
        """The answers to its prompt, in the order they came."""
        same = self._following.get(exchange.parent, ())
        return [item for item in same if item.prompt_id == exchange.prompt_id]

    def path_to(self, exchange: Exchange) -> list[Exchange]:
        """The exchanges up to this one, each the parent of the next."""
        path: list[Exchange] = []
        at: Exchange | None = exchange
        while at is not None and len(path) <= len(self._all):
            path.append(at)
            at = self._all.get(at.parent)
        return path[::-1]

    def turn_to(self, exchange: Exchange, *, deeper: bool = False) -> int:
        """Have the way to `exchange` on screen; with `deeper` also what followed it last. Returns the place of the
        first exchange that is another one than before."""
        path = self.path_to(exchange)
        while deeper and (following := self._following.get(path[-1].id)):
            path.append(max(following, key=lambda item: item.turn))
        before, self.exchanges = self.exchanges, path
        self._on_screen = {item.id for item in path}
        same = (at for at, (old, new) in enumerate(zip(before, path, strict=False)) if old is not new)
        return next(same, min(len(before), len(path)))

    def beside(self, exchange: Exchange, step: int, *, answers: bool) -> Exchange | None:
        """The version `step` further, of the answer or of the prompt; None where there is none."""
        if answers:
            versions = self.answers(exchange)
            at = versions.index(exchange) + step
            return versions[at] if 0 <= at < len(versions) else None
        prompts = self.prompts(exchange)
        at = prompts.index(exchange.prompt_id) + step
        if not 0 <= at < len(prompts):
            return None
        found = [item for item in self._following[exchange.parent] if item.prompt_id == prompts[at]]
        return max(found, key=lambda item: item.turn)

    # ------------------------------------------------------------------ what the model gets

    def sent_before(self, exchange: Exchange) -> list[Exchange]:
        """The earlier exchanges whose turns go along with `exchange`'s prompt: those with an answer, cut off or not."""
        earlier = self.path_to(exchange)[:-1]
        return [item for item in earlier if item.id not in self._left_out and str(item.answer).strip()]

    def turns(self, exchange: Exchange, system_prompt: str = "") -> list[Turn]:
        """What the model gets for `exchange`: the system prompt, the turns before, the prompt. No old reasoning."""
        from spark_chat.engine.protocol import Turn

        turns = [Turn(role="system", content=system_prompt)] if system_prompt.strip() else []
        for earlier in self.sent_before(exchange):
            turns.append(Turn(role="user", content=earlier.prompt))
            turns.append(Turn(role="assistant", content=str(earlier.answer)))
        turns.append(Turn(role="user", content=exchange.prompt))
        return turns

    def oldest_to_drop(self, exchange: Exchange, prompt_tokens: int, context: int, room: int) -> int:
        """How many of the oldest sent exchanges must go so that `exchange` fits with `room` tokens for its answer.

        Tokens are shared out by length, since an engine counts the whole: `prompt_tokens` over the characters sent.
        0 where there is nothing to drop, or where dropping all of them would not do.
        """
        earlier = self.sent_before(exchange)
        sizes = [len(item.prompt) + len(str(item.answer)) for item in earlier]
        characters = sum(sizes) + len(exchange.prompt)
        if not earlier or not characters:
            return 0
        density = prompt_tokens / characters
        over = prompt_tokens - context
        if over >= sum(sizes) * density:
            return 0
        excess = float(over + room)
        count = 0
        while excess > 0 and count < len(sizes):
            excess -= sizes[count] * density
            count += 1
        return count

    def drop_oldest(self, exchange: Exchange, count: int) -> int:
        """Stop sending the `count` oldest of the exchanges that go along with `exchange`; they stay on screen and on
        disk. Returns how many went."""
        earlier = self.sent_before(exchange)[:count]
        self._left_out.update(item.id for item in earlier)
        return len(earlier)
