"""A pull from ModelScope through modelscope_hub, which goes on where it stopped and compares each file's SHA-256.
In its own process; the cache is the library's own (MODELSCOPE_CACHE)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from spark_chat import locations
from spark_chat.pull.plan import BadPlan, File, Plan, plan
from spark_chat.pull.room import check_room
from spark_chat.pull.said import Finished, Planned, Request, Said
from spark_chat.pull.tally import Tally

REVISION = "master"
"""ModelScope's name for what Hugging Face calls main."""
PARTIAL = ".incomplete"
PATIENCE_S = 7 * 86_400
"""For one file, where the person set none. The library's own hour is too little for a shard of 2.7 GB on a slow line,
of which four come at once."""


def pull(request: Request, say: Callable[[Said], None]) -> None:
    """Plan, and bring it where it is not only the plan that is wanted. Raises what goes wrong."""
    tune()
    from modelscope_hub import HubApi, ProgressCallback

    api: Any = HubApi()
    revision = REVISION if request.revision == "main" else request.revision
    found = listed(api, request, revision)
    folder = locations.modelscope_cache() / "models" / found.repository.replace("/", "--") / "snapshots" / revision
    present = _present(folder, found)
    say(
        Planned(
            repository=found.repository, commit=revision, files=len(found.files), size=found.size, present=present
        )
    )  # fmt: skip
    if request.only_plan:
        return
    check_room(folder, found.size - present)
    tally = Tally(found.size, say)
    tally.present(_present(folder, found, parts=False), "")  # the library counts what came of the others itself

    class Counted(ProgressCallback):
        """One a file; told each piece."""

        def update(self, size: int) -> None:
            tally.received(size, str(self.filename))

    try:
        path = api.download_repo(
            found.repository, repo_type="model", revision=revision, max_workers=4,
            allow_patterns=[file.path for file in found.files], progress_callbacks=[Counted],
        )  # fmt: skip
    except Exception as error:
        failed: dict[str, Exception] = getattr(error, "failed_files", None) or {}
        raise next(iter(failed.values()), error) from error
    tally.done()
    models = [file for file in found.files if file.path.endswith(".gguf")]
    say(Finished(path=str(Path(path) / models[0].path if models else path), checked=len(found.files)))


def tune() -> None:
    """How the library moves files; it reads its variables when it is imported. A file comes in one stream: several
    would lie as pieces under names of their own, lost at a kill while they are put together, and four files come at
    once anyway."""
    os.environ.setdefault("TQDM_DISABLE", "1")
    os.environ["MODELSCOPE_DOWNLOAD_PARALLEL_WORKERS"] = "1"
    os.environ.setdefault("MODELSCOPE_DOWNLOAD_TOTAL_TIMEOUT", str(PATIENCE_S))


def listed(api: Any, request: Request, revision: str) -> Plan:
    """What the repository has, by the hub's word. Each file must come with a SHA-256."""
    files = []
    for entry in api.list_repo_files(request.repository, repo_type="model", revision=revision, recursive=True):
        path, size, sha = (_of(entry, name) for name in ("path", "size", "sha256"))
        if path and str(_of(entry, "type") or "blob") != "tree":
            files.append(File(str(path), -1 if size is None else int(size), str(sha or "").lower()))
    if not files:
        raise BadPlan(f"{request.repository} has no files at ModelScope.")
    return plan(request.repository, revision, files, request.include)


def _of(entry: Any, name: str) -> Any:
    if isinstance(entry, dict):
        return entry.get(name, entry.get(name.capitalize()))
    return getattr(entry, name, None)


def _present(folder: Path, found: Plan, parts: bool = True) -> int:
    """Bytes that are here: whole files, and parts of others where those are wanted."""
    total = 0
    for file in found.files:
        for path in (folder / file.path, *([folder / (file.path + PARTIAL)] if parts else [])):
            try:
                total += min(path.stat().st_size, file.size)
                break
            except OSError:
                continue
    return total
