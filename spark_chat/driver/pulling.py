"""A model of a hub as a download that the driver can offer: its size first, then progress in bytes, rate and time left.

The driver shows it like any other: phase ASKING with the size, then FETCHING with `Standing.text`. Cancelling the
fetch ends it at once, and the next one goes on from there.
"""

from __future__ import annotations

import os

from spark_chat.driver.models import Download, Report
from spark_chat.models import find
from spark_chat.models.sanity import ModelProblem
from spark_chat.recipe.problem import RecipeProblem
from spark_chat.recipe.recipe import ModelRef


def allowed() -> bool:
    """Whether a hub may be asked: not where the person said that there is no network."""
    return os.environ.get("HF_HUB_OFFLINE", "").upper() not in ("1", "ON", "YES", "TRUE")


async def offered(repository: str) -> Download:
    """The download of `repository`, by the hub's word on its size: what is here already is not counted.

    Raises RecipeProblem where the hub does not have it or can't be asked.
    """
    from spark_chat.pull.pull import PullProblem, planned
    from spark_chat.pull.said import Request

    try:
        found = await planned(Request(repository=repository))
    except PullProblem as problem:
        raise RecipeProblem(
            f"{repository} is not on this machine. {problem.what}", problem.remedy, key="engine.model"
        ) from problem

    async def fetch(report: Report) -> ModelRef:
        return await _fetch(repository, report)

    return Download(repository, max(0, found.size - found.present), fetch)


async def _fetch(repository: str, report: Report) -> ModelRef:
    from spark_chat.pull.pull import PullProblem, pull
    from spark_chat.pull.said import Request

    try:
        path, _ = await pull(
            Request(repository=repository),
            lambda standing: report(standing.fraction, f"Fetching {repository}: {standing.text}"),
        )
        return find.at(path, repository)
    except PullProblem as problem:
        raise RecipeProblem(problem.what, problem.remedy, key="engine.model") from problem
    except ModelProblem as problem:
        raise RecipeProblem(str(problem), key="engine.model") from problem
