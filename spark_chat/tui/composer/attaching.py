"""Files in the composer: completed after an @, attached as chips, and looked at again before they are sent.

The disk is asked in threads, but for a look at files of a megabyte at most that are about to be sent.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message
from textual.widgets.text_area import Location

from spark_chat.tui.composer.completion import Completion
from spark_chat.tui.composer.suggest import Mention, Suggestion, mention

if TYPE_CHECKING:
    from spark_chat.files.walk import Files
    from spark_chat.tui.composer.chips import Chips
    from spark_chat.tui.composer.composer import Composer

MOST = 50
"""Files that are listed."""
FRESH_S = 10.0
"""A list of files is used this long before the folder is walked again."""
PATHS = ("/", "~", "./", "../")
"""Beginnings of a path: then one folder is listed, wherever it is."""


class PathsDropped(Message, namespace="composer"):
    """A paste that names files and nothing else: they may be attached in its place."""

    def __init__(self, pasted: str, paths: tuple[Path, ...]) -> None:
        super().__init__()
        self.pasted, self.paths = pasted, paths


class Attaching:
    """Of one composer. `working`: the folder that relative paths count from."""

    def __init__(self, composer: Composer, chips: Chips, working: Path | None = None) -> None:
        self._composer, self._chips = composer, chips
        self._working = working
        self._files: Files | None = None
        self._walked_at = 0.0

    @property
    def working(self) -> Path:
        """Where the app was started; the root where that folder is gone."""
        if self._working is None:
            try:
                self._working = Path.cwd()
            except OSError:
                self._working = Path("/")
        return self._working

    # ------------------------------------------------------------------ completion

    def mentioned(self) -> Mention | None:
        """The file that is being named at the cursor."""
        prompt = self._composer.prompt
        row, column = prompt.cursor_location
        return mention(prompt.document.get_line(row), column) if prompt.selection.is_empty else None

    def complete(self, wanted: Mention) -> None:
        """List the files that `wanted` may become, once they are found."""
        self._composer.run_worker(self._complete(wanted), name="files", group="files", exclusive=True)

    async def _complete(self, wanted: Mention) -> None:
        from spark_chat.files.rank import ranked

        query, note = wanted.query, ""
        if query.startswith(PATHS):
            head, _, last = query.rpartition("/")
            names = await asyncio.to_thread(self._inside, f"{head}/" if "/" in query else query)
            fitting = [name for name in names if last.startswith(".") or not name.startswith(".")]
            found = [f"{head}/{name}" for name in await asyncio.to_thread(ranked, fitting, last, MOST)]
        else:
            files = await self._walked()
            found = await asyncio.to_thread(ranked, files.paths, query, MOST)
            note = "" if files.whole else f" · of the first {len(files.paths):,} files"
        if self.mentioned() == wanted:
            rows = [self._row(path, wanted) for path in found]
            self._composer.query_one(Completion).follow(self._composer.prompt.text, rows, note)

    def _inside(self, folder: str) -> tuple[str, ...]:
        from spark_chat.files.attachment import full
        from spark_chat.files.walk import inside

        return inside(full(folder, self.working))

    async def _walked(self) -> Files:
        from spark_chat.files.walk import below

        if self._files is None or time.monotonic() - self._walked_at > FRESH_S:
            self._files = await asyncio.to_thread(below, self.working)
            self._walked_at = time.monotonic()
        return self._files

    def _row(self, path: str, wanted: Mention) -> Suggestion:
        from spark_chat.files.attachment import full

        if path.endswith("/"):
            return Suggestion(path, "", f"@{path}", wanted.start)
        return Suggestion(path, "", "", wanted.start, full(path, self.working))

    # ------------------------------------------------------------------ attaching

    def take(self, path: Path, start: Location, end: Location, written: str = "") -> None:
        """Attach the file at `path` in place of what is written from `start` to `end`, once it is read."""
        self._composer.run_worker(self._attach(path, start, end, written), name="attach", group="attach")

    def attach(self, text: str) -> None:
        """Attach the file that a person names, where the cursor is."""
        from spark_chat.files.attachment import full

        here = self._composer.prompt.cursor_location
        self.take(full(text.strip().strip("'\""), self.working), here, here)

    async def _attach(self, path: Path, start: Location, end: Location, written: str) -> None:
        from spark_chat.files.attachment import Refused, attach

        composer = self._composer
        try:
            file = await asyncio.to_thread(attach, path, self.working)
        except Refused as refused:
            composer.post_message(composer.Refused(str(refused)))
            return
        prompt = composer.prompt
        if prompt.document.get_text_range(start, end) != written:  # it was written on meanwhile
            start = end = prompt.cursor_location
        prompt.put_in(f"{self._chips.mark_file(file)} ", start, end)

    @property
    def files(self) -> dict[str, str]:
        """What is sent of each file that is attached, by chip."""
        return {chip: file.inlined for chip, file in self._chips.files(self._composer.prompt.text).items()}

    def weigh(self, tokens: Mapping[str, int]) -> None:
        """Show on each chip how many tokens its file has."""
        for chip, count in tokens.items():
            self._chips.weigh(chip, count)
        if tokens:
            self._composer.prompt.notify_style_update()  # else its lines are drawn as they were

    # ------------------------------------------------------------------ dropped files

    def look_at_paste(self, pasted: str) -> None:
        """Whether a paste names files: told by `PathsDropped`."""
        if pasted[:1] in ("/", "~", "'", '"', "f") and "\n" not in pasted.strip():
            self._composer.run_worker(self._look_at_paste(pasted), name="dropped", group="dropped", exclusive=True)

    async def _look_at_paste(self, pasted: str) -> None:
        from spark_chat.files.dropped import paths

        found = await asyncio.to_thread(paths, pasted)
        if found and pasted in self._composer.prompt.text:
            self._composer.post_message(PathsDropped(pasted, found))

    def take_dropped(self, dropped: PathsDropped) -> None:
        """Attach what was dropped, in place of its paths."""
        prompt = self._composer.prompt
        at = prompt.text.rfind(dropped.pasted)
        start = end = prompt.cursor_location
        if at >= 0:
            start, end = prompt.location_of(at), prompt.location_of(at + len(dropped.pasted))
            prompt.put_in("", start, end)
        for path in dropped.paths:
            self.take(path, start, start)

    # ------------------------------------------------------------------ before it is sent

    def moved(self, document: str) -> str:
        """A sentence about the files that changed since they were attached; empty where none did. Their chips hold
        what is in them now, or, of those that are gone, what was attached: sent again, they go as they are."""
        from spark_chat.files.attachment import Refused, attach

        said = []
        for chip, file in self._chips.files(document).items():
            if not file.moved:
                continue
            try:
                fresh = attach(file.path, self.working)
            except Refused as refused:
                self._chips.let_be(chip)
                said.append(f"{refused} Enter sends it as it was when it was attached.")
            else:
                self._relabel(chip, self._chips.mark_file(fresh, chip))
                said.append(f"{file.name} has changed since it was attached. Enter sends it as it is now.")
        return " ".join(said)

    def _relabel(self, chip: str, mark: str) -> None:
        from spark_chat.tui.composer.chips import spans

        prompt = self._composer.prompt
        for row, line in enumerate(prompt.document.lines):
            for span in spans(line):
                if span.chip == chip:
                    prompt.put_in(mark, (row, span.start), (row, span.end))
                    return
