"""An exchange: one prompt and one answer to it, raw, byte for byte as typed and as received. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from spark_chat.meters.numbers import AnswerNumbers

if TYPE_CHECKING:
    from spark_chat.engine.protocol import Failed, Opening

TOO_LONG = "too long for the context"
"""The reason of a prompt that did not fit."""
CUT = ("length", "context", "abort", "failed")
"""How an answer ends that could have gone on."""
AGAIN = "+"
"""Between an exchange's id and the number of its continuation."""


class Stage(Enum):
    """How far an exchange is. STOPPED and FAILED keep what had come."""

    QUEUED = "queued"
    ANSWERING = "answering"
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"

    @property
    def over(self) -> bool:
        return self in (Stage.DONE, Stage.STOPPED, Stage.FAILED)


class Gathered:
    """Text that grows by pieces; joined only when it is asked for, so that a long answer costs no more a piece."""

    def __init__(self, text: str = "") -> None:
        self._pieces = [text] if text else []

    def add(self, piece: str) -> None:
        if piece:
            self._pieces.append(piece)

    def __str__(self) -> str:
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    def __bool__(self) -> bool:
        return bool(self._pieces)


@dataclass
class Exchange:
    """One prompt and its answer. `model` is the name of the one that answered, as a person reads it.

    Another answer to the same prompt is an exchange of its own with the same `prompt_id`; another wording of the
    prompt one with the same `parent`.
    """

    id: str
    prompt: str
    model: str = ""
    stage: Stage = Stage.QUEUED
    answer: Gathered = field(default_factory=Gathered)
    reasoning: Gathered = field(default_factory=Gathered)
    numbers: AnswerNumbers | None = None
    failure: Failed | None = None
    reason: str = ""
    """Why it failed, in a sentence; kept with the conversation."""
    reading: float | None = None
    """How much of the prompt was read, 0..1, before the first token; None where the engine does not tell."""
    engine_figures: dict[str, object] = field(default_factory=dict)
    used: dict[str, object] = field(default_factory=dict)
    """Settings that the answer depended on, by dotted key, and the engine that gave it; kept with the answer."""
    began: bool = False
    """Whether the engine ever began to answer it."""
    parent: str = ""
    """Id of the exchange that it follows; "" for none."""
    prompt_id: str = ""
    """Id of the prompt; the exchange's own where this is the first answer to it."""
    edits: str = ""
    """Id of the prompt that this one is another version of."""
    kept_as: str = ""
    """The answer's id where it is kept, if it has another than its exchange gives it."""
    earlier: list[AnswerNumbers] = field(default_factory=list)
    """Numbers of the parts before, of an answer that was continued; `numbers` are of the last part alone."""
    going_on: bool = False
    """It waits, or runs, to be continued behind what it has."""
    continued: int = 0
    """How often it was asked to go on."""
    turn: int = 0
    """Of several versions the one with the highest was shown last."""

    def __post_init__(self) -> None:
        self.prompt_id = self.prompt_id or self.id

    @property
    def answer_id(self) -> str:
        """The answer's id where it is kept."""
        return self.kept_as or f"{self.id}.answer"

    @property
    def asked_as(self) -> str:
        """The id that the engine is asked under: another one each time that it goes on."""
        return f"{self.id}{AGAIN}{self.continued}" if self.continued else self.id

    @property
    def owns_prompt(self) -> bool:
        """Whether the prompt came with this exchange, and not with an earlier answer to it."""
        return self.prompt_id == self.id

    @property
    def unseen(self) -> bool:
        """Whether it is over and goes along with no later prompt: there is no answer to it."""
        return self.stage.over and not str(self.answer).strip()

    @property
    def opening(self) -> Opening | None:
        """What its answer already said, where it waits, or runs, to go on behind that."""
        if not self.going_on:
            return None
        from spark_chat.engine.protocol import Opening

        return Opening(text=str(self.answer), thought=str(self.reasoning))

    @property
    def cut(self) -> bool:
        """Whether its answer ended before the model did, so that it can be continued."""
        if not self.began or not self.stage.over or not (self.answer or self.reasoning):
            return False
        finish = self.numbers.finish if self.numbers is not None else None
        return self.stage in (Stage.STOPPED, Stage.FAILED) or finish in CUT

    def go_on(self) -> None:
        """Wait to be continued. The numbers of what there is are put aside: the next ones count the new part alone."""
        self.earlier.append(self.numbers or AnswerNumbers())
        self.continued += 1
        self.numbers, self.failure, self.going_on, self.stage = None, None, True, Stage.QUEUED

    def stay(self) -> None:
        """It is not continued after all: as it was before `go_on`."""
        self.going_on, self.numbers = False, self.earlier.pop()
        ended = self.numbers.finish in ("length", "context", "stop")
        self.stage = Stage.FAILED if self.reason else Stage.DONE if ended else Stage.STOPPED

    def recast(self) -> None:
        """What came as its answer so far was a thought."""
        self.reasoning.add(str(self.answer))
        self.answer = Gathered()

    def end(self, numbers: AnswerNumbers, failure: Failed | None) -> None:
        """The answer is over, with these numbers."""
        self.numbers, self.failure, self.going_on = numbers, failure, False
        if failure is not None:
            self.reason = TOO_LONG if failure.code == "overflow" else failure.what
            self.stage = Stage.FAILED
        else:
            self.reason = ""
            self.stage = Stage.STOPPED if numbers.finish == "abort" else Stage.DONE
