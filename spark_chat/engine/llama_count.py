"""Token counts from llama.cpp, without a decode: its own server makes the prompt and tokenises it.

xllamacpp hands neither out in process, so they are asked of the server's port, which answers to this process's key
alone. Blocking: call it from a thread.
"""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

from spark_chat.engine.protocol import Count

WITHIN_S = 30.0


class TokenCounter:
    """`address`: where the server listens, as `http://127.0.0.1:1234`; `key`: what it takes."""

    def __init__(self, address: str, key: str) -> None:
        where = urlsplit(address)
        self._host, self._port, self._key = where.hostname or "127.0.0.1", where.port, key

    def count(self, command: Count) -> tuple[int, list[int]]:
        """Tokens of the whole prompt, as a request for an answer has them, and of each text by itself. Raises OSError,
        ValueError or HTTPException."""
        connection = http.client.HTTPConnection(self._host, self._port, timeout=WITHIN_S)
        try:
            body = {
                "messages": [{"role": turn.role, "content": turn.content} for turn in command.messages],
                "chat_template_kwargs": {"enable_thinking": command.thinking},
            }
            prompt = self._post(connection, "/apply-template", body)["prompt"] if command.messages else ""
            whole = self._tokens(connection, prompt, special=True) if prompt else 0
            return whole, [self._tokens(connection, text, special=False) for text in command.texts]
        finally:
            connection.close()

    def _tokens(self, connection: http.client.HTTPConnection, text: str, special: bool) -> int:
        """`special`: a prompt, whose template's marks are tokens, and which begins as the model wants it."""
        body = {"content": text, "add_special": special, "parse_special": special}
        return len(self._post(connection, "/tokenize", body)["tokens"])

    def _post(self, connection: http.client.HTTPConnection, path: str, body: dict[str, Any]) -> dict[str, Any]:
        head = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        connection.request("POST", path, json.dumps(body).encode(), head)
        answer = connection.getresponse()
        found = json.loads(answer.read())
        if answer.status != 200 or not isinstance(found, dict):
            raise ValueError(f"{path} was answered with {answer.status}")
        return found
