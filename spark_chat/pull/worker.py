"""The process that pulls: `python -m spark_chat.pull.worker PARENT REQUEST`. It says lines of JSON on stdout.

A process of its own, so that it can be stopped at any moment and the screen's never loads a hub's library. Nothing is
put in order at its end, since it may as well be killed: what lies on the disk is good at every moment.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading

from spark_chat import locations
from spark_chat.pull.said import MODELSCOPE, Failed, Request, Said, line, read_request
from spark_chat.pull.trouble import clean, explained


def main(arguments: list[str]) -> int:
    parent, request = int(arguments[0]), read_request(arguments[1])
    _die_with(parent)
    output = os.dup(1)
    os.dup2(2, 1)  # whatever a library prints is no message of ours
    lock = threading.Lock()

    def say(message: Said) -> None:
        with lock:
            os.write(output, line(message))

    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ["HF_HUB_DISABLE_XET"] = "1"  # it would begin each file anew after a kill
    try:
        _pull(request, say)
    except BrokenPipeError:
        os._exit(1)
    except Exception as error:
        what, remedy = explained(error, request.repository, where(request), folder(request))
        say(Failed(what=clean(what), remedy=clean(remedy)))
        os._exit(1)  # threads that still wait for the network are not waited for
    return 0


def _pull(request: Request, say: object) -> None:
    assert callable(say)
    if request.hub == MODELSCOPE:
        from spark_chat.pull import modelscope

        modelscope.pull(request, say)
    else:
        from spark_chat.pull import hugging_face

        hugging_face.pull(request, say)


def where(request: Request) -> str:
    """The hub, as a person knows it: a mirror by its host alone, without what may stand before it."""
    from urllib.parse import urlsplit

    if request.hub == MODELSCOPE:
        named, usual = os.environ.get("MODELSCOPE_ENDPOINT", ""), "ModelScope"
    else:
        named, usual = os.environ.get("HF_ENDPOINT", ""), "Hugging Face"
    return urlsplit(named).hostname or usual


def folder(request: Request) -> str:
    return str(locations.modelscope_cache() if request.hub == MODELSCOPE else locations.hugging_face_cache())


def _die_with(parent: int) -> None:
    with contextlib.suppress(ImportError, OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(1, int(signal.SIGKILL))
    if os.getppid() != parent:
        sys.exit(1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
