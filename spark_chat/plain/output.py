"""What is written: answers to standard output, all else to standard error, in order and by a thread, so that a reader
who does not read holds up no key and no signal. No control character passes."""

from __future__ import annotations

import os
import queue
import select
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from spark_chat.text.clean import clean
from spark_chat.text.wrap import wrap

ANSWERS, WORDS = 1, 2


class Output:
    """`on_trouble` is called once, on the thread, where standard output takes no more: the error says why."""

    def __init__(self, on_trouble: Callable[[OSError], None], answers: int = ANSWERS, words: int = WORDS) -> None:
        self._on_trouble = on_trouble
        self._answers, self._words = answers, words
        self._one_place = os.isatty(answers) and os.isatty(words)
        self._waiting: queue.SimpleQueue[tuple[int, bytes] | None] = queue.SimpleQueue()
        self._dead: set[int] = set()
        self._writing = threading.Lock()
        self._mid_line = False
        self._thread = threading.Thread(target=self._write_all, name="output", daemon=True)
        self._thread.start()

    def answer(self, text: str) -> None:
        """Text of an answer, as it comes."""
        if text:
            self._mid_line = not text.endswith("\n")
            self._waiting.put((self._answers, clean(text).encode("utf-8", "replace")))

    def end_line(self) -> None:
        """End the answer's line, where it is not."""
        if self._mid_line:
            self.answer("\n")

    def say(self, text: str, end: str = "\n") -> None:
        """A line for the person. On a terminal it never stands in the middle of an answer's line, and breaks between
        words."""
        before = "\n" if self._mid_line and self._one_place else ""
        if before:
            self._mid_line = False
        self._waiting.put((self._words, (before + self._fitted(clean(text)) + end).encode("utf-8", "replace")))

    def _fitted(self, text: str) -> str:
        try:
            width = os.get_terminal_size(self._words).columns
        except OSError:  # no terminal: the reader breaks lines
            return text
        lines = text.split("\n")
        return "\n".join(line[start:end] for line in lines for start, end, _ in wrap(line, width)) if width else text

    @contextmanager
    def held(self) -> Iterator[None]:
        """Write nothing meanwhile: somebody else has the terminal. What is said comes after it."""
        mine = self._writing.acquire(timeout=2.0)  # a terminal that takes nothing now holds up no editor
        try:
            yield
        finally:
            if mine:
                self._writing.release()

    def close(self, deadline_s: float = 2.0) -> bool:
        """Write what is left. False where nobody took it in time."""
        self._waiting.put(None)
        self._thread.join(deadline_s)
        return not self._thread.is_alive()

    def _write_all(self) -> None:
        while (item := self._waiting.get()) is not None:
            descriptor, data = item
            with self._writing:
                if descriptor not in self._dead:
                    self._write(descriptor, data)

    def _write(self, descriptor: int, data: bytes) -> None:
        try:
            while data:
                try:
                    data = data[os.write(descriptor, data) :]
                except BlockingIOError:
                    select.select([], [descriptor], [])
        except OSError as error:
            self._dead.add(descriptor)
            if descriptor == self._answers:
                self._on_trouble(error)
