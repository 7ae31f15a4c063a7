-- From version 1 to 2: the texts of source files. The statements are those of tables.sql, so that a file that was brought
-- up to date says the same in `.schema` as a new one.

CREATE TABLE source_texts (
    id   INTEGER PRIMARY KEY,
    hash TEXT    NOT NULL UNIQUE, -- SHA-256 (hex) of the text
    text TEXT    NOT NULL
) STRICT;

CREATE TABLE sources (
    run_id  INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    path    TEXT    NOT NULL, -- as in functions.filename
    role    TEXT    NOT NULL, -- source: what a person wrote; transpiled: what a compiler made of it for another compiler
    text_id INTEGER NOT NULL REFERENCES source_texts(id),
    PRIMARY KEY (run_id, path)
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 2;
