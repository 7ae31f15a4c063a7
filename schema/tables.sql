-- The warehouse: every table of it. One file holds every run of a program and every kind of profile.
-- Times are nanoseconds since the epoch (…_ns of a moment) or plain nanoseconds (durations); sizes are bytes.
-- Ids start at 1. Row 0 of traces, label_sets and mappings means "none", so that keys need no NULL.
-- Text in columns that say JSON is valid JSON; everything else is plain text.

CREATE TABLE meta (
    key   TEXT PRIMARY KEY, -- 'views_hash', 'rules_hash', 'queries_hash': fingerprints of the views and of the shipped rules and queries in this file; 'created_by': clear's version
    value TEXT NOT NULL
) STRICT;

CREATE TABLE runs (
    id           INTEGER PRIMARY KEY,
    uuid         TEXT    NOT NULL UNIQUE,    -- random (RFC 4122, version 4): the run's name across files
    command      TEXT    NOT NULL DEFAULT '', -- what was run, quoted as for a shell; empty for an ingested artefact
    label        TEXT,                       -- the user's own name for it (--label)
    started_ns   INTEGER NOT NULL,           -- ns since the epoch
    duration_ns  INTEGER NOT NULL DEFAULT 0, -- ns from start to end; while the run is under way, to the last flush
    host         TEXT    NOT NULL DEFAULT '', -- host name
    exit_status  INTEGER,                    -- 0..255; NULL while it runs, when a signal ended it, or for an artefact
    exit_signal  INTEGER,                    -- number of the signal that ended it, else NULL
    source       TEXT    NOT NULL,           -- 'profile' for a recorded run, else the path or name of what was ingested
    content_hash TEXT    UNIQUE,             -- SHA-256 (hex) of the ingested bytes; NULL for a recorded run
    sample_n     INTEGER NOT NULL DEFAULT 1, -- every Nth event was recorded and counted N times; 1 is exact
    flags        TEXT    NOT NULL DEFAULT ''  -- words: 'unfinished' the recorder did not see the end; 'sample_bytes=N' allocations were sampled, one in N bytes on average
) STRICT;
CREATE INDEX runs_label ON runs(label) WHERE label IS NOT NULL;

CREATE TABLE tags (
    run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    key    TEXT    NOT NULL, -- 'commit', 'branch', anything
    value  TEXT    NOT NULL,
    PRIMARY KEY (run_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX tags_value ON tags(key, value);

CREATE TABLE processes (
    id         INTEGER PRIMARY KEY,
    run_id     INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    pid        INTEGER NOT NULL,
    ppid       INTEGER NOT NULL,
    executable TEXT    NOT NULL, -- absolute path
    build_id   TEXT    NOT NULL DEFAULT '', -- hex, of the executable
    started_ns INTEGER NOT NULL, -- ns since the epoch, of its first recorded event
    ended_ns   INTEGER           -- ns since the epoch, of the flush that found it gone; NULL while it runs
) STRICT;
CREATE INDEX processes_run ON processes(run_id);

CREATE TABLE profiles (
    id           INTEGER PRIMARY KEY,
    run_id       INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    process_id   INTEGER REFERENCES processes(id) ON DELETE CASCADE, -- NULL for an ingested artefact
    kind         TEXT    NOT NULL,           -- heap, lock, mvcc, channels, cpu, fibers, …; for others the artefact's own
    time_ns      INTEGER NOT NULL DEFAULT 0, -- ns since the epoch: when it was taken
    duration_ns  INTEGER NOT NULL DEFAULT 0, -- ns that it covers
    period       INTEGER NOT NULL DEFAULT 0, -- events (in period_type's unit) between samples; 1 is exact, 0 unknown
    period_type  TEXT    NOT NULL DEFAULT '',
    period_unit  TEXT    NOT NULL DEFAULT '',
    sample_types TEXT    NOT NULL DEFAULT '[]', -- JSON: [["alloc_objects","count"], …] in the profile's order
    default_type TEXT    NOT NULL DEFAULT '', -- the sample type that viewers show first
    comments     TEXT    NOT NULL DEFAULT '[]', -- JSON: texts
    drop_frames  TEXT    NOT NULL DEFAULT '', -- regular expressions, as in profile.proto
    keep_frames  TEXT    NOT NULL DEFAULT '',
    doc_url      TEXT    NOT NULL DEFAULT '',
    mappings     TEXT    NOT NULL DEFAULT '[]', -- JSON: ids of mappings, the main binary first
    dropped      INTEGER NOT NULL DEFAULT 0, -- events that could not be recorded
    truncated    INTEGER NOT NULL DEFAULT 0, -- stacks taken that were deeper than the limit, or could not be walked to their root
    sample_n     INTEGER NOT NULL DEFAULT 1  -- as in runs; 1 for kinds of a sampled run that are exact
) STRICT;
CREATE INDEX profiles_run ON profiles(run_id, kind);

-- Names and stacks. Each is stored once a file.

CREATE TABLE mappings (
    id                INTEGER PRIMARY KEY,
    filename          TEXT    NOT NULL DEFAULT '', -- path of the executable or library
    build_id          TEXT    NOT NULL DEFAULT '', -- hex
    memory_start      INTEGER NOT NULL DEFAULT 0,  -- as in profile.proto. Recorded runs: addresses in the file (no ASLR)
    memory_limit      INTEGER NOT NULL DEFAULT 0,
    file_offset       INTEGER NOT NULL DEFAULT 0,
    has_functions     INTEGER NOT NULL DEFAULT 0, -- 0 or 1
    has_filenames     INTEGER NOT NULL DEFAULT 0,
    has_line_numbers  INTEGER NOT NULL DEFAULT 0,
    has_inline_frames INTEGER NOT NULL DEFAULT 0,
    UNIQUE (filename, build_id, memory_start, memory_limit, file_offset,
            has_functions, has_filenames, has_line_numbers, has_inline_frames)
) STRICT;

CREATE TABLE functions (
    id          INTEGER PRIMARY KEY,
    name        TEXT    NOT NULL,            -- demangled, for people
    system_name TEXT    NOT NULL DEFAULT '', -- as the linker knows it
    filename    TEXT    NOT NULL DEFAULT '', -- source file
    start_line  INTEGER NOT NULL DEFAULT 0,
    UNIQUE (name, system_name, filename, start_line)
) STRICT;

CREATE TABLE locations (
    id         INTEGER PRIMARY KEY,
    mapping_id INTEGER NOT NULL REFERENCES mappings(id),
    address    INTEGER NOT NULL,            -- within the mapping's memory_start..memory_limit; of the call, not of the return
    is_folded  INTEGER NOT NULL DEFAULT 0,  -- 0 or 1, as in profile.proto
    lines_hash INTEGER NOT NULL DEFAULT 0,  -- of its location_lines, so that unlike locations of one address stay apart
    UNIQUE (mapping_id, address, lines_hash, is_folded)
) STRICT;

CREATE TABLE location_lines (
    location_id INTEGER NOT NULL REFERENCES locations(id),
    position    INTEGER NOT NULL,           -- 0 is the innermost inlined function, the last one is the function itself
    function_id INTEGER NOT NULL REFERENCES functions(id),
    line        INTEGER NOT NULL DEFAULT 0, -- 0 unknown
    column      INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (location_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE traces (
    id          INTEGER PRIMARY KEY,
    hash        INTEGER NOT NULL,            -- of the location ids
    signature   INTEGER NOT NULL,            -- of function and file names: equal across rebuilds
    stack       TEXT    NOT NULL,            -- JSON: location ids, leaf first
    location_id INTEGER REFERENCES locations(id), -- where a person would point: the first frame that is no allocator wrapper
    function_id INTEGER REFERENCES functions(id), -- its function …
    line        INTEGER NOT NULL DEFAULT 0   -- … and line
) STRICT;
CREATE INDEX traces_hash ON traces(hash);
CREATE INDEX traces_signature ON traces(signature);

CREATE TABLE label_sets (
    id     INTEGER PRIMARY KEY,
    labels TEXT    NOT NULL UNIQUE -- JSON: [["key","text"], ["key",number,"unit"], …], sorted; unit may be missing
) STRICT;

CREATE TABLE objects (
    id       INTEGER PRIMARY KEY,
    kind     TEXT    NOT NULL, -- lock, cell, channel
    identity TEXT    NOT NULL, -- what makes it the same thing in the next run (see ingest/store/store.h)
    name     TEXT    NOT NULL, -- what a person would call it: 'server:g_table_lock', 'new_table+24', '0x500000', 'channel#1'
    trace_id INTEGER NOT NULL DEFAULT 0 REFERENCES traces(id), -- the stack that allocated it, 0 for none
    offset   INTEGER NOT NULL DEFAULT 0, -- bytes from the start of its heap block or symbol
    UNIQUE (kind, identity)
) STRICT;

-- Source texts, so that a listing works when the files are gone. Each text is stored once a file.

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

-- Measurements. Every row belongs to one profile; figures are totals over what that profile covers.

-- Allocation sites are kept in two tables, because they are nearly all of a file that holds many runs, and read through the
-- view `sites`, which has a row for each profile, stack and label set with all figures, and into which rows may be put. What a
-- site is stands once a file; what it did in a profile is two counts, because a site allocates blocks of one size: bytes are
-- stored where they are something else than count * block_bytes. Measured on 200 similar runs of 2,000 sites: 25.6 bytes a
-- row with all figures in one table; so 18.4, and 16 once for each site.

CREATE TABLE site_keys (
    id           INTEGER PRIMARY KEY, -- trace_id, for the first label set of a stack that was met: most have one, and need no index. Further ones count down from -1
    trace_id     INTEGER NOT NULL REFERENCES traces(id), -- the stack that allocated
    label_set_id INTEGER NOT NULL DEFAULT 0 REFERENCES label_sets(id),
    block_bytes  INTEGER NOT NULL DEFAULT 0, -- bytes of a block: the mean of the row that made the key, rounded down. Never changed, since rows count on it
    CHECK (id = trace_id OR id < 0)
) STRICT;
CREATE UNIQUE INDEX site_keys_more ON site_keys(trace_id, label_set_id) WHERE id < 0;
-- A key that no row has (its runs were deleted) is kept: it does no harm, and the next run of the program has it again.

CREATE TABLE site_rows (
    profile_id  INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE,
    site_key_id INTEGER NOT NULL REFERENCES site_keys(id),
    alloc_count INTEGER NOT NULL DEFAULT 0, -- blocks
    free_count  INTEGER NOT NULL DEFAULT 0, -- frees of what *this* stack allocated: alloc_count - free_count is live
    alloc_bytes INTEGER, -- bytes as requested, without the allocator's overhead; NULL where it is alloc_count * site_keys.block_bytes
    free_bytes  INTEGER, -- bytes freed; NULL where it is free_count * site_keys.block_bytes
    PRIMARY KEY (profile_id, site_key_id)
) STRICT, WITHOUT ROWID;

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

CREATE TABLE locks (
    profile_id       INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE,
    object_id        INTEGER NOT NULL REFERENCES objects(id),
    address          INTEGER NOT NULL,            -- in the process
    trace_id         INTEGER NOT NULL DEFAULT 0 REFERENCES traces(id), -- the caller's stack; 0 where not recorded
    kind             TEXT    NOT NULL DEFAULT '', -- mutex, rwlock, spin, own (the program's own), or empty where unknown
    acquires         INTEGER NOT NULL DEFAULT 0,  -- exclusive ones
    contended        INTEGER NOT NULL DEFAULT 0,  -- of these, how many had to wait
    wait_ns          INTEGER NOT NULL DEFAULT 0,
    max_wait_ns      INTEGER NOT NULL DEFAULT 0,
    hold_ns          INTEGER NOT NULL DEFAULT 0,
    max_hold_ns      INTEGER NOT NULL DEFAULT 0,
    read_acquires    INTEGER NOT NULL DEFAULT 0,  -- shared ones
    read_contended   INTEGER NOT NULL DEFAULT 0,
    read_wait_ns     INTEGER NOT NULL DEFAULT 0,
    read_max_wait_ns INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (profile_id, object_id, address, trace_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE cells (
    profile_id      INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE,
    object_id       INTEGER NOT NULL REFERENCES objects(id),
    address         INTEGER NOT NULL,
    trace_id        INTEGER NOT NULL DEFAULT 0 REFERENCES traces(id),
    struct_size     INTEGER NOT NULL DEFAULT 0, -- bytes copied by one write
    reads           INTEGER NOT NULL DEFAULT 0,
    commits         INTEGER NOT NULL DEFAULT 0,
    multi_commits   INTEGER NOT NULL DEFAULT 0, -- commits that spanned several cells
    retries         INTEGER NOT NULL DEFAULT 0,
    update_failures INTEGER NOT NULL DEFAULT 0, -- updates that gave up
    PRIMARY KEY (profile_id, object_id, address, trace_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE channels (
    profile_id      INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE,
    object_id       INTEGER NOT NULL REFERENCES objects(id),
    channel         INTEGER NOT NULL,           -- its number in the process
    capacity        INTEGER NOT NULL DEFAULT 0, -- messages; 0 unbounded or unknown
    pushes          INTEGER NOT NULL DEFAULT 0,
    pops            INTEGER NOT NULL DEFAULT 0,
    push_blocked    INTEGER NOT NULL DEFAULT 0, -- pushes that had to wait
    pop_blocked     INTEGER NOT NULL DEFAULT 0,
    max_depth       INTEGER NOT NULL DEFAULT 0, -- most messages ever waiting in it
    push_blocked_ns INTEGER NOT NULL DEFAULT 0,
    pop_blocked_ns  INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (profile_id, object_id, channel)
) STRICT, WITHOUT ROWID;

CREATE TABLE cpu (
    profile_id   INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE,
    trace_id     INTEGER NOT NULL REFERENCES traces(id),
    label_set_id INTEGER NOT NULL DEFAULT 0 REFERENCES label_sets(id),
    samples      INTEGER NOT NULL DEFAULT 0,
    cpu_ns       INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (profile_id, trace_id, label_set_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE samples (
    profile_id   INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE,
    trace_id     INTEGER NOT NULL REFERENCES traces(id),
    label_set_id INTEGER NOT NULL DEFAULT 0 REFERENCES label_sets(id),
    v0 INTEGER NOT NULL DEFAULT 0, -- values in the order of profiles.sample_types, whose units they have
    v1 INTEGER NOT NULL DEFAULT 0,
    v2 INTEGER NOT NULL DEFAULT 0,
    v3 INTEGER NOT NULL DEFAULT 0,
    v4 INTEGER NOT NULL DEFAULT 0,
    v5 INTEGER NOT NULL DEFAULT 0,
    v6 INTEGER NOT NULL DEFAULT 0,
    v7 INTEGER NOT NULL DEFAULT 0,
    more TEXT, -- JSON: the ninth value and those after it; NULL for none
    PRIMARY KEY (profile_id, trace_id, label_set_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE fibers (
    profile_id        INTEGER PRIMARY KEY REFERENCES profiles(id) ON DELETE CASCADE,
    total_fibers      INTEGER NOT NULL DEFAULT 0,
    short_fibers      INTEGER NOT NULL DEFAULT 0, -- lived less than 1 ms
    very_short_fibers INTEGER NOT NULL DEFAULT 0, -- lived less than 10 µs
    total_lifetime_ns INTEGER NOT NULL DEFAULT 0,
    max_lifetime_ns   INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE schedulers (
    profile_id INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE,
    scheduler  INTEGER NOT NULL,
    fibers     INTEGER NOT NULL DEFAULT 0, -- fibers run on it
    PRIMARY KEY (profile_id, scheduler)
) STRICT, WITHOUT ROWID;

CREATE TABLE task_sites (
    profile_id        INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE,
    site              INTEGER NOT NULL,
    spawns            INTEGER NOT NULL DEFAULT 0,
    runs              INTEGER NOT NULL DEFAULT 0,
    exits             INTEGER NOT NULL DEFAULT 0,
    total_lifetime_ns INTEGER NOT NULL DEFAULT 0,
    max_lifetime_ns   INTEGER NOT NULL DEFAULT 0,
    dispatch          TEXT    NOT NULL DEFAULT '', -- local, parallel
    form              TEXT    NOT NULL DEFAULT '', -- fsm, stack
    schedulers        TEXT    NOT NULL DEFAULT '{}', -- JSON: {"scheduler": runs, …}
    kind              TEXT    NOT NULL DEFAULT '', -- BG, …, from the transpiled source
    line              INTEGER NOT NULL DEFAULT 0,  -- in the source, 0 unknown
    column            INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (profile_id, site)
) STRICT, WITHOUT ROWID;

CREATE TABLE syscalls (
    profile_id INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE,
    name       TEXT    NOT NULL,
    calls      INTEGER NOT NULL DEFAULT 0,
    errors     INTEGER NOT NULL DEFAULT 0,
    time_ns    INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (profile_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE counters (
    profile_id INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE,
    name       TEXT    NOT NULL, -- as perf stat prints it, or recorder.* for clear's own cost
    value      REAL,             -- NULL: the machine does not count it
    unit       TEXT    NOT NULL DEFAULT 'count',
    PRIMARY KEY (profile_id, name)
) STRICT, WITHOUT ROWID;

-- Judgement travels with the data: thresholds, advice and saved queries are rows.

CREATE TABLE rules (
    name    TEXT PRIMARY KEY, -- 'lock_contended_percent'
    value   REAL NOT NULL,
    unit    TEXT NOT NULL,    -- percent, count, bytes, ns, ms, ratio
    meaning TEXT NOT NULL
) STRICT;

CREATE TABLE advice (
    code     TEXT PRIMARY KEY, -- 'heap-leak': section and code of a diagnosis
    severity TEXT NOT NULL,    -- critical, warning, note, ok
    title    TEXT NOT NULL,    -- one line: what it means
    text     TEXT NOT NULL     -- what to do, and when not to
) STRICT;

CREATE TABLE wrappers (
    pattern TEXT PRIMARY KEY -- GLOB over function names: allocator wrappers, never where a person would point
) STRICT;

CREATE TABLE queries (
    name        TEXT PRIMARY KEY,
    description TEXT NOT NULL,
    params      TEXT NOT NULL DEFAULT '[]', -- JSON: [{"name":…,"type":…,"default":…}]
    sql         TEXT NOT NULL,
    export      TEXT NOT NULL DEFAULT '{}'  -- JSON: options for clear export
) STRICT;

INSERT INTO mappings(id) VALUES (0);
INSERT INTO traces(id, hash, signature, stack) VALUES (0, 0, 0, '[]');
INSERT INTO label_sets(id, labels) VALUES (0, '[]');
