"""Pygments' lexers, loaded in a thread: the first one of a language takes up to half a second to build."""

from __future__ import annotations

import threading
from functools import lru_cache
from typing import Any


class Loading:
    """One lexer, on its way or there. `lexer` is None where Pygments knows no such language."""

    def __init__(self, language: str) -> None:
        self.lexer: Any = None
        self._there = threading.Event()
        threading.Thread(target=self._load, args=(language,), name=f"lexer {language}", daemon=True).start()

    @property
    def ready(self) -> bool:
        """Whether `lexer` can be used."""
        return self._there.is_set()

    def wait(self, timeout: float) -> bool:
        """Wait up to `timeout` seconds; whether it is ready."""
        return self._there.wait(timeout)

    def _load(self, language: str) -> None:
        try:
            from pygments.lexers import get_lexer_by_name

            lexer = get_lexer_by_name(language)
            next(iter(lexer.get_tokens_unprocessed("x\n")), None)  # builds its tables
            self.lexer = lexer
        except Exception:  # not known, or broken: the code shows without colours
            self.lexer = None
        finally:
            self._there.set()


@lru_cache(maxsize=64)
def lexer_for(language: str) -> Loading:
    """The lexer called `language`; the first call for it starts loading."""
    return Loading(language)
