"""The places of a saved prompt, asked for one after the other where there is no composer to fill them in. Pure."""

from __future__ import annotations

from spark_chat.prompts.prompt import PLACE, Prompt


class Asking:
    """Of one saved prompt. `text` is the prompt once `open` is False."""

    def __init__(self, prompt: Prompt) -> None:
        self.prompt = prompt
        self._values: dict[str, str] = {}

    @property
    def _left(self) -> list[str]:
        return [name for name in self.prompt.places if name not in self._values]

    @property
    def open(self) -> bool:
        """Whether a place is still to be filled in."""
        return bool(self._left)

    @property
    def question(self) -> str:
        """What is asked for now; "" where nothing is."""
        if not self.open:
            return ""
        name = self._left[0]
        default = self.prompt.defaults.get(name)
        return f"{name}:" if default is None else f"{name} (an empty line: {default}):"

    def answer(self, text: str) -> bool:
        """What goes into the place that is asked for; blank for what stands in for it. False where nothing does."""
        name = self._left[0]
        value = text if text.strip() else self.prompt.defaults.get(name, "")
        if not value.strip():
            return False
        self._values[name] = value
        return True

    @property
    def text(self) -> str:
        """With what was written in its places; those still open stand as they are."""
        return PLACE.sub(lambda found: self._values.get(found[1], found[0]), self.prompt.text)
