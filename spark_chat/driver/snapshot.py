"""What a front end may know of the engine at one moment, and what it is told as it changes."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spark_chat.engine.protocol import Failed, Left, Progress, Ready, Statistics
    from spark_chat.meters.numbers import AnswerNumbers
    from spark_chat.optimizations.optimization import Badge
    from spark_chat.recipe.recipe import Recipe
    from spark_chat.settings.schema import Settings


class Phase(Enum):
    """Where the engine is. ASKING: a large download waits for the person's yes."""

    IDLE = "idle"
    FETCHING = "fetching"
    ASKING = "asking"
    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass(frozen=True)
class Snapshot:
    """`queue`: prompts that wait. `answering`: id of the one that is answered. `log_end`: the log's last lines,
    where the engine failed. `last_good`: the settings that ran last, offered where these ones failed to start.
    `pending`: dotted keys whose saved value differs from the running one and takes effect at restart.
    `ready_s`: seconds from the worker's spawn to ready. `left_s`: seconds until then, by how the last start went.
    `context_used`: tokens that the last turn holds of the engine's context.
    `left`: how the engine goes on without this driver, which is closed."""

    phase: Phase = Phase.IDLE
    recipe: Recipe | None = None
    progress: Progress | None = None
    left_s: float | None = None
    ready: Ready | None = None
    ready_s: float | None = None
    failure: Failed | None = None
    log_end: tuple[str, ...] = ()
    badges: tuple[Badge, ...] = ()
    statistics: Statistics | None = None
    queue: int = 0
    answering: str | None = None
    context_used: int = 0
    turns: int = 0
    pending: tuple[str, ...] = ()
    last_good: Settings | None = None
    left: Left | None = None


@dataclass(frozen=True)
class Changed:
    """Something in the snapshot changed."""

    snapshot: Snapshot


@dataclass(frozen=True)
class Piece:
    """Text of the answer `id` came; `numbers` so far. `reading`: how much of the prompt was read, 0..1, while there is
    no token yet and the engine tells. `was_thought`: all text before was reasoning."""

    id: str
    text: str
    reasoning: str
    numbers: AnswerNumbers
    reading: float | None = None
    was_thought: bool = False


@dataclass(frozen=True)
class Answered:
    """The answer `id` is over. `failure` where it did not come to an end of its own: then nothing of the prompt is
    lost, and it may be asked again. `settings_used`: by dotted key, what the answer depended on. `engine_figures`: the
    engine's own figures of it, to stand beside ours in the proof panel."""

    id: str
    numbers: AnswerNumbers
    failure: Failed | None = None
    settings_used: dict[str, object] = field(default_factory=dict)
    engine_figures: dict[str, object] = field(default_factory=dict)


Update = Changed | Piece | Answered
