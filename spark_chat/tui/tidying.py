"""Kernels of versions that are gone: offered for deletion with their size, once for each version that came after."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from spark_chat.tui.notices import DISMISS, GO_ON
from spark_chat.tui.widgets.notice import Notice

if TYPE_CHECKING:
    from spark_chat.recipe.kernel_cache import Left
    from spark_chat.tui.app import SparkApp

NAME = "old_kernels"
SHOWN = 3
"""So many are named."""


def notice(caches: list[Left]) -> Notice:
    from spark_chat.meters.units import size

    names = ", ".join(f"{one.path.name} ({size(one.size)})" for one in caches[:SHOWN])
    more = f" and {len(caches) - SHOWN} more" if len(caches) > SHOWN else ""
    return Notice(
        NAME, f"Kernels of versions that are not installed any more take {size(sum(one.size for one in caches))}.",
        (f"{names}{more}. `spark-chat doctor --fix` deletes them later, too.",),
        ((GO_ON, "delete them"), (DISMISS, "keep them")), accept=NAME,
    )  # fmt: skip


class Tidying:
    """Of one app."""

    def __init__(self, app: SparkApp) -> None:
        self._app = app
        self._found: list[Left] = []

    async def at_start(self) -> None:
        """Look, off the loop; nothing where it was offered to this version already."""
        self._found = await asyncio.to_thread(_to_offer)
        if self._found:
            self._app.chat.view.put(notice(self._found))

    async def accept(self) -> None:
        """Delete them."""
        from spark_chat.meters.units import size
        from spark_chat.recipe import kernel_cache

        found, self._found = self._found, []
        if not found:
            return
        self._app.chat.view.take_down(NAME)
        try:
            freed = await asyncio.to_thread(kernel_cache.delete, found)
        except OSError as error:
            self._app.say(f"Not all old kernels could be deleted: {error.strerror or error}.")
        else:
            self._app.say(f"{size(freed)} of old kernels were deleted.")


def _to_offer() -> list[Left]:
    from spark_chat.locations import NoHome
    from spark_chat.recipe import kernel_cache
    from spark_chat.settings import noted

    try:
        if not kernel_cache.root().is_dir() or noted.get(noted.KERNELS) == kernel_cache.tag():
            return []
        found = kernel_cache.left()
    except (OSError, ValueError, RecursionError, NoHome):
        return []
    if found:
        noted.put(noted.KERNELS, kernel_cache.tag())
    return found
