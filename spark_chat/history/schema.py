"""The history file's tables, and every step from an older file to this one.

`user_version` of a file is the number of migrations it has had. A migration, once released, never changes: a new
table, column or index is a new entry at the end of `MIGRATIONS`. Messages form a tree through `parent`; the way
through it that a person sees ends at the conversation's `leaf`. Times are Unix seconds.

Text columns hold what was typed and received as it was. Text that UTF-8 cannot carry (a lone surrogate) is kept as a
BLOB of UTF-8 with surrogates passed through; see `store.stored` and `store.loaded`.
"""

from __future__ import annotations

APPLICATION_ID = 0x53504B43
"""Marks the file as ours in its header: "SPKC"."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE runs (
            id TEXT PRIMARY KEY,
            pid INTEGER NOT NULL,
            process_started REAL NOT NULL,
            opened REAL NOT NULL,
            closed REAL,
            checked INTEGER NOT NULL DEFAULT 0
        )""",
        """CREATE TABLE conversations (
            id TEXT PRIMARY KEY,
            title TEXT,
            created REAL NOT NULL,
            updated REAL NOT NULL,
            pinned INTEGER NOT NULL DEFAULT 0,
            deleted_at REAL,
            leaf TEXT,
            run TEXT,
            settings TEXT NOT NULL DEFAULT '{}'
        )""",
        "CREATE INDEX conversations_by_use ON conversations (updated)",
        """CREATE TABLE messages (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            conversation TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
            id TEXT NOT NULL,
            parent TEXT,
            role TEXT NOT NULL CHECK (role IN ('system', 'user', 'assistant')),
            text TEXT NOT NULL DEFAULT '',
            reasoning TEXT NOT NULL DEFAULT '',
            state TEXT NOT NULL CHECK (state IN ('queued', 'partial', 'done', 'stopped', 'failed')),
            numbers TEXT NOT NULL DEFAULT '{}',
            settings TEXT NOT NULL DEFAULT '{}',
            created REAL NOT NULL,
            UNIQUE (conversation, id)
        )""",
        # Text of an answer that is still coming: one row a transaction, so that the cost of keeping a second's text
        # does not grow with the answer. Joined into the message, and removed, when the answer ends.
        """CREATE TABLE pieces (
            conversation TEXT NOT NULL,
            message TEXT NOT NULL,
            n INTEGER NOT NULL,
            text TEXT NOT NULL,
            reasoning TEXT NOT NULL,
            PRIMARY KEY (conversation, message, n),
            FOREIGN KEY (conversation, message) REFERENCES messages (conversation, id) ON DELETE CASCADE
        ) WITHOUT ROWID""",
        """CREATE TABLE drafts (
            conversation TEXT PRIMARY KEY REFERENCES conversations (id) ON DELETE CASCADE,
            text TEXT NOT NULL,
            updated REAL NOT NULL
        )""",
    ),
)

SCHEMA = len(MIGRATIONS)
"""The `user_version` that this program writes, and the highest it can read."""
