"""A text widget for whatever is not ours: never read as markup, cleaned of what could drive the terminal."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static


def cleaned(text: str) -> str:
    """`text` as a terminal may show it."""
    from spark_chat.text.clean import clean

    return clean(text)


def one_line(text: str) -> str:
    """`text` as one line of what a terminal may show: line ends and tabs are spaces."""
    return " ".join(cleaned(text).split())


class Plain(Static):
    """`Static` whose content is text and nothing else."""

    def __init__(
        self, text: str = "", *, name: str | None = None, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(Content(cleaned(text)), markup=False, name=name, id=id, classes=classes)

    def show(self, text: str) -> None:
        """Replaces the text shown."""
        self.update(Content(cleaned(text)))
