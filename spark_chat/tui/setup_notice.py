"""The panel of a first run: what fits this machine, and how far setting it up has come. Pure."""

from __future__ import annotations

from dataclasses import replace

from spark_chat.driver.setup import Standing, Step
from spark_chat.tui.notices import DISMISS, GO_ON, SETTINGS
from spark_chat.tui.widgets.notice import Notice

NAME = "setup"


def notice(standing: Standing, brief: bool = False, named: str = "") -> Notice:
    """`brief`: a conversation is under way, and the panel takes little room. `named`: engine.model, where the settings
    name one: then that is what a start takes."""
    fit = standing.fit
    model = fit.model.short
    if standing.step is Step.OFFERED:
        if not fit.offers:
            return _notice(fit.title, fit.body, ())
        keys = ((GO_ON, "set it up"), (DISMISS, "not now"))
        return _notice(fit.title, () if brief else fit.body, keys, half=not brief)
    if standing.step is Step.STOPPED:
        keys = ((GO_ON, "go on there"), (DISMISS, "later"))
        return _notice(f"Setting up {model} was stopped: {standing.text}", (), keys, standing.fraction)
    if standing.step is Step.FAILED:
        other = f"`spark-chat pull {fit.model.name} --hub modelscope` fetches it from ModelScope."
        keys = ((GO_ON, "try again"), (DISMISS, "close"))
        return replace(_notice(standing.text, (standing.remedy, other), keys), tone="bad")
    if standing.step is Step.READY:
        return _ready(standing, model, named)
    doing = f"Fetching {model}" if standing.step is Step.FETCHING else "Building its kernels"
    return _notice(f"{doing}: {standing.text}", (), ((GO_ON, "stop"), (DISMISS, "hide; it goes on")), standing.fraction)


def _ready(standing: Standing, model: str, named: str) -> Notice:
    """All is done but the start."""
    title = f"{model} is here." if standing.text else f"{model} is here, and its kernels are built."
    problem = (standing.text, standing.remedy)
    if named:
        more = f"engine.model is {named}: empty it, or name this one, to start it."
        return _notice(title, (*problem, more), ((SETTINGS, "settings"), (DISMISS, "close")))
    keys = ((GO_ON, "start it now"), (DISMISS, "later"))
    return _notice(title, (*problem, "The conversation stays."), keys)


def _notice(
    title: str, body: tuple[str, ...], keys: tuple[tuple[str, str], ...], fraction: float | None = None,
    half: bool = False,
) -> Notice:  # fmt: skip
    accept = NAME if any(key == GO_ON for key, _ in keys) else ""
    return Notice(NAME, title, tuple(filter(None, body)), keys, fraction=fraction, accept=accept, half=half)
