-- From version 2 to 3: what recording cost apart from the program's own time.

ALTER TABLE runs ADD COLUMN symbolize_ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN write_ns INTEGER NOT NULL DEFAULT 0;

PRAGMA user_version = 3;
