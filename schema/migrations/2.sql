-- From version 1 to 2: the texts of source files, and allocation sites in less space. The statements are those of tables.sql, so
-- that a file that was brought up to date says the same in `.schema` as a new one.

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

CREATE TABLE site_keys (
    id           INTEGER PRIMARY KEY, -- trace_id, for the first label set of a stack that was met: most have one, and need no index. Further ones count down from -1
    trace_id     INTEGER NOT NULL REFERENCES traces(id), -- the stack that allocated
    label_set_id INTEGER NOT NULL DEFAULT 0 REFERENCES label_sets(id),
    block_bytes  INTEGER NOT NULL DEFAULT 0, -- bytes of a block: the mean of the row that made the key, rounded down. Never changed, since rows count on it
    CHECK (id = trace_id OR id < 0)
) STRICT;
CREATE UNIQUE INDEX site_keys_more ON site_keys(trace_id, label_set_id) WHERE id < 0;

CREATE TABLE site_rows (
    profile_id  INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE,
    site_key_id INTEGER NOT NULL REFERENCES site_keys(id),
    alloc_count INTEGER NOT NULL DEFAULT 0, -- blocks
    free_count  INTEGER NOT NULL DEFAULT 0, -- frees of what *this* stack allocated: alloc_count - free_count is live
    alloc_bytes INTEGER, -- bytes as requested, without the allocator's overhead; NULL where it is alloc_count * site_keys.block_bytes
    free_bytes  INTEGER, -- bytes freed; NULL where it is free_count * site_keys.block_bytes
    PRIMARY KEY (profile_id, site_key_id)
) STRICT, WITHOUT ROWID;

-- The rows of the table `sites` move over, and a view takes its name. In the order in which the profiles
-- were taken and then of the stacks, as a new file would have them. A product beyond 64 bits is a REAL: those bytes stay.
INSERT INTO site_keys(id, trace_id, label_set_id, block_bytes)
SELECT CASE WHEN place = 1 THEN trace_id
            ELSE -row_number() OVER (PARTITION BY place > 1 ORDER BY first, trace_id, label_set_id) END,
       trace_id, label_set_id,
       CASE WHEN alloc_count > 0 AND alloc_bytes > 0 THEN alloc_bytes / alloc_count
            WHEN free_count > 0 AND free_bytes > 0 THEN free_bytes / free_count
            ELSE 0 END
FROM (SELECT *, row_number() OVER (PARTITION BY trace_id ORDER BY first, label_set_id) AS place
      FROM (SELECT min(profile_id) AS first, trace_id, label_set_id, alloc_count, alloc_bytes, free_count, free_bytes
            FROM sites
            GROUP BY trace_id, label_set_id));

INSERT INTO site_rows(profile_id, site_key_id, alloc_count, free_count, alloc_bytes, free_bytes)
SELECT profile_id, site_keys.id, alloc_count, free_count,
       CASE WHEN alloc_bytes = alloc_count * block_bytes AND typeof(alloc_count * block_bytes) = 'integer'
            THEN NULL ELSE alloc_bytes END,
       CASE WHEN free_bytes = free_count * block_bytes AND typeof(free_count * block_bytes) = 'integer'
            THEN NULL ELSE free_bytes END
FROM sites
JOIN site_keys ON site_keys.trace_id = sites.trace_id AND site_keys.label_set_id = sites.label_set_id
ORDER BY profile_id, site_keys.id;

DROP TABLE sites;

CREATE VIEW sites AS
-- Question: which stack allocated and freed how much? One row a profile, stack and label set. Rows can be inserted, updated and
--   deleted here as in a table, but for ON CONFLICT, which SQLite has for tables alone.
-- alloc_count, free_count: blocks. alloc_bytes, free_bytes: bytes as requested, without the allocator's overhead. A free counts
--   for the stack that allocated, so alloc_* - free_* is live.
SELECT
    site_rows.profile_id,
    site_keys.trace_id,
    site_keys.label_set_id,
    site_rows.alloc_count,
    coalesce(site_rows.alloc_bytes, site_rows.alloc_count * site_keys.block_bytes) AS alloc_bytes,
    site_rows.free_count,
    coalesce(site_rows.free_bytes, site_rows.free_count * site_keys.block_bytes) AS free_bytes
FROM site_rows
JOIN site_keys ON site_keys.id = site_rows.site_key_id;

-- A column that is left out is 0. The size of a block is what ingest/store/site_rows.c would say. Bytes are left out where they are a
-- product within 64 bits; SQLite makes a REAL of one beyond.
CREATE TRIGGER sites_insert INSTEAD OF INSERT ON sites
BEGIN
    INSERT INTO site_keys(id, trace_id, label_set_id, block_bytes)
    SELECT CASE WHEN EXISTS (SELECT 1 FROM site_keys WHERE id = NEW.trace_id)
                THEN (SELECT min(0, min(id)) - 1 FROM site_keys)
                ELSE NEW.trace_id END,
           NEW.trace_id, coalesce(NEW.label_set_id, 0),
           CASE WHEN NEW.alloc_count > 0 AND NEW.alloc_bytes > 0 THEN NEW.alloc_bytes / NEW.alloc_count
                WHEN NEW.free_count > 0 AND NEW.free_bytes > 0 THEN NEW.free_bytes / NEW.free_count
                ELSE 0 END
    WHERE NOT EXISTS (SELECT 1 FROM site_keys
                      WHERE id = NEW.trace_id AND label_set_id = coalesce(NEW.label_set_id, 0))
      AND NOT EXISTS (SELECT 1 FROM site_keys
                      WHERE id < 0 AND trace_id = NEW.trace_id AND label_set_id = coalesce(NEW.label_set_id, 0));
    INSERT INTO site_rows(profile_id, site_key_id, alloc_count, free_count, alloc_bytes, free_bytes)
    SELECT NEW.profile_id, id, coalesce(NEW.alloc_count, 0), coalesce(NEW.free_count, 0),
           CASE WHEN coalesce(NEW.alloc_bytes, 0) <> coalesce(NEW.alloc_count, 0) * block_bytes
                     OR typeof(NEW.alloc_count * block_bytes) = 'real'
                THEN coalesce(NEW.alloc_bytes, 0) END,
           CASE WHEN coalesce(NEW.free_bytes, 0) <> coalesce(NEW.free_count, 0) * block_bytes
                     OR typeof(NEW.free_count * block_bytes) = 'real'
                THEN coalesce(NEW.free_bytes, 0) END
    FROM site_keys
    WHERE label_set_id = coalesce(NEW.label_set_id, 0)
      AND id IN (NEW.trace_id,
                 (SELECT id FROM site_keys
                  WHERE id < 0 AND trace_id = NEW.trace_id AND label_set_id = coalesce(NEW.label_set_id, 0)));
END;

CREATE TRIGGER sites_delete INSTEAD OF DELETE ON sites
BEGIN
    DELETE FROM site_rows
    WHERE profile_id = OLD.profile_id
      AND site_key_id IN ((SELECT id FROM site_keys WHERE id = OLD.trace_id AND label_set_id = OLD.label_set_id),
                          (SELECT id FROM site_keys
                           WHERE id < 0 AND trace_id = OLD.trace_id AND label_set_id = OLD.label_set_id));
END;

CREATE TRIGGER sites_update INSTEAD OF UPDATE ON sites
BEGIN
    DELETE FROM sites
    WHERE profile_id = OLD.profile_id AND trace_id = OLD.trace_id AND label_set_id = OLD.label_set_id;
    INSERT INTO sites(profile_id, trace_id, label_set_id, alloc_count, alloc_bytes, free_count, free_bytes)
    VALUES (NEW.profile_id, NEW.trace_id, NEW.label_set_id, NEW.alloc_count, NEW.alloc_bytes, NEW.free_count,
            NEW.free_bytes);
END;

PRAGMA user_version = 2;
