"""Which notices stand above the composer: pure, from what is known of the engine, the settings and the last session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from spark_chat.chat.session import Overflow
from spark_chat.driver.snapshot import Phase, Snapshot
from spark_chat.meters.time_left import said as said_left
from spark_chat.tui.widgets.notice import Notice

if TYPE_CHECKING:
    from spark_chat.engine.protocol import Failed
    from spark_chat.history.message import Offer

GO_ON, RESTART, DISMISS, SETTINGS, LOG = "go", "restart", "esc", "settings", "log"
"""Actions, shown as the person's keys for them; and a key that stays."""
LOG_LINES = 8
ORDER = (
    "said", "editing", "attach", "failed", "overflow", "ask", "pending", "start", "fetch", "problems", "resume",
    "setup", "old_kernels", "tour",
)  # fmt: skip
"""Names of the notices, the one that matters most first: it stands on top and is the last to be left out."""


def one_go_on(found: Sequence[Notice]) -> tuple[Notice, ...]:
    """The go-on key is the topmost offer's alone: no other one shows it."""
    shown: list[Notice] = []
    for notice in found:
        if notice.accept and any(above.accept for above in shown):
            keys = tuple(key for key in notice.keys if key[0] != GO_ON)
            notice = replace(notice, keys=keys, accept="")
        shown.append(notice)
    return tuple(shown)


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
        left = said_left(snapshot.left_s)
        last = (f"{left.capitalize()}, as the last start went.",) if left else ()
        return Notice(
            "start", f"Starting the engine: {text}" if text else "Starting the engine", (*last, hint),
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
    keys += [(SETTINGS, "settings"), (LOG, "the log")]
    return Notice(
        "failed", what, body, tuple(keys), snapshot.log_end[-LOG_LINES:],
        accept="last_ran" if fallback else "", tone="bad",
    )  # fmt: skip


def overflow_notice(overflow: Overflow) -> Notice:
    """A prompt that does not fit: by how much, and what would make it fit. Nothing is lost either way."""
    title = (
        f"{overflow.least}{_s(overflow.excess, 'token')} too many: the conversation has "
        f"{overflow.least}{overflow.prompt_tokens:,}, "
        f"the context holds {overflow.context:,}."
    )
    title = title[:1].upper() + title[1:]
    if overflow.drop:
        body = "They stay here and on disk; the model just no longer sees them."
        key = (GO_ON, f"leave out the {_s(overflow.drop, 'oldest turn') if overflow.drop > 1 else 'oldest turn'}")
        return Notice("overflow", title, (body,), (key, (DISMISS, "not now")), accept="drop", tone="warn")
    body = "This prompt alone is too long: shorten it (up brings it back), or raise engine.context in the settings."
    return Notice("overflow", title, (body,), ((SETTINGS, "settings"), (DISMISS, "close")), tone="warn")


def editing_notice() -> Notice:
    """An earlier prompt stands in the composer."""
    return Notice(
        "editing", "Editing an earlier prompt: it is asked in its place, and the old one stays as a version.", (),
        (("enter", "ask"), (DISMISS, "leave it as it is")), dismissable=False,
    )  # fmt: skip


def resume_notice(offer: Offer) -> Notice:
    """Offer to go on with the last conversation, more urgently where it was cut off."""
    if offer.partial:
        title = "The last conversation was cut off in the middle of an answer."
    elif offer.killed:
        title = "The last conversation ended without a goodbye."
    else:
        title = "Go on with the last conversation?"
    body = [f"It began: {offer.title}"] if offer.title else []
    if offer.queued:
        body.append(f"{_s(offer.queued, 'prompt')} of it still waits to be sent.")
    keys = ((GO_ON, "go on there"), (DISMISS, "leave it"))
    return Notice("resume", title, tuple(body), keys, accept="resume")


def problems_notice(problems: Sequence[str]) -> Notice:
    """What is wrong with the settings. What could not be read has its default, or stays as it was."""
    title = "A setting could not be read." if len(problems) == 1 else f"{len(problems)} settings could not be read."
    return Notice("problems", title, tuple(problems), ((SETTINGS, "settings"), (DISMISS, "close")), tone="warn")


def attach_notice(names: Sequence[str]) -> Notice:
    """A paste that is the path of a file, or of several: they can be attached in its place."""
    title = f"Attach {names[0]}?" if len(names) == 1 else f"Attach these {len(names)} files?"
    body = ("Its text goes along with the prompt.",) if len(names) == 1 else (", ".join(names),)
    return Notice("attach", title, body, ((GO_ON, "attach"), (DISMISS, "leave the path")), accept="attach")


def said(sentence: str) -> Notice:
    """A sentence that goes away by itself."""
    return Notice("said", sentence)


def put_back_notice(changes: Sequence[str]) -> Notice:
    """What ran last runs again, and the file still holds what did not."""
    return Notice(
        "pending", "Back on what ran last; the settings file still holds what did not run.",
        (f"Putting it back changes {'; '.join(changes)}.",),
        ((GO_ON, "put it back in the file"), (DISMISS, "leave it there")), accept="put_back",
    )  # fmt: skip


def pending_notice(changes: Sequence[str], elsewhere: bool) -> Notice:
    """Saved settings wait for a restart."""
    where = "The settings file was changed" if elsewhere else "Saved"
    return Notice(
        "pending", f"{where}; takes effect at restart.", ("; ".join(changes),),
        ((RESTART, "restart the engine now, the conversation stays"), (DISMISS, "later")),
    )  # fmt: skip
