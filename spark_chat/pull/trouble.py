"""What an error of a hub's library, of the network or of the disk means for a person.

Told by the names of the classes, which outlive the libraries' versions; nothing of theirs is imported for it.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator

from spark_chat.pull.plan import BadPlan

TOKENS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HUGGINGFACE_HUB_TOKEN", "MODELSCOPE_API_TOKEN")
NETWORK = frozenset(
    {
        "ConnectError", "ConnectTimeout", "ReadError", "ReadTimeout", "RemoteProtocolError", "NetworkError",
        "TransportError", "TimeoutException", "PoolTimeout", "WriteError", "ConnectionError", "ChunkedEncodingError",
        "RequestTimeoutError", "LocalEntryNotFoundError", "FileMetadataError",
    }
)  # fmt: skip
"""Of these it makes sense to try again."""
LATER = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Of these answers too."""
COPY = "`spark-chat pull --offline-help` says what to copy where instead."


def names(error: BaseException) -> set[str]:
    """Of its class and all that it is derived from."""
    return {kind.__name__ for kind in type(error).__mro__}


def status(error: BaseException) -> int | None:
    """The answer's status, where it was an answer."""
    code = getattr(getattr(error, "response", None), "status_code", None)
    return code if isinstance(code, int) else None


def passing(error: BaseException) -> bool:
    """Whether it may go well at the next try."""
    code = status(error)
    return code in LATER if code is not None else bool(names(error) & NETWORK)


def explained(error: BaseException, repository: str, where: str, folder: str) -> tuple[str, str]:
    """What happened and what to do; `where`: the hub as a person knows it, `folder`: where it is kept."""
    if isinstance(error, BadPlan):
        return error.what, error.remedy
    kind, code = names(error), status(error)
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"The disk of {folder} is full.", "Free some; what came is kept, and the same command goes on."
    if "OfflineModeIsEnabled" in kind:
        return "HF_HUB_OFFLINE is set, so nothing is fetched.", "Unset it, or see `spark-chat pull --offline-help`."
    if "GatedRepoError" in kind:
        return (
            f"{repository} wants its terms accepted first.",
            f"Do so on its page at {where}, then set HF_TOKEN, or log in with `hf auth login`.",
        )
    if code == 401 or "AuthenticationError" in kind:
        return f"{where} did not accept the token, or wants one for {repository}.", _token()
    if code == 403:
        return f"{where} does not let you have {repository}.", _token()
    if "RevisionNotFoundError" in kind:
        return f"{repository} has no such revision.", "See its page, or leave --revision out."
    if code == 404 or kind & {"RepositoryNotFoundError", "NotFoundError", "NotExistError", "EntryNotFoundError"}:
        return f"There is no {repository} at {where}, or it is not public.", f"Look at its name. {_token()}"
    if "FileIntegrityError" in kind or "FileSizeMismatchError" in kind:
        return (
            f"A file of {repository} is not what the repository lists (its hash differs).",
            "A mirror or a proxy may be in between: see MODELSCOPE_ENDPOINT and HTTPS_PROXY.",
        )
    if "HFValidationError" in kind:
        return f"{repository} is no name of a repository.", "It reads OWNER/NAME."
    if passing(error):
        return f"{where} can't be reached, or does not answer.", f"What came is kept: start again later. {COPY}"
    if isinstance(error, OSError) and error.errno is not None:
        return f"{folder} can't be written: {error.strerror}.", "See its permissions, or set HF_HOME to another place."
    return f"{repository} could not be fetched: {type(error).__name__}: {str(error)[:300]}", ""


def secrets() -> Iterator[str]:
    """Every token that this process knows of."""
    for name in TOKENS:
        if value := os.environ.get(name, "").strip():
            yield value
    for file in _files():
        try:
            with open(file, encoding="utf-8", errors="replace") as opened:  # noqa: PTH123  (a name from the environment)
                value = opened.read(4096).strip()
        except OSError:
            continue
        if value:
            yield value


def clean(text: str) -> str:
    """`text` without any token in it."""
    for secret in secrets():
        text = text.replace(secret, "***")
    return text


def _files() -> Iterator[str]:
    if named := os.environ.get("HF_TOKEN_PATH"):
        yield os.path.expanduser(named)  # noqa: PTH111
    home = os.environ.get("HF_HOME") or os.path.join(  # noqa: PTH118
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "huggingface"  # noqa: PTH111
    )  # fmt: skip
    yield os.path.join(home, "token")  # noqa: PTH118


def _token() -> str:
    return "A token is read from HF_TOKEN (MODELSCOPE_API_TOKEN for ModelScope), or from where the hub's tool keeps it."
