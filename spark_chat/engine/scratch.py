"""A folder for the temporary files of an engine and its children, that is gone when they are, however they end; and
with it the shared memory that they noted there.

SGLang 0.5.23 makes a socket file for each of its channels and leaves it there when it is killed, and a load can be
stopped in no other way.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from pathlib import Path

LONGEST = 70
"""Characters of the folder's path: a socket below it must have a name of 107 at most."""
SHARED_MEMORY = ".shared-memory"
"""File in it with names in /dev/shm, one a line."""

# Apart from this process's group and no child of it, so that nothing that ends those ends it. It waits for the end of
# the pipe, which only this process holds open, ends what is left of the group, and clears away.
_WATCH = """
exec 3<&0
(
    read _ <&3
    [ "$0" = 0 ] || kill -9 "-$0"
    while IFS= read -r name; do rm -f -- "/dev/shm/$name"; done <"$1/$2"
    rm -rf -- "$1"
) >/dev/null 2>&1 </dev/null &
"""


def make() -> Path:
    """The folder, which from here on is where this process and its children put temporary files. Raises OSError."""
    folder = tempfile.mkdtemp(prefix="spark-chat-")
    if len(folder) > LONGEST:
        Path(folder).rmdir()
        folder = tempfile.mkdtemp(prefix="spark-chat-", dir="/tmp")
    group = os.getpid() if os.getpgrp() == os.getpid() else 0  # a group that is not ours is not ours to end
    reading, _kept_open = os.pipe()
    try:
        with contextlib.suppress(OSError):
            subprocess.run(
                ["/bin/sh", "-c", _WATCH, str(group), folder, SHARED_MEMORY], stdin=reading, start_new_session=True
            )
    finally:
        os.close(reading)
    os.environ["TMPDIR"] = tempfile.tempdir = folder
    return Path(folder)
