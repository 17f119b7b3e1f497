"""From an exchange to what stands in the transcript: labels, notes, the line of numbers."""

from __future__ import annotations

from collections.abc import Iterator

from spark_chat.chat.conversation import Conversation, Exchange, Stage
from spark_chat.chat.wording import UNSEEN, end_line, failure_text, short_name, thought_note
from spark_chat.driver.lingering import QUEUE
from spark_chat.driver.snapshot import Snapshot
from spark_chat.tui.transcript import Restored
from spark_chat.tui.transcript.entry import QUEUED

__all__ = [
    "UNSEEN", "end_line", "entries_of", "failure_text", "reading_or_waiting", "reading_status", "short_name",
    "thought_note", "transcript_state", "unsent_mark", "waiting_mark",
]  # fmt: skip


def waiting_mark(ready: bool) -> str:
    """What stands under a prompt that waits. `ready`: the engine is up, so that others are before it."""
    return QUEUED if ready else "… queued: sent when the engine is ready"


def reading_or_waiting(snapshot: Snapshot) -> str:
    """What the engine does with a prompt that has no token yet."""
    progress = snapshot.progress
    return "waits for another window's answer" if progress and progress.stage == QUEUE else "reading the prompt"


def reading_status(exchange: Exchange, snapshot: Snapshot, seconds: int) -> str:
    """The same for how long, and how far the reading is, ` · 42 %`, where the engine tells."""
    far = "" if exchange.reading is None else f" · {exchange.reading:.0%}"
    return f"{reading_or_waiting(snapshot)} · {seconds} s{far}"


def unsent_mark(exchange: Exchange) -> str:
    """What stands under a prompt whose turn never came."""
    if exchange.stage is Stage.FAILED:
        return "✗ failed: not sent"
    return "■ not sent; the up key brings it back"


def transcript_state(exchange: Exchange) -> str:
    """The transcript's word for how it ended."""
    return {Stage.STOPPED: "stopped", Stage.FAILED: "failed"}.get(exchange.stage, "done")


def versions_text(at: int, of: int) -> str:
    """`2/3`; empty where there is just one."""
    return f"{at + 1}/{of}" if of > 1 else ""


def prompt_versions(conversation: Conversation, exchange: Exchange) -> str:
    """Which of its prompt's versions it has."""
    prompts = conversation.prompts(exchange)
    return versions_text(prompts.index(exchange.prompt_id), len(prompts))


def answer_versions(conversation: Conversation, exchange: Exchange) -> str:
    """Which of the answers to its prompt it has."""
    answers = conversation.answers(exchange)
    return versions_text(answers.index(exchange), len(answers))


def entries_of(conversation: Conversation, first: int = 0) -> Iterator[Restored]:
    """What stands on screen of a conversation, from exchange number `first` on."""
    for exchange in conversation.exchanges[first:]:
        unsent = exchange.stage.over and not exchange.began
        yield Restored(
            "prompt", exchange.id, exchange.prompt, mark=unsent_mark(exchange) if unsent else "",
            state="" if exchange.began else exchange.stage.value, versions=prompt_versions(conversation, exchange),
        )  # fmt: skip
        if exchange.began:
            coming = exchange.stage is Stage.ANSWERING or exchange.going_on
            yield Restored(
                "answer", exchange.id, str(exchange.answer), short_name(exchange.model), str(exchange.reasoning),
                thought_note(exchange.numbers), "" if coming else end_line(exchange),
                "answering" if coming else transcript_state(exchange), answer_versions(conversation, exchange),
            )  # fmt: skip
