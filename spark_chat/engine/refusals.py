"""What somebody at the door of a running engine is told who can't have it, in sentences that name who has it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import PurePath

from spark_chat import __version__
from spark_chat.engine.configuration import Difference
from spark_chat.engine.protocol import PROTOCOL, Attach, Failed, Person, ProtocolError, Standing
from spark_chat.moment import UNKNOWN, local

OUT = "Close that one, or end the engine with `spark-chat stop --force`."
SHOWN = 4


def refused(standing: Standing, differs: Sequence[Difference], wish: Attach, measured: bool = False) -> Failed:
    """`wish` can't be had: it `differs`, or wants an engine of its own, or the one that runs is `measured`."""
    if wish.protocol != standing.protocol:
        differs = [
            Difference("the protocol of spark-chat's engine", str(standing.protocol), str(wish.protocol)),
            *differs,
        ]
    if measured:
        why = "It is being measured, so nobody else may use it until that is done."
    elif differs:
        shown = "; ".join(str(one) for one in differs[:SHOWN])
        why = f"{shown}{f'; and {len(differs) - SHOWN} more' if len(differs) > SHOWN else ''}."
    else:
        why = "An engine of its own was asked for, and the one that runs can't be ended under others."
    facts = {
        "refused": True,
        "lingers": not standing.people,
        "same": not measured and not differs,
        "differs": [list(one) for one in differs],
    }
    return _failed(who_has_it(standing), why, facts)


def full(standing: Standing) -> Failed:
    """To one more than there is room for."""
    engine = f"{standing.engine} with {base(standing.model)}"
    what = f"{engine} runs (pid {standing.pid}), and {len(standing.people)} use it."
    facts: dict[str, object] = {"refused": True, "lingers": False}
    return _failed(what, "It answers no more than so many.", facts, "Close one of them, then start the engine here.")


def in_use(standing: Standing) -> Failed:
    """To one that wants to end it."""
    return _failed(who_has_it(standing), "", {"refused": True, "lingers": False})


def ended() -> Failed:
    """To those who used it, where somebody ended it all the same."""
    return Failed(
        code="died", what="The engine was ended by `spark-chat stop --force`.",
        remedy="Restart the engine; the conversation is kept.", time=time.monotonic(),
    )  # fmt: skip


def unreadable(problem: ProtocolError, at_the_door: bool) -> Failed:
    """A frame made no sense: to somebody `at_the_door` it may be that one of us is of another version."""
    why = f"The engine that runs is of spark-chat {__version__}, protocol {PROTOCOL}." if at_the_door else ""
    remedy = "" if at_the_door else "The rest of the conversation is not affected."
    return Failed(
        code="protocol", what=str(problem), why=why, remedy=remedy, facts={"refused": True} if at_the_door else {},
        time=time.monotonic(),
    )  # fmt: skip


def _failed(what: str, why: str, facts: dict[str, object], remedy: str = OUT) -> Failed:
    return Failed(code="held", what=what, why=why, remedy=remedy, facts=facts, time=time.monotonic())


def who_has_it(standing: Standing) -> str:
    """One sentence."""
    engine = f"{standing.engine} with {base(standing.model)}"
    if not standing.people:
        return f"{engine} runs (pid {standing.pid}, since {clock(standing.since)}), and nobody uses it."
    return f"{engine} is used by {named(standing.people)}."


def base(model: str) -> str:
    """The model's name from its path."""
    return PurePath(model).name or "a model"


def named(people: Sequence[Person]) -> str:
    """spark-chat (pid 12, since 14:02) and ..."""
    return " and ".join(f"{one.program or 'a program'} (pid {one.pid}, since {clock(one.since)})" for one in people)


def clock(moment: float) -> str:
    """Seconds of the epoch as a person's clock shows them; with the day where it is not today."""
    then = local(moment)
    if then is None:
        return UNKNOWN
    return f"{then:%H:%M}" if then.date() == datetime.now().date() else f"{then:%d %b %H:%M}"
