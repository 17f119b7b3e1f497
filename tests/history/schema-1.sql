BEGIN TRANSACTION;
CREATE TABLE conversations (
            id TEXT PRIMARY KEY,
            title TEXT,
            created REAL NOT NULL,
            updated REAL NOT NULL,
            pinned INTEGER NOT NULL DEFAULT 0,
            deleted_at REAL,
            leaf TEXT,
            run TEXT,
            settings TEXT NOT NULL DEFAULT '{}'
        );
INSERT INTO "conversations" VALUES('one','Why is the sky blue?',1.79606601017971706391e+09,1.79606601019640111922e+09,0,NULL,'one-p1.answer','d7ab10fc95694421b74afc7aea65e16a','{}');
INSERT INTO "conversations" VALUES('two',X'4772C3BCC39F6520EDA0BD20617573204BC3B66C6E',1.79606601019691705699e+09,1.79606601019797444346e+09,0,NULL,'two-p0.answer','d7ab10fc95694421b74afc7aea65e16a','{}');
INSERT INTO "conversations" VALUES('three','cut off soon',1.79606601019809913638e+09,1.79606601019903016087e+09,0,NULL,'three-p1.answer','d7ab10fc95694421b74afc7aea65e16a','{}');
CREATE TABLE drafts (
            conversation TEXT PRIMARY KEY REFERENCES conversations (id) ON DELETE CASCADE,
            text TEXT NOT NULL,
            updated REAL NOT NULL
        );
INSERT INTO "drafts" VALUES('two','half a thought',1.79606601019777846334e+09);
CREATE TABLE messages (
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
        );
INSERT INTO "messages" VALUES(1,'one','one-p0',NULL,'user','Why is the sky blue?','','done','{}','{}',1.79606601015616488452e+09);
INSERT INTO "messages" VALUES(2,'one','one-p0.answer','one-p0','assistant','Rayleigh scattering: short waves scatter more.','The person asks about light.','done','{"tokens": 7, "decode_tok_s": 131.2}','{"model": "SmolLM2-135M-Instruct.Q4_1"}',1.79606601015654039382e+09);
INSERT INTO "messages" VALUES(3,'one','one-p1','one-p0.answer','user','And red at night?','','done','{}','{}',1.7960660101957523823e+09);
INSERT INTO "messages" VALUES(4,'one','one-p1.answer','one-p1','assistant','The way through the air is longer.','','done','{"tokens": 7, "decode_tok_s": 131.2}','{"model": "SmolLM2-135M-Instruct.Q4_1"}',1.79606601019582414629e+09);
INSERT INTO "messages" VALUES(5,'two','two-p0',NULL,'user',X'4772C3BCC39F6520EDA0BD20617573204BC3B66C6E','','done','{}','{}',1.79606601019670152662e+09);
INSERT INTO "messages" VALUES(6,'two','two-p0.answer','two-p0','assistant','```python
print(''Rayleigh'')
```','','done','{"tokens": 7, "decode_tok_s": 131.2}','{"model": "SmolLM2-135M-Instruct.Q4_1"}',1.79606601019675564769e+09);
INSERT INTO "messages" VALUES(7,'two','two-queued',NULL,'user','never sent','','queued','{}','{}',1.79606601019746065133e+09);
INSERT INTO "messages" VALUES(8,'three','three-p0',NULL,'user','cut off soon','','done','{}','{}',1.79606601019781446457e+09);
INSERT INTO "messages" VALUES(9,'three','three-p0.answer','three-p0','assistant','The beginning','','done','{"tokens": 7, "decode_tok_s": 131.2}','{"model": "SmolLM2-135M-Instruct.Q4_1"}',1.79606601019783139235e+09);
INSERT INTO "messages" VALUES(10,'three','three-p1','three-p0.answer','user','go on','','done','{}','{}',1.79606601019863152506e+09);
INSERT INTO "messages" VALUES(11,'three','three-p1.answer','three-p1','assistant','','','partial','{}','{}',1.79606601019867181782e+09);
CREATE TABLE pieces (
            conversation TEXT NOT NULL,
            message TEXT NOT NULL,
            n INTEGER NOT NULL,
            text TEXT NOT NULL,
            reasoning TEXT NOT NULL,
            PRIMARY KEY (conversation, message, n),
            FOREIGN KEY (conversation, message) REFERENCES messages (conversation, id) ON DELETE CASCADE
        ) WITHOUT ROWID;
INSERT INTO "pieces" VALUES('three','three-p1.answer',0,'partial text','thinking');
CREATE TABLE runs (
            id TEXT PRIMARY KEY,
            pid INTEGER NOT NULL,
            process_started REAL NOT NULL,
            opened REAL NOT NULL,
            closed REAL,
            checked INTEGER NOT NULL DEFAULT 0
        );
INSERT INTO "runs" VALUES('d7ab10fc95694421b74afc7aea65e16a',16002,1796066010.06,1.79606601017971706391e+09,NULL,0);
CREATE INDEX conversations_by_use ON conversations (updated);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('messages',11);
COMMIT;
PRAGMA application_id = 1397771075;
PRAGMA user_version = 1;
