"""A pull from Hugging Face, or from a mirror that HF_ENDPOINT names, through huggingface_hub. In its own process.

The library gives endpoint, token, proxies, certificates and the list of files; `receiving` moves the bytes over plain
HTTP, so that a part that came is used after a kill; the cache is the library's own.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from spark_chat import locations
from spark_chat.pull.blobs import Repository
from spark_chat.pull.plan import BadPlan, File, Plan, plan
from spark_chat.pull.receiving import Receiver
from spark_chat.pull.room import check_room
from spark_chat.pull.said import Finished, Planned, Request, Said
from spark_chat.pull.tally import Tally

AT_ONCE = 4
"""Files that come at the same time."""


def pull(request: Request, say: Callable[[Said], None]) -> None:
    """Plan, and bring it where it is not only the plan that is wanted. Raises what goes wrong."""
    found = listed(request)
    repository = Repository(locations.hugging_face_cache(), found.repository)
    present = repository.present(found)
    say(
        Planned(
            repository=found.repository, commit=found.commit, files=len(found.files), size=found.size, present=present
        )
    )  # fmt: skip
    if request.only_plan:
        return
    check_room(repository.folder, found.size - present)
    tally = Tally(found.size, say)
    with _alone(repository, found.repository):
        receiver = Receiver(repository, found, _ask(found), tally)
        _all(receiver, found)
        snapshot = repository.link(found, request.revision)
    tally.done()
    models = [file for file in found.files if file.path.endswith(".gguf") and "mmproj" not in file.path]
    path = snapshot / models[0].path if models else snapshot
    say(Finished(path=str(path), checked=len(found.files)))


def listed(request: Request) -> Plan:
    """What the repository has, by the hub's word."""
    from huggingface_hub import HfApi

    info = HfApi().model_info(request.repository, revision=request.revision, files_metadata=True, timeout=30)
    commit = str(info.sha or "")
    if not commit or set(commit) - set("0123456789abcdef"):
        raise BadPlan(f"{request.repository} has no commit that could be fetched.")
    files = []
    for entry in info.siblings or []:
        lfs: Any = entry.lfs
        sha = lfs.get("sha256") if isinstance(lfs, dict) else getattr(lfs, "sha256", None)
        size = -1 if entry.size is None else int(entry.size)
        files.append(File(entry.rfilename, size, str(sha or ""), str(entry.blob_id or "")))
    return plan(request.repository, commit, files, request.include)


def _all(receiver: Receiver, found: Plan) -> None:
    """Small files first: a wrong token or a full disk shows before the large ones have begun."""
    files = sorted({file.key: file for file in found.files}.values(), key=lambda file: file.size)
    pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="pull")
    done, _ = wait([pool.submit(receiver.bring, file) for file in files], return_when=FIRST_EXCEPTION)
    for future in done:
        future.result()  # where one failed the process ends, and with it the others: what came of them is kept


class _Answer:
    """A response's bytes as they are, no encoding undone."""

    def __init__(self, response: Any, start: int) -> None:
        self._response, self.start = response, start

    def pieces(self) -> Iterator[bytes]:
        yield from self._response.iter_raw()  # as they come: a size would hold back, and at a broken line lose, a piece


def _ask(found: Plan) -> Callable[[File, int], Any]:
    from huggingface_hub import constants, get_hf_file_metadata, hf_hub_url

    utils: Any = import_module("huggingface_hub.utils")

    @contextlib.contextmanager
    def ask(file: File, offset: int) -> Iterator[_Answer]:
        url = hf_hub_url(found.repository, file.path, revision=found.commit)
        location = get_hf_file_metadata(url, timeout=30).location
        headers = utils.build_hf_headers()
        if not same_origin(location, constants.ENDPOINT):  # a signed address elsewhere: the token is not its business
            headers = {name: value for name, value in headers.items() if name.lower() != "authorization"}
        headers["Accept-Encoding"] = "identity"
        if offset:
            headers["Range"] = f"bytes={offset}-"
        timeout = constants.HF_HUB_DOWNLOAD_TIMEOUT
        with utils.get_session().stream("GET", location, headers=headers, timeout=timeout) as response:
            utils.hf_raise_for_status(response)
            yield _Answer(response, offset if response.status_code == 206 else 0)

    return ask


def same_origin(one: str, other: str) -> bool:
    """Whether both addresses are of the same scheme, host and port."""
    first, second = urlsplit(one), urlsplit(other)
    return (first.scheme, first.hostname, first.port) == (second.scheme, second.hostname, second.port)


@contextlib.contextmanager
def _alone(repository: Repository, name: str) -> Iterator[None]:
    """One pull of a repository at a time; the lock goes with its holder, however it dies."""
    repository.lock.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(repository.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadPlan(f"Another spark-chat is fetching {name} right now.", "Wait until it is done.") from None
        yield
    finally:
        os.close(descriptor)


def installed() -> bool:
    """Whether the library is here."""
    from importlib.util import find_spec

    return find_spec("huggingface_hub") is not None
