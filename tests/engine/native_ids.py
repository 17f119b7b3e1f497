"""An independent count: the ids of answers from llama.cpp's own HTTP endpoint, which lists every id that it made.

`python -m tests.engine.native_ids JSON` with {"model", "mtp", "args", "asks": [[text, max_tokens], ...]}; prints a JSON
list of {"ids", "text", "decodes", "prompt"}, the last how many ids the prompt had. The server is built as the engine
builds it, and the engine's code is not in it.
"""

from __future__ import annotations

import json
import sys
import urllib.request
from pathlib import Path
from typing import Any

from spark_chat.engine import gguf_facts
from spark_chat.engine.llama_params import plan
from spark_chat.engine.protocol import Load


def main(given: dict[str, Any]) -> None:
    import xllamacpp

    command = Load(
        engine="llama.cpp", model=given["model"], context=2048, optimizations={"mtp": given["mtp"]}, args=given["args"]
    )
    planned = plan(command, gguf_facts.read(Path(given["model"])), xllamacpp)
    server = xllamacpp.Server(planned.params)
    key = planned.params.api_keys[0]

    def post(path: str, body: dict[str, Any] | None) -> Any:
        request = urllib.request.Request(
            server.listening_address + path,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=300) as answer:
            return answer.read().decode()

    def decodes() -> int:
        lines = post("/metrics", None).splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("llamacpp:n_decode_total "))

    found = []
    for text, max_tokens in given["asks"]:
        messages = [{"role": "user", "content": text}]
        prompt = json.loads(post("/apply-template", {"messages": messages}))["prompt"]
        before = decodes()
        body = {"prompt": prompt, "n_predict": max_tokens, "temperature": 0, "return_tokens": True}
        listed = json.loads(post("/tokenize", {"content": prompt, "add_special": True, "parse_special": True}))
        answer = json.loads(post("/completion", body))
        found.append({
            "ids": answer["tokens"], "text": answer["content"], "decodes": decodes() - before,
            "prompt": len(listed["tokens"]),
        })  # fmt: skip
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
