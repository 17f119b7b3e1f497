"""A worker whose SGLang compiles with stand-ins and is ready: `python -m tests.prepare.engine_worker`."""

from __future__ import annotations

import time
from pathlib import Path

from spark_chat.engine import table, worker
from spark_chat.engine.interface import Report
from spark_chat.engine.protocol import Load, Ready
from tests.prepare.compilers import compiled

KERNELS = [f"kernel{number}.cubin" for number in range(12)]


class Compiling:
    def load(self, command: Load, report: Report) -> Ready:
        assert (Path(command.model) / "config.json").is_file() and not list(Path(command.model).glob("*.safetensors"))
        for done in compiled(KERNELS, 2):
            report("kernels", done / len(KERNELS), f"Compiling {done} of {len(KERNELS)}")
        return Ready(engine="sglang", version="1", model="m", context=100, proofs={}, time=time.monotonic())

    def abort(self, id: str) -> None: ...

    def close(self) -> None: ...


if __name__ == "__main__":
    table.ENGINES["sglang"] = "tests.prepare.engine_worker:Compiling"
    worker.main()
