"""All conversations over the chat: search, open, name, pin, delete, undo. What stands in the composer stays."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Input, Static

from spark_chat.history.message import Hit
from spark_chat.tui.plain import Plain, one_line
from spark_chat.tui.talks.keys import hint
from spark_chat.tui.talks.list import TalkList
from spark_chat.tui.talks.window import PAGE

if TYPE_CHECKING:
    from spark_chat.tui.app import SparkApp

HINT_LINES, ROOMY = 3, 16
"""Lines of the hints, on a screen of at least so many rows; else one."""


def _key(key: str, action: str, help: str, id: str) -> Binding:
    return Binding(key, action, help, id=f"talks.{id}", show=False, priority=True)


class TalksScreen(Screen[None]):
    """`search`: what stands in the search at first."""

    AUTO_FOCUS = "#talks-search"
    VERTICAL_BREAKPOINTS = [(0, "-low"), (12, "-tall")]
    BINDINGS: ClassVar[list[BindingType]] = [
        _key("escape", "back", "Back", "back"),
        _key("f3", "close", "Back to the chat", "close"),
        _key("enter", "enter", "Open", "open"),
        _key("up", "move(-1)", "The row above", "up"),
        _key("down", "move(1)", "The row below", "down"),
        _key("pageup", "page(-1)", "A page up", "page_up"),
        _key("pagedown", "page(1)", "A page down", "page_down"),
        _key("ctrl+home", "move(-1000000000)", "The first", "first"),
        _key("ctrl+end", "move(1000000000)", "The last", "last"),
        _key("ctrl+n", "new", "A new conversation", "new"),
        _key("ctrl+r", "rename", "Rename", "rename"),
        _key("ctrl+t", "pin", "Pin, or no longer", "pin"),
        _key("ctrl+d", "delete", "Delete", "delete"),
        _key("ctrl+z", "undo", "Bring back what was deleted", "undo"),
    ]

    def __init__(self, search: str = "") -> None:
        super().__init__()
        self._first_search = self._search = search
        self._naming = ""
        """Id of the conversation that gets a name."""
        self._seen = False
        self._follow = ""
        """The conversation to choose wherever it stands when the list is read anew."""

    def compose(self) -> ComposeResult:
        yield Plain("Conversations", id="talks-title")
        yield Input(self._first_search, placeholder="search all that was said", id="talks-search", compact=True)
        yield TalkList()
        yield Plain("", id="talks-said")
        yield Static("", id="talks-hints", markup=False)

    @property
    def _app(self) -> SparkApp:
        return cast("SparkApp", self.app)

    @property
    def list(self) -> TalkList:
        """The rows."""
        return self.query_one(TalkList)

    @property
    def _input(self) -> Input:
        return self.query_one("#talks-search", Input)

    async def on_mount(self) -> None:
        self.list.here = self._app.session.conversation.id
        self._hint()
        self._load()

    def on_resize(self) -> None:
        self._hint()

    # ------------------------------------------------------------------ what stands there

    def _load(self) -> None:
        """Ask anew for what is to be seen; an answer to an older question is not waited for."""
        self.run_worker(self._read(), group="talks", exclusive=True)

    async def _read(self) -> None:
        journal, shelf = self._app.journal, self._app.desk.shelf
        if journal is None or shelf is None:
            return
        words = self._search
        if words.strip():
            hits = await journal.committed(shelf.search(words)) or []
            for at, hit in enumerate(hits):
                if hit.listed.conversation == self._follow:
                    self.list.window.chosen = at
            self._follow = ""
            self.list.empty = "Nothing was found. Every word must be there; the beginning of a word is enough."
            self.list.window.reset(len(hits), hits)
            self.list.show(2)
            self._title(f'{len(hits)}{" or more" if len(hits) == PAGE else ""} with "{one_line(words)}"')
        else:
            first = max(0, self.list.window.chosen // PAGE * PAGE)
            page = await journal.committed(shelf.page(first, PAGE))
            self.list.empty = "There is no conversation yet."
            if page is not None:
                if not self._seen and len(page.rows) > 1 and page.rows[0].conversation == self.list.here:
                    self.list.window.chosen = 1  # one comes here for another one
                for at, item in enumerate(page.rows, page.first):
                    if item.conversation == self._follow:
                        self.list.window.chosen = at
                self.list.window.reset(page.total, page.rows, page.first)
            self._seen, self._follow = True, ""
            self.list.show(1)
            self._title(f"{self.list.window.total:,}")

    def _title(self, what: str) -> None:
        self.query_one("#talks-title", Plain).show(f"Conversations · {what}")

    @on(TalkList.Wanted)
    async def _more(self, event: TalkList.Wanted) -> None:
        event.stop()
        journal, shelf = self._app.journal, self._app.desk.shelf
        if journal is not None and shelf is not None:
            page = await journal.committed(shelf.page(event.first, PAGE))
            if page is not None and not self._search.strip():
                self.list.window.put(page.first, page.total, page.rows)
                self.list.show(1)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        if not self._naming and event.value != self._search:
            self._search = event.value
            self.list.window.chosen = 0
            self._say("")
            self._load()

    def _say(self, sentence: str) -> None:
        said = self.query_one("#talks-said", Plain)
        said.show(sentence)
        said.display = bool(sentence)

    def _hint(self) -> None:
        """The keys that there is room for."""
        size = self.app.size
        lines = HINT_LINES if size.height >= ROOMY else 1
        self.query_one("#talks-hints", Static).update(hint(bool(self._naming), size.width - 4, lines))

    # ------------------------------------------------------------------ keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While a name is written, keys are the name's, but for those that end it."""
        return not self._naming or action not in ("move", "page", "new", "rename", "pin", "delete", "undo")

    def action_move(self, step: int) -> None:
        self.list.move(step)

    def action_page(self, step: int) -> None:
        self.list.page(step)

    def action_back(self) -> None:
        """Away from the name, else from the search, else back to the chat."""
        if self._naming:
            self._end_naming()
        elif self._input.value:
            self._input.value = ""
        else:
            self.dismiss()

    def action_close(self) -> None:
        self.dismiss()

    @on(TalkList.Opened)
    def action_enter(self) -> None:
        if self._naming:
            self._keep_name()
            return
        item, found = self.list.chosen, self.list.window.row
        if item is None:
            return
        if item.held:
            self._say("Another spark-chat has it open: leave it there first.")
            return
        message = found.message if isinstance(found, Hit) else ""
        self.dismiss()
        desk = self._app.desk
        self._app.run_worker(desk.resume(item.conversation, message), name="resume", exclusive=True, group="resume")

    def action_new(self) -> None:
        self.dismiss()
        self._app.run_command("new")

    def action_pin(self) -> None:
        item, shelf = self.list.chosen, self._app.desk.shelf
        if item is not None and shelf is not None:
            shelf.pin(item.conversation, not item.pinned)
            self._follow = item.conversation
            self._say(f"{'No longer pinned' if item.pinned else 'Pinned'}: {one_line(item.title)}")
            self._load()

    def action_delete(self) -> None:
        item = self.list.chosen
        if item is None:
            return
        if item.held:
            self._say("Another spark-chat has it open, so it can't be deleted here.")
            return
        self._app.desk.delete(item.conversation, item.title)
        self.list.here = self._app.session.conversation.id
        self._say(f"Deleted: {one_line(item.title)}. ctrl+z brings it back, as long as this spark-chat runs.")
        self._load()

    def action_undo(self) -> None:
        back = self._app.desk.undo()
        self._follow = back.conversation if back else ""
        self._say(f"Brought back: {one_line(back.title)}" if back else "Nothing was deleted in this session.")
        self._load()

    # ------------------------------------------------------------------ a name

    def action_rename(self) -> None:
        item = self.list.chosen
        if item is not None:
            self._naming = item.conversation
            self._say("Its name:")
            self._input.value = one_line(item.title)
            self._input.cursor_position = len(self._input.value)
            self._hint()

    def _keep_name(self) -> None:
        if self._app.desk.shelf is not None:
            self._app.desk.shelf.rename(self._naming, self._input.value)
        self._end_naming()

    def _end_naming(self) -> None:
        self._input.value = self._search
        self._naming = ""
        self._say("")
        self._hint()
        self._load()
