"""The line of meters: what the engine does now, in as many words as the terminal is wide."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from textual.content import Content
from textual.events import Resize
from textual.widget import Widget

from spark_chat.driver.snapshot import Phase, Snapshot
from spark_chat.meters import units
from spark_chat.meters.numbers import AnswerNumbers

BARS = "▁▂▃▄▅▆▇█"
GIB = 1 << 30
SAMPLES = 12
"""Points kept for a sparkline: a handful of seconds at the rate the meters are refreshed."""


@dataclass(frozen=True)
class Readings:
    """What the meters show. None is not known: shown as "-" or left out."""

    tok_s: float | None = None
    accept: float | None = None
    tok_s_trail: tuple[float, ...] = ()
    accept_trail: tuple[float, ...] = ()
    context_used: int | None = None
    context: int | None = None
    memory: int | None = None
    """Bytes held by the worker."""
    memory_all: int | None = None
    gpu: int | None = None
    queue: int = 0


def bars(values: tuple[float, ...], width: int) -> str:
    """The last `width` values as bars from 0 to their highest."""
    shown = values[-width:] if width else ()
    top = max(shown, default=0.0)
    if top <= 0:
        return ""
    return "".join(BARS[min(7, int(value / top * 7.999))] for value in shown)


def gib(size: int) -> str:
    """Bytes in GiB without the unit, rounded as `units.size` does: two such figures share one unit."""
    return f"{size / GIB:.1f}"


@dataclass(frozen=True)
class Part:
    """One meter in words: `context 3.1k / 8.2k`, with the bars after it."""

    name: str
    figure: str
    unit: str = ""
    trail: str = ""

    @property
    def text(self) -> str:
        return self.name + self.figure + self.unit + self.trail


def parts(readings: Readings, spark: int, brief: bool) -> list[Part]:
    """The meters in order of weight, with `spark` bars at most, under brief or full names."""
    of = "/" if brief else " / "
    speed, accept = bars(readings.tok_s_trail, spark), bars(readings.accept_trail, spark)
    found = [
        Part("", units.rate(readings.tok_s), " tok/s", f" {speed}" if speed else ""),
        Part("accept ", units.accept(readings.accept), "", f" {accept}" if accept else ""),
    ]
    if readings.context:
        used = f"{units.count(readings.context_used)}{of}{units.count(readings.context)}"
        found.append(Part("ctx " if brief else "context ", used))
    if readings.memory is not None:
        whole = f"{of}{gib(readings.memory_all)}" if readings.memory_all else ""
        found.append(Part("mem " if brief else "memory ", f"{gib(readings.memory)}{whole}", " GiB"))
    if readings.gpu is not None:
        found.append(Part("gpu ", gib(readings.gpu), " GiB"))
    found.append(Part("queue ", str(readings.queue)))
    return found


def meters_text(readings: Readings, width: int) -> Content:
    """The line in at most `width` cells: bars go first, then long names, then the meters of least weight."""
    for spark, brief, gap in ((12, False, "   "), (6, False, "   "), (6, True, "  "), (0, True, "  ")):
        found = parts(readings, spark, brief)
        if _width(found, gap) <= width:
            return _line(found, gap)
    while len(found) > 1 and _width(found, "  ") > width:
        keep_queue = readings.queue and len(found) > 2
        found.pop(-2 if keep_queue else -1)
    return _line(found, "  ").truncate(max(1, width), ellipsis=True)


def _width(found: list[Part], gap: str) -> int:
    return sum(len(part.text) for part in found) + len(gap) * (len(found) - 1)


def _line(found: list[Part], gap: str) -> Content:
    pieces: list[tuple[str, str]] = []
    for part in found:
        pieces.append((gap if pieces else "", ""))
        pieces += [(part.name, "$text-muted"), (part.figure, "bold"), (part.unit, "$text-muted")]
        pieces.append((part.trail, "$text-accent"))
    return Content.assemble(*pieces)


def readings(
    snapshot: Snapshot,
    numbers: AnswerNumbers | None,
    trails: tuple[Trail, Trail],
    queue: int,
    memory_all: int | None,
    used: int | None,
) -> Readings:
    """What the meters show of the engine and of the answer that runs or ran last. `used`: tokens that the
    conversation holds of the context."""
    live = numbers is not None and numbers.finish is None
    speed = accept = None
    if numbers is not None:
        speed = numbers.live_tok_s if live and numbers.live_tok_s is not None else numbers.decode_tok_s
        accept = numbers.live_accept_length if live and numbers.live_accept_length else numbers.accept_length
    statistics = snapshot.statistics
    if live and numbers is not None and numbers.prompt_tokens is not None and numbers.tokens:
        used = numbers.prompt_tokens + numbers.tokens
    return Readings(
        tok_s=speed,
        accept=accept,
        tok_s_trail=tuple(trails[0]),
        accept_trail=tuple(trails[1]),
        context_used=used,
        context=snapshot.ready.context if snapshot.ready and snapshot.phase is Phase.READY else None,
        memory=statistics.memory_bytes if statistics else None,
        memory_all=memory_all,
        gpu=statistics.gpu_bytes if statistics else None,
        queue=queue,
    )


class Trail(deque[float]):
    """The last values of one figure."""

    def __init__(self) -> None:
        super().__init__(maxlen=SAMPLES)

    def add(self, value: float | None) -> None:
        if value is not None:
            self.append(value)


class Meters(Widget):
    """Shows `Readings` in one line."""

    def __init__(self) -> None:
        super().__init__(id="meters")
        self.readings = Readings()

    def show(self, readings: Readings) -> None:
        if readings != self.readings:
            self.readings = readings
            self.refresh()

    def on_resize(self, event: Resize) -> None:
        self.refresh()

    def render(self) -> Content:
        return meters_text(self.readings, self.content_size.width)
