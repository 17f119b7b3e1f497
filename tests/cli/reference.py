"""An independent count: llama.cpp's own server asked for the ids of one greedy answer. Run as a process.

python reference.py MODEL MAX_TOKENS < prompt
"""

from __future__ import annotations

import json
import sys
import urllib.request
from typing import Any

import xllamacpp


def main(model: str, limit: int, prompt: str) -> None:
    params = xllamacpp.CommonParams()
    params.model.path, params.n_ctx, params.n_parallel = model, 2048, 1
    params.cpuparams.n_threads = 1
    params.sampling.min_p = 0.0
    server = xllamacpp.Server(params)

    def post(path: str, body: dict[str, Any]) -> Any:
        data = json.dumps(body).encode()
        request = urllib.request.Request(server.listening_address + path, data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as reply:
            return json.load(reply)

    turns = [{"role": "user", "content": prompt}]
    text = post("/apply-template", {"messages": turns})["prompt"]
    asked = post("/tokenize", {"content": text, "add_special": True, "parse_special": True})["tokens"]
    body = {"prompt": text, "n_predict": limit, "temperature": 0.0, "return_tokens": True, "stream": False}
    answer = post("/completion", body)
    found = {"prompt": len(asked), "ids": answer["tokens"], "text": answer["content"], "why": answer["stop_type"]}
    print(json.dumps(found))


main(sys.argv[1], int(sys.argv[2]), sys.stdin.read())
