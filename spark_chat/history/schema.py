"""The history file's tables, and every step from an older file to this one.

`user_version` of a file is the number of migrations it has had. A migration, once released, never changes: a new
table, column or index is a new entry at the end of `MIGRATIONS`. Messages form a tree through `parent`; the way
through it that a person sees ends at the conversation's `leaf`. Two answers to one prompt, or two prompts after one
answer, are versions of each other. A prompt's parent is NULL, or '' where it is settled that none comes before it.
Times are Unix seconds.

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
    (
        # `edits`: the prompt that this one is another version of. `shown`: when it was last the version on screen.
        "ALTER TABLE messages ADD COLUMN edits TEXT",
        "ALTER TABLE messages ADD COLUMN shown REAL",
        # Where the person had scrolled to, as JSON; empty for the end.
        "ALTER TABLE conversations ADD COLUMN place TEXT NOT NULL DEFAULT ''",
        "CREATE INDEX conversations_listed ON conversations (pinned DESC, updated DESC) "
        "WHERE deleted_at IS NULL AND title IS NOT NULL",
        # All words of all messages. The text itself stays in `messages` alone; the triggers hold the two together.
        """CREATE VIRTUAL TABLE words USING fts5 (
            text, reasoning, content = 'messages', content_rowid = 'seq',
            tokenize = 'unicode61 remove_diacritics 2', prefix = '1 2 3 4 5'
        )""",
        "INSERT INTO words (words) VALUES ('rebuild')",
        """CREATE TRIGGER words_added AFTER INSERT ON messages BEGIN
            INSERT INTO words (rowid, text, reasoning) VALUES (new.seq, new.text, new.reasoning);
        END""",
        """CREATE TRIGGER words_removed AFTER DELETE ON messages BEGIN
            INSERT INTO words (words, rowid, text, reasoning) VALUES ('delete', old.seq, old.text, old.reasoning);
        END""",
        """CREATE TRIGGER words_changed AFTER UPDATE OF text, reasoning ON messages
        WHEN old.text IS NOT new.text OR old.reasoning IS NOT new.reasoning BEGIN
            INSERT INTO words (words, rowid, text, reasoning) VALUES ('delete', old.seq, old.text, old.reasoning);
            INSERT INTO words (rowid, text, reasoning) VALUES (new.seq, new.text, new.reasoning);
        END""",
    ),
    (
        # The same index over what `unspaced.indexed` makes of a text, so that words are found inside writing without
        # spaces too. Bytes are handed over: a text that is no UTF-8 must end nothing.
        "DROP TRIGGER words_added",
        "DROP TRIGGER words_removed",
        "DROP TRIGGER words_changed",
        "DROP TABLE words",
        """CREATE VIEW searched AS SELECT seq, spark_chat_indexed(CAST(text AS BLOB)) AS text,
            spark_chat_indexed(CAST(reasoning AS BLOB)) AS reasoning FROM messages""",
        """CREATE VIRTUAL TABLE words USING fts5 (
            text, reasoning, content = 'searched', content_rowid = 'seq',
            tokenize = 'unicode61 remove_diacritics 2', prefix = '1 2 3 4 5'
        )""",
        "INSERT INTO words (words) VALUES ('rebuild')",
        """CREATE TRIGGER words_added AFTER INSERT ON messages BEGIN
            INSERT INTO words (rowid, text, reasoning) VALUES (new.seq,
                spark_chat_indexed(CAST(new.text AS BLOB)), spark_chat_indexed(CAST(new.reasoning AS BLOB)));
        END""",
        """CREATE TRIGGER words_removed AFTER DELETE ON messages BEGIN
            INSERT INTO words (words, rowid, text, reasoning) VALUES ('delete', old.seq,
                spark_chat_indexed(CAST(old.text AS BLOB)), spark_chat_indexed(CAST(old.reasoning AS BLOB)));
        END""",
        """CREATE TRIGGER words_changed AFTER UPDATE OF text, reasoning ON messages
        WHEN old.text IS NOT new.text OR old.reasoning IS NOT new.reasoning BEGIN
            INSERT INTO words (words, rowid, text, reasoning) VALUES ('delete', old.seq,
                spark_chat_indexed(CAST(old.text AS BLOB)), spark_chat_indexed(CAST(old.reasoning AS BLOB)));
            INSERT INTO words (rowid, text, reasoning) VALUES (new.seq,
                spark_chat_indexed(CAST(new.text AS BLOB)), spark_chat_indexed(CAST(new.reasoning AS BLOB)));
        END""",
    ),
)

SCHEMA = len(MIGRATIONS)
"""The `user_version` that this program writes, and the highest it can read."""
