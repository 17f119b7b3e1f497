"""Which notices stand above the composer: pure, from what is known of the engine, the settings and the last session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spark_chat.chat.session import Overflow
from spark_chat.driver.snapshot import Phase, Snapshot
from spark_chat.engine.protocol import Failed
from spark_chat.tui.widgets.notice import Notice

GO_ON, RESTART, DISMISS, SETTINGS = "ctrl+g", "f5", "esc", "f2"
LOG_LINES = 8


@dataclass(frozen=True)
class Cut:
    """A conversation that ended without a goodbye: `turns` exchanges, `partial` where an answer was cut."""

    turns: int
    partial: bool
    opening: str
    """The first prompt's first line."""


def _s(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _sentences(failure: Failed) -> tuple[str, ...]:
    return tuple(sentence for sentence in (failure.why, failure.remedy) if sentence)


def engine_notice(snapshot: Snapshot, waiting: int, fallback: str, shown_before: bool) -> Notice | None:
    """Of the engine: a download, a start, a failure. `waiting`: prompts that wait for it. `fallback`: the last
    configuration that ran, in words, where it differs. `shown_before`: the app was started before on this machine."""
    progress = snapshot.progress
    kept = f"{_s(waiting, 'prompt')} will be sent when the engine is ready." if waiting else ""
    hint = kept or "Write meanwhile: it is sent when the engine is ready."
    if snapshot.phase is Phase.FETCHING:
        welcome = () if shown_before else ("Welcome. There is no model here yet, so a small one is fetched first.",)
        return Notice(
            "fetch", (progress.text if progress else "") or "Fetching a model", (*welcome, hint),
            fraction=progress.fraction if progress else None, dismissable=False,
        )  # fmt: skip
    if snapshot.phase is Phase.ASKING:
        text = progress.text if progress else "The model has to be downloaded first."
        return Notice("ask", text, (kept,) if kept else (), ((GO_ON, "download"),), accept="confirm", dismissable=False)
    if snapshot.phase is Phase.STARTING:
        text = progress.text or progress.stage if progress else ""
        return Notice(
            "start", f"Starting the engine: {text}" if text else "Starting the engine", (hint,),
            fraction=progress.fraction if progress else None, dismissable=False,
        )  # fmt: skip
    if snapshot.phase is Phase.FAILED:
        return failed_notice(snapshot, kept, fallback)
    return None


def failed_notice(snapshot: Snapshot, kept: str, fallback: str) -> Notice:
    """The engine failed: what, why, what to do, the log's end, and the keys that help."""
    failure = snapshot.failure
    what = failure.what if failure else "The engine stopped."
    body = (*(_sentences(failure) if failure else ()), *((kept,) if kept else ()))
    keys = [(RESTART, "start again")]
    if fallback:
        keys.insert(0, (GO_ON, f"go back to what ran last: {fallback}"))
    keys.append((SETTINGS, "settings"))
    return Notice(
        "failed", what, body, tuple(keys), snapshot.log_end[-LOG_LINES:],
        accept="last_ran" if fallback else "", tone="bad",
    )  # fmt: skip


def overflow_notice(overflow: Overflow) -> Notice:
    """A prompt that does not fit: by how much, and what would make it fit. Nothing is lost either way."""
    title = (
        f"{_s(overflow.excess, 'token')} too many: the conversation has {overflow.prompt_tokens:,}, "
        f"the context holds {overflow.context:,}."
    )
    if overflow.drop:
        body = "They stay here and on disk; the model just no longer sees them."
        key = (GO_ON, f"leave out the {_s(overflow.drop, 'oldest turn') if overflow.drop > 1 else 'oldest turn'}")
        return Notice("overflow", title, (body,), (key, (DISMISS, "not now")), accept="drop", tone="warn")
    body = "This prompt alone is too long: shorten it (up brings it back), or raise engine.context in the settings."
    return Notice("overflow", title, (body,), ((SETTINGS, "settings"), (DISMISS, "close")), tone="warn")


def resume_notice(cut: Cut) -> Notice:
    """The last session was cut off: offer to go on there."""
    what = "in the middle of an answer" if cut.partial else f"after {_s(cut.turns, 'turn')}"
    return Notice(
        "resume", f"The last conversation was cut off {what}.", (f"It began: {cut.opening}",),
        ((GO_ON, "go on there"), (DISMISS, "leave it")), accept="resume",
    )  # fmt: skip


def problems_notice(problems: Sequence[str], path: str) -> Notice:
    """What is wrong with the settings file. The app runs on defaults for what could not be read."""
    many = f" ({len(problems)} problems)" if len(problems) > 1 else ""
    title = f"Defaults are used for what could not be read in {path}{many}."
    return Notice("problems", title, tuple(problems), ((SETTINGS, "settings"), (DISMISS, "close")), tone="warn")


def pending_notice(changes: Sequence[str], elsewhere: bool) -> Notice:
    """Saved settings wait for a restart."""
    where = "The settings file was changed" if elsewhere else "Saved"
    return Notice(
        "pending", f"{where}; takes effect at restart.", ("; ".join(changes),),
        ((RESTART, "restart the engine now, the conversation stays"), (DISMISS, "later")),
    )  # fmt: skip
