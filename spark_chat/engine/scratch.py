"""A folder for the temporary files of an engine and its children, that is gone when they are, however they end; and
with it the shared memory that they noted there.

SGLang 0.5.23 makes a socket file for each of its channels and leaves it there when it is killed, and a load can be
stopped in no other way.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

LONGEST = 50
"""Characters of the path of the folder that it lies in: a socket below it must have a name of 107 at most."""
SHARED_MEMORY = ".shared-memory"
"""File in it with names in /dev/shm, one a line."""

# Apart from this process's group and no child of it, so that nothing that ends those ends it. It makes the folder
# itself: whenever this process is killed, what is there is known to somebody who is still there. It waits for the end
# of the pipe, which only this process holds open, ends what is left of the group, and clears away; again where one that
# was about to die made a file meanwhile.
_WATCH = """
exec 3<&0 4>&1
(
    exec >/dev/null 2>&1 </dev/null
    trap '' PIPE
    for place in "${TMPDIR:-/tmp}" /tmp /var/tmp; do
        [ "${#place}" -le "$1" ] && folder=$(mktemp -d "$place/spark-chat-XXXXXXXX") && break
        folder=
    done
    [ -n "$folder" ] || exit
    printf '%s\\n' "$folder" >&4
    exec 4>&-
    read _ <&3
    [ "$0" = 0 ] || kill -9 "-$0"
    while IFS= read -r name; do rm -f -- "/dev/shm/$name"; done <"$folder/$2"
    for again in 1 2 3 4 5 6 7 8 9; do rm -rf -- "$folder" && break || sleep 0.2; done
) &
exec 4>&-
"""


def make() -> Path:
    """The folder, which from here on is where this process and its children put temporary files. Raises OSError."""
    group = os.getpid() if os.getpgrp() == os.getpid() else 0  # a group that is not ours is not ours to end
    reading, _kept_open = os.pipe()
    try:
        watch = subprocess.run(
            ["/bin/sh", "-c", _WATCH, str(group), str(LONGEST), SHARED_MEMORY], stdin=reading, stdout=subprocess.PIPE,
            start_new_session=True,
        )  # fmt: skip
    finally:
        os.close(reading)
    folder = os.fsdecode(watch.stdout).removesuffix("\n")
    if not folder:
        raise OSError("No folder for temporary files could be made: not where TMPDIR says, nor in /tmp or /var/tmp.")
    os.environ["TMPDIR"] = tempfile.tempdir = folder
    return Path(folder)
