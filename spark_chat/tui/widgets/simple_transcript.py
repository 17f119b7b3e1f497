from __future__ import annotations

from typing import Any

from textual.containers import VerticalScroll

from spark_chat.tui.plain import Plain


class Transcript(VerticalScroll):
    def __init__(self, **kw: Any) -> None:
        super().__init__(**kw)
        self.items: dict[str, Any] = {}

    def add_prompt(self, id: str, text: str, queued: bool = False) -> None:
        self.mount(Plain(f"you   {text}"))

    def set_queued(self, id: str, queued: bool) -> None: ...
    def add_answer(self, id: str, label: str) -> None:
        self.items[id] = [Plain(label), label + "  "]
        self.mount(self.items[id][0])

    def append(self, id: str, text: str, reasoning: str) -> None:
        self.items[id][1] += text
        self.items[id][0].show(self.items[id][1])

    def finish(self, id: str, numbers: Any, failure: Any) -> None:
        if id in self.items:
            self.append(id, f"\n{numbers}", "")

    def clear(self) -> None:
        self.remove_children()

    def restore(self, items: Any) -> None: ...
    def add_notice(self, text: str) -> None: ...
    def toggle_reasoning(self) -> None: ...
