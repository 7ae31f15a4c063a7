-- From version 1 to 2: the texts of source files, and allocation sites in less space. The statements are those of tables.sql, so that
-- `.schema` prints the same for a migrated file as for a new one.

CREATE TABLE source_texts (
    -- One distinct source text.
    id   INTEGER PRIMARY KEY,     -- [id] the text
    hash TEXT    NOT NULL UNIQUE, -- [text] SHA-256 of the text in hex
    text TEXT    NOT NULL         -- [text] the text itself
) STRICT;

CREATE TABLE sources (
    -- One source file of a run.
    run_id  INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    path    TEXT    NOT NULL, -- [text] as in functions.filename
    role    TEXT    NOT NULL, -- [text] source: written by a person; transpiled: written by a compiler for another compiler
    text_id INTEGER NOT NULL REFERENCES source_texts(id), -- [id] its text
    PRIMARY KEY (run_id, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE site_keys (
    -- One allocation site: a stack with a label set.
    id           INTEGER PRIMARY KEY, -- [id] equal to trace_id for the first label set of a stack, which needs no index; further label
                                      -- sets count down from -1
    trace_id     INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack that allocated
    label_set_id INTEGER NOT NULL DEFAULT 0 REFERENCES label_sets(id), -- [id] the labels; 0: none
    block_bytes  INTEGER NOT NULL DEFAULT 0, -- [bytes] size of a block: the mean of the row that made the key, rounded down. Never
                                             -- changed, because rows depend on it
    CHECK (id = trace_id OR id < 0)
) STRICT;
CREATE UNIQUE INDEX site_keys_more ON site_keys(trace_id, label_set_id) WHERE id < 0;

CREATE TABLE site_rows (
    -- The figures of one allocation site in one profile.
    profile_id  INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE, -- [id] the profile
    site_key_id INTEGER NOT NULL REFERENCES site_keys(id), -- [id] the site
    alloc_count INTEGER NOT NULL DEFAULT 0, -- [count] blocks allocated
    free_count  INTEGER NOT NULL DEFAULT 0, -- [count] of those blocks, the freed ones, whoever freed them: alloc_count - free_count is live
    alloc_bytes INTEGER, -- [bytes] allocated; NULL: alloc_count * site_keys.block_bytes
    free_bytes  INTEGER, -- [bytes] freed; NULL: free_count * site_keys.block_bytes
    PRIMARY KEY (profile_id, site_key_id)
) STRICT, WITHOUT ROWID;

-- Moves the rows of the table `sites` into the new tables; a view takes its name. The order is that of the profiles and then of the
-- stacks, as in a new file. Bytes whose product does not fit in 64 bits, which SQLite makes a REAL, are stored.
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
-- Question: which stack allocated and freed how much?
-- Rows: one per profile, stack and label set. Rows can be inserted, updated and deleted as in a table, but without ON CONFLICT,
--   which SQLite has for tables only.
-- Columns:
--   profile_id [id]: the profile
--   trace_id [id]: the stack that allocated
--   label_set_id [id]: the labels; 0: none
--   alloc_count [count]: blocks allocated
--   alloc_bytes [bytes]: bytes allocated
--   free_count [count]: of those blocks, the freed ones, whoever freed them: alloc_count - free_count is live
--   free_bytes [bytes]: their bytes
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

-- A column that is left out is 0. The size of a block is computed as in ingest/writer/site_rows.c. Bytes are left out where they
-- are the product and the product fits in 64 bits; SQLite makes a REAL of a larger one.
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
