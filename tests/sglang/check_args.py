"""In a process of its own: which of some sets of arguments the worker would refuse.   usage: ... FILE.json"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from spark_chat.engine import sglang_args
from spark_chat.engine.interface import EngineFailure


def main() -> None:
    faults = {}
    for name, args in json.loads(Path(sys.argv[1]).read_text()).items():
        try:
            sglang_args.check({key: value for key, value in args.items() if value is not None})
        except EngineFailure as failure:
            faults[name] = failure.what
    print("RESULT " + json.dumps({"faults": faults}))


if __name__ == "__main__":
    main()
