-- The warehouse: every table of it. One file holds every run of a program and every kind of profile.
--
-- A comment behind a column is "[unit] meaning"; the first comment in a table says what one row is. `make docs` makes
-- docs/columns.md of them (schema/document-columns.awk has the list of units). SQLite keeps the text from CREATE to the semicolon,
-- so `.schema` prints them too.
--   [id]              the id of a row, from 1. Row 0 of traces, label_sets and mappings means "none", so that keys need no NULL
--   [ns since epoch]  a moment: nanoseconds since 1970-01-01 UTC
--   [ns]              a duration
--   [bytes]           sizes are as the program requested them, without the allocator's overhead
--   [JSON]            valid JSON; every other text is plain text

PRAGMA application_id = 1129071937; -- 'CLEA', which file(1) knows the file by
PRAGMA user_version = 11;            -- the version of these tables: SCHEMA_VERSION of schema.h, one more with each file in migrations/

CREATE TABLE meta (
    -- One fact about this file.
    key   TEXT PRIMARY KEY, -- [text] created_by: the version of clear that made the file. views_hash, rules_hash, queries_hash: which
                            -- views, rules and saved queries of clear are in the file. own_views: the views that are clear's.
                            -- failing_diagnoses: diagnoses of users that fail
    value TEXT NOT NULL     -- [text] the value; JSON for own_views and failing_diagnoses
) STRICT;

CREATE TABLE runs (
    -- One recorded execution, or one ingested file.
    id           INTEGER PRIMARY KEY,        -- [id] what commands call "run 3"
    uuid         TEXT    NOT NULL UNIQUE,    -- [text] random UUID (RFC 4122, version 4): the same run in another file
    command      TEXT    NOT NULL DEFAULT '', -- [text] the command line, quoted for a shell; empty for an ingested file
    label        TEXT,                       -- [text] the name that the user gave with --label; NULL: none
    started_ns   INTEGER NOT NULL,           -- [ns since epoch] start of the run
    duration_ns  INTEGER NOT NULL DEFAULT 0, -- [ns] from the start of the program to its end; of a run that is not over, to the last flush
    host         TEXT    NOT NULL DEFAULT '', -- [text] host name
    exit_status  INTEGER,                    -- [number] 0 to 255; NULL: not over, ended by a signal, or an ingested file
    exit_signal  INTEGER,                    -- [number] the signal that ended it; NULL: none
    source       TEXT    NOT NULL,           -- [text] 'profile' for a recorded run, else the path or name of the ingested file
    content_hash TEXT    UNIQUE,             -- [text] SHA-256 of the ingested bytes in hex; NULL for a recorded run
    sample_n     INTEGER NOT NULL DEFAULT 1, -- [count] every Nth event was recorded, and counted N times; 1: all were
    flags        TEXT    NOT NULL DEFAULT '', -- [text] words. unfinished: the recorder did not see the end. sample_bytes=N: allocations
                                             -- were sampled, one per N bytes on average
    symbolize_ns INTEGER NOT NULL DEFAULT 0, -- [ns] what the recorder spent on finding names for addresses, partly while the program ran;
                                             -- 0: not over, or an ingested file
    write_ns     INTEGER NOT NULL DEFAULT 0  -- [ns] and on reading counters and writing rows; 0: as before
) STRICT;
CREATE INDEX runs_label ON runs(label) WHERE label IS NOT NULL;
-- SQLite reads the ids of all runs from the smallest index, so in this order: views that have no ORDER BY begin with the newest run.
CREATE INDEX runs_newest ON runs(id DESC);
-- The order of the view run_order.
CREATE INDEX runs_started ON runs(started_ns DESC, id DESC);

CREATE TABLE threads (
    -- A thread of a recorded process that had an event (clear profile --trace). The kernel may give its id to another thread afterwards:
    -- the name is that of the last one.
    process_id INTEGER NOT NULL REFERENCES processes(id) ON DELETE CASCADE, -- [id] the process
    tid        INTEGER NOT NULL, -- [number] the kernel's id
    name       TEXT    NOT NULL, -- [text] as of its first event after its birth; at most 15 bytes
    PRIMARY KEY (process_id, tid)
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
    -- One event of a thread: something that took time, or happened at a moment (clear profile --trace). They are stored when the process or
    -- the recording has ended (--stream: at each flush), the latest that its rings kept; processes.lost_events has how many they did not.
    id          INTEGER PRIMARY KEY, -- [id] the event
    process_id  INTEGER NOT NULL REFERENCES processes(id) ON DELETE CASCADE, -- [id] the process
    tid         INTEGER NOT NULL, -- [number] the kernel's id of the thread
    start_ns    INTEGER NOT NULL, -- [ns] since the start of the run
    duration_ns INTEGER NOT NULL, -- [ns] how long it took; 0 of what happens at a moment: release, mark, flow
    kind        TEXT    NOT NULL, -- [text] mutex, rwlock, spin, own: a wait for such a lock; read: for the read side of an rwlock; cond,
                                  -- sem, barrier, join, futex: a wait for one; release: of a lock that others waited for; sleep; syscall: a
                                  -- call of the C library that waited for the system; region, mark, flow: what the program reported so
                                  -- (clear_region_begin, clear_mark, clear_flow); hold: of a lock that others waited for, or a long one;
                                  -- channel: a blocked push or pop; retry: an update of a cell that discarded copies; alloc, free: of a
                                  -- large block; cpu: a sample of CPU time; preempted: the kernel took the processor from it;
                                  -- birth, death: of a thread; fork, exec, exit: of the process;
                                  -- spawn, finish: a fiber is made, has ended; fiber: the thread ran it. Of an ingested trace others
    object_id   INTEGER NOT NULL REFERENCES objects(id), -- [id] the lock, or what is waited for; of a sleep or syscall an object with the
                                  -- name of the call, of a region, mark or flow one with its name; of a fiber "site N";
                                  -- of alloc, free, cpu, birth and death one with an empty name
    address     INTEGER NOT NULL, -- [address] of it in the process; of alloc and free: of the block; 0 where it is a name or a channel
    trace_id    INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack that did it; of a hold that released, of a region that began it, of
                                  -- a birth that started the thread; 0: unknown
    owner_tid   INTEGER, -- [number] the thread that had the mutex, or wrote under the rwlock, when the wait began; of a join: the thread
                                  -- that is joined; of a birth: that started the thread; NULL: unknown, or none
    is_late     INTEGER NOT NULL DEFAULT 0, -- [0 or 1] 1: the wait ended at its time limit, or was interrupted or cancelled; the sleep or
                                  -- call was interrupted
    value       INTEGER  -- [number] of a flow: its number, modulo 2^64 as a signed one; of alloc, free: bytes; of a fork: the new process; of a
                         -- retry: copies that were discarded; of spawn, fiber, finish: the fiber, as a flow; NULL: there is none
) STRICT;
CREATE INDEX events_thread ON events(process_id, tid, start_ns);
CREATE INDEX events_release ON events(process_id, address, start_ns) WHERE kind = 'release';
CREATE INDEX events_blocked ON events(process_id, tid, start_ns) WHERE kind IN ('sleep', 'syscall');

CREATE TABLE run_totals (
    -- The totals of a run, kept when it ends or was read, so that the view run_summary reads one row of a run instead of its sites. A run
    -- without a row is summed from its rows: a run that is not over, or one whose row was deleted because its rows were changed by hand.
    run_id          INTEGER PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    alloc_count     INTEGER NOT NULL, -- [count] blocks allocated
    alloc_bytes     INTEGER NOT NULL, -- [bytes] bytes allocated
    inuse_count     INTEGER NOT NULL, -- [count] blocks live at the end
    inuse_bytes     INTEGER NOT NULL, -- [bytes] bytes live at the end
    peak_bytes      INTEGER NOT NULL, -- [bytes] live at most: the sum of the peaks of its processes; 0: not recorded
    lock_acquires   INTEGER NOT NULL, -- [count] acquisitions of locks, exclusive and shared
    lock_contended  INTEGER NOT NULL, -- [count] how often a thread had to wait for one, whether it got it or not
    lock_wait_ns    INTEGER NOT NULL, -- [ns] sum of their waits
    cpu_ns          INTEGER NOT NULL, -- [ns] CPU time of the program that was sampled
    recorder_cpu_ns INTEGER NOT NULL, -- [ns] CPU time that the recording took inside the program, beside cpu_ns
    dropped         INTEGER NOT NULL, -- [count] events that could not be recorded
    truncated       INTEGER NOT NULL, -- [count] stacks that were cut
    sample_n        INTEGER NOT NULL, -- [number] every Nth event was recorded; 1: all were
    sample_bytes    INTEGER NOT NULL  -- [number] allocations were sampled by size, one per this many bytes on average; 1: all were recorded
) STRICT;

CREATE TABLE seals (
    -- A run whose facts (the tables *_facts) are summed from its rows: at its end, and while it is recorded every few seconds. Facts of a
    -- run without a row here are missing or old; the next clear that may write the file makes them, and so does clear reseal.
    run_id     INTEGER PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    definition INTEGER NOT NULL -- [hash] of schema/facts: which definition of the facts they were made by
) STRICT;

CREATE TABLE tags (
    -- One tag of a run.
    run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    key    TEXT    NOT NULL, -- [text] commit, branch, or any other word
    value  TEXT    NOT NULL, -- [text] its value
    PRIMARY KEY (run_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX tags_value ON tags(key, value);

CREATE TABLE pins (
    -- One run that clear gc and `retention` keep, because somebody said so with clear pin.
    run_id    INTEGER PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    why       TEXT    NOT NULL DEFAULT '', -- [text] the reason; empty: none was given
    pinned_ns INTEGER NOT NULL -- [ns since epoch] when it was pinned
) STRICT;

CREATE TABLE processes (
    -- One process of a recorded run.
    id         INTEGER PRIMARY KEY, -- [id] the process
    run_id     INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    pid        INTEGER NOT NULL, -- [number] process id
    ppid       INTEGER NOT NULL, -- [number] process id of the parent
    executable TEXT    NOT NULL, -- [text] absolute path
    build_id   TEXT    NOT NULL DEFAULT '', -- [text] build id of the executable in hex; empty: none
    started_ns INTEGER NOT NULL, -- [ns since epoch] its first recorded event
    ended_ns   INTEGER,          -- [ns since epoch] the flush that found it gone; NULL: it runs
    threads_started INTEGER NOT NULL DEFAULT 0, -- [count] threads that it had in all, with the first; 0: not known
    threads_most    INTEGER NOT NULL DEFAULT 0, -- [count] the most at one time; 1: its figures, such as the peak, have no error from
                                                -- threads
    thread_ns       INTEGER NOT NULL DEFAULT 0, -- [ns] thread time: the sum of the lives of all threads, until they or the process ended
    lost_events     INTEGER NOT NULL DEFAULT 0  -- [count] events that its rings had no room for, or gave up for newer ones
) STRICT;
CREATE INDEX processes_run ON processes(run_id);

CREATE TABLE profiles (
    -- One window of one kind of one recorded process (the windows of a kind add up to the run), or one ingested profile.
    id           INTEGER PRIMARY KEY, -- [id] the profile
    run_id       INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    process_id   INTEGER REFERENCES processes(id) ON DELETE CASCADE, -- [id] the process; NULL for an ingested profile
    kind         TEXT    NOT NULL,           -- [text] heap, lock, mvcc, channels, cpu, fibers and so on; else the ingested file's own word
    time_ns      INTEGER NOT NULL DEFAULT 0, -- [ns since epoch] end of the window; of an ingested profile when it was taken
    duration_ns  INTEGER NOT NULL DEFAULT 0, -- [ns] length of the window; of an ingested profile the time it covers
    period       INTEGER NOT NULL DEFAULT 0, -- [unit in period_unit] events between two samples; 1: all were recorded, 0: unknown
    period_type  TEXT    NOT NULL DEFAULT '', -- [text] what the period counts: cpu, space and so on
    period_unit  TEXT    NOT NULL DEFAULT '', -- [text] nanoseconds, bytes, count
    sample_types TEXT    NOT NULL DEFAULT '[]', -- [JSON] [["alloc_objects","count"], …]: type and unit of each value, in order
    default_type TEXT    NOT NULL DEFAULT '', -- [text] the sample type that viewers show first; empty: the last one
    comments     TEXT    NOT NULL DEFAULT '[]', -- [JSON] an array of texts
    drop_frames  TEXT    NOT NULL DEFAULT '', -- [text] regular expression of functions to leave out, as in profile.proto
    keep_frames  TEXT    NOT NULL DEFAULT '', -- [text] regular expression of functions to keep all the same, as in profile.proto
    doc_url      TEXT    NOT NULL DEFAULT '', -- [text] URL of documentation, as in profile.proto
    mappings     TEXT    NOT NULL DEFAULT '[]', -- [JSON] an array of ids of mappings, the main binary first
    dropped      INTEGER NOT NULL DEFAULT 0, -- [count] events that could not be recorded
    truncated    INTEGER NOT NULL DEFAULT 0, -- [count] stacks that were cut: deeper than the limit, or not walked to their root
    sample_n     INTEGER NOT NULL DEFAULT 1  -- [count] as in runs; 1 for a kind of a sampled run that was recorded in full
) STRICT;
CREATE INDEX profiles_run ON profiles(run_id, kind);
CREATE INDEX profiles_process ON profiles(process_id, kind) WHERE process_id IS NOT NULL;

-- Names and stacks. Each is stored once per file.

CREATE TABLE mappings (
    -- One executable or library, as mapped into memory.
    id                INTEGER PRIMARY KEY, -- [id] the mapping; 0: none
    filename          TEXT    NOT NULL DEFAULT '', -- [text] path of the executable or library
    build_id          TEXT    NOT NULL DEFAULT '', -- [text] build id in hex; empty: none
    memory_start      INTEGER NOT NULL DEFAULT 0,  -- [address] first address, as in profile.proto; in recorded runs an address in the
                                                   -- file, so that address space randomization changes nothing
    memory_limit      INTEGER NOT NULL DEFAULT 0,  -- [address] the address behind the last
    file_offset       INTEGER NOT NULL DEFAULT 0,  -- [bytes] offset in the file of memory_start
    has_functions     INTEGER NOT NULL DEFAULT 0, -- [0 or 1] its locations have function names
    has_filenames     INTEGER NOT NULL DEFAULT 0, -- [0 or 1] and source files
    has_line_numbers  INTEGER NOT NULL DEFAULT 0, -- [0 or 1] and lines
    has_inline_frames INTEGER NOT NULL DEFAULT 0, -- [0 or 1] and inlined functions
    UNIQUE (filename, build_id, memory_start, memory_limit, file_offset,
            has_functions, has_filenames, has_line_numbers, has_inline_frames)
) STRICT;

CREATE TABLE functions (
    -- One function.
    id          INTEGER PRIMARY KEY,         -- [id] the function
    name        TEXT    NOT NULL,            -- [text] demangled name
    system_name TEXT    NOT NULL DEFAULT '', -- [text] name in the symbol table
    filename    TEXT    NOT NULL DEFAULT '', -- [text] path of the source file; empty: unknown
    start_line  INTEGER NOT NULL DEFAULT 0,  -- [line] where the function begins; 0: unknown
    UNIQUE (name, system_name, filename, start_line)
) STRICT;

CREATE TABLE locations (
    -- One machine address in a mapping.
    id         INTEGER PRIMARY KEY, -- [id] the location
    mapping_id INTEGER NOT NULL REFERENCES mappings(id), -- [id] the mapping; 0: unknown
    address    INTEGER NOT NULL,            -- [address] of the call, not of the return; between memory_start and memory_limit
    is_folded  INTEGER NOT NULL DEFAULT 0,  -- [0 or 1] as in profile.proto: the linker gave several functions this address
    lines_hash INTEGER NOT NULL DEFAULT 0,  -- [hash] of its location_lines: keeps apart locations of one address with other lines
    UNIQUE (mapping_id, address, lines_hash, is_folded)
) STRICT;

CREATE TABLE location_lines (
    -- One function and line of a location; more than one where functions were inlined.
    location_id INTEGER NOT NULL REFERENCES locations(id), -- [id] the location
    position    INTEGER NOT NULL,           -- [number] 0 is the innermost inlined function, the last is the function itself
    function_id INTEGER NOT NULL REFERENCES functions(id), -- [id] the function
    line        INTEGER NOT NULL DEFAULT 0, -- [line] in the function's source file; 0: unknown
    column      INTEGER NOT NULL DEFAULT 0, -- [number] column in that line; 0: unknown
    PRIMARY KEY (location_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE traces (
    -- One distinct stack.
    id          INTEGER PRIMARY KEY,         -- [id] the stack; 0: none
    hash        INTEGER NOT NULL,            -- [hash] of the location ids
    signature   INTEGER NOT NULL,            -- [hash] of its function and source file names: the same in a rebuilt program, whatever was
                                             -- inlined
    stack       TEXT    NOT NULL,            -- [JSON] an array of location ids, leaf first
    location_id INTEGER REFERENCES locations(id), -- [id] the frame to show: the first from the leaf that is not a wrapper of an allocator
                                             -- or lock (table wrappers); NULL: none
    function_id INTEGER REFERENCES functions(id), -- [id] its function; NULL: unknown
    line        INTEGER NOT NULL DEFAULT 0   -- [line] its line; 0: unknown
) STRICT;
CREATE INDEX traces_hash ON traces(hash);
CREATE INDEX traces_signature ON traces(signature);

CREATE TABLE label_sets (
    -- One distinct set of labels of a sample.
    id     INTEGER PRIMARY KEY,    -- [id] the set; 0: no labels
    labels TEXT    NOT NULL UNIQUE -- [JSON] [["key","text"], ["key",number,"unit"], …], sorted; the unit may be missing
) STRICT;

CREATE TABLE objects (
    -- One lock, cell or channel.
    id       INTEGER PRIMARY KEY, -- [id] the object
    kind     TEXT    NOT NULL, -- [text] lock, wait (what is waited for that is no lock), cell, channel, name (of events: of a region, a call)
    identity TEXT    NOT NULL, -- [text] what makes it the same object in the next run (see ingest/writer/row_writer.h)
    name     TEXT    NOT NULL, -- [text] for people: server:g_table_lock, new_table+24, new_table+24#2 (in the second block that new_table
                               -- allocated), trades (local of run(), app.cc:41), 0x500000, channel#1
    trace_id INTEGER NOT NULL DEFAULT 0 REFERENCES traces(id), -- [id] the stack that allocated it; 0: unknown
    offset   INTEGER NOT NULL DEFAULT 0, -- [bytes] from the start of its heap block or symbol
    UNIQUE (kind, identity)
) STRICT;

-- Source texts, so that a listing works when the files are gone. Each text is stored once per file.

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

-- Measurements. Every row belongs to one profile; figures are sums over what that profile covers.

-- Allocation sites are nearly all of a file that holds many runs, so they are kept in two tables, and read through the view
-- `sites`. site_keys has what a site is, once per file. site_rows has what it did in one profile: two counts, because a site
-- mostly allocates blocks of one size; bytes are stored only where they are not count * block_bytes. Measured on 200 similar
-- runs of 2,000 sites: 25.6 bytes per row with all figures in one table, 18.4 bytes with two, and 16 bytes once per site.

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
-- A key without rows (its runs were deleted) stays: it does no harm, and the next run of the program uses it again.

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

CREATE TABLE site_details (
    -- More of one allocation site in one profile, where it has any.
    profile_id      INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE, -- [id] the profile
    trace_id        INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack that allocated
    temporary_count INTEGER NOT NULL DEFAULT 0, -- [count] blocks freed before the thread that allocated them allocated another one
    calloc_count    INTEGER NOT NULL DEFAULT 0, -- [count] blocks from calloc; those that no column counts are from malloc
    aligned_count   INTEGER NOT NULL DEFAULT 0, -- [count] blocks from posix_memalign, aligned_alloc, memalign, valloc, pvalloc
    realloc_count   INTEGER NOT NULL DEFAULT 0, -- [count] blocks from realloc and reallocarray, also of no old block
    moved_count     INTEGER NOT NULL DEFAULT 0, -- [count] those of them that were moved to another address
    moved_bytes     INTEGER NOT NULL DEFAULT 0, -- [bytes] copied by that: the smaller of the old and the new size
    realloc_bytes   INTEGER NOT NULL DEFAULT 0, -- [bytes] of the blocks of realloc_count; 0 in files of version 3, as the next four
    resized_count   INTEGER NOT NULL DEFAULT 0, -- [count] calls of realloc with a block that was there, moved or not
    resized_bytes   INTEGER NOT NULL DEFAULT 0, -- [bytes] that these blocks had before
    step_count      INTEGER NOT NULL DEFAULT 0, -- [count] those of them that made the block larger, by less than an eighth
    step_bytes      INTEGER NOT NULL DEFAULT 0, -- [bytes] that the blocks of step_count had before
    replaced_count  INTEGER NOT NULL DEFAULT 0, -- [count] blocks of 4,096 B and more that were freed by free or delete when the thread had
                                                -- allocated a block of the same stack last; 0 in files of version 5, as the next three
    copy_step_count INTEGER NOT NULL DEFAULT 0, -- [count] those of them where that block is larger, by less than an eighth
    copy_step_bytes INTEGER NOT NULL DEFAULT 0, -- [bytes] of the blocks of copy_step_count
    copy_growth_bytes INTEGER NOT NULL DEFAULT 0, -- [bytes] by which the new blocks of copy_step_count are larger, together
    PRIMARY KEY (profile_id, trace_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE leaks (
    -- Blocks of one stack that nothing reached when their process ended (clear profile --leaks). The process has a profile of the kind leak
    -- if it was searched; live blocks of a stack that are not counted here were reachable.
    profile_id     INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE, -- [id] the profile
    trace_id       INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack that allocated
    lost_count     INTEGER NOT NULL DEFAULT 0, -- [count] blocks that no pointer leads to
    lost_bytes     INTEGER NOT NULL DEFAULT 0, -- [bytes] their bytes
    indirect_count INTEGER NOT NULL DEFAULT 0, -- [count] blocks that only lost blocks point at
    indirect_bytes INTEGER NOT NULL DEFAULT 0, -- [bytes] their bytes
    PRIMARY KEY (profile_id, trace_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE io (
    -- Calls that read, write, open or close files and sockets, of one stack in one profile of the kind io.
    profile_id  INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE, -- [id] the profile
    trace_id    INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack that called
    call        TEXT    NOT NULL,           -- [text] read, pread, readv, preadv, recv, recvfrom, recvmsg, write, pwrite, writev, pwritev,
                                            -- send, sendto, sendmsg, fflush (that had something to write), fsync, fdatasync, open, close,
                                            -- sendfile, splice, copy_file_range; relatives count as one: pread64 as pread, preadv2 as
                                            -- preadv, openat as open, recvmmsg as recvfrom, sendmmsg as sendto
    calls       INTEGER NOT NULL DEFAULT 0, -- [count] that returned, with errors and would_block
    bytes       INTEGER NOT NULL DEFAULT 0, -- [bytes] moved by them
    errors      INTEGER NOT NULL DEFAULT 0, -- [count] calls that failed, without would_block
    would_block INTEGER NOT NULL DEFAULT 0, -- [count] calls of non-blocking files that were not ready (EAGAIN)
    small_calls INTEGER NOT NULL DEFAULT 0, -- [count] calls that moved 1 to 511 bytes, but for sendfile, splice, copy_file_range
    small_bytes INTEGER NOT NULL DEFAULT 0, -- [bytes] moved by these
    short_calls INTEGER NOT NULL DEFAULT 0, -- [count] calls that moved at least one byte and fewer than asked for; 0 for calls with vectors
                                            -- and for these three
    time_ns     INTEGER NOT NULL DEFAULT 0, -- [ns] in all these calls, waiting included; an estimate where timed_calls is less than calls
    max_time_ns INTEGER NOT NULL DEFAULT 0, -- [ns] in the longest call that was timed
    timed_calls INTEGER NOT NULL DEFAULT 0, -- [count] calls that were timed
    PRIMARY KEY (profile_id, trace_id, call)
) STRICT, WITHOUT ROWID;

CREATE TABLE histograms (
    -- Blocks of one allocation site by size and by lifetime, in one profile of the kind lifetimes (clear profile --lifetimes). A row is a
    -- bucket: values from from_value up to below twice that; from_value 0 is the value 0.
    profile_id INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE, -- [id] the profile
    trace_id   INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack that allocated
    histogram  TEXT    NOT NULL, -- [text] size: bytes of each block; lifetime: ns from the allocation to the free, of freed blocks; passed:
                                 -- blocks that its thread allocated in between, of blocks that this thread freed
    from_value INTEGER NOT NULL, -- [count] the lowest value of the bucket, in bytes, ns or blocks: 0, 1, 2, 4, 8, ...
    count      INTEGER NOT NULL, -- [count] blocks
    PRIMARY KEY (profile_id, trace_id, histogram, from_value)
) STRICT, WITHOUT ROWID;

CREATE TABLE maps (
    -- Mappings of one stack in one profile of the kind mmap: those that the program makes itself by mmap, mremap, brk and sbrk.
    profile_id   INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE, -- [id] the profile
    trace_id     INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack that mapped
    use          TEXT    NOT NULL, -- [text] anonymous (private memory), file (a private mapping of a file), shared, stack (MAP_STACK),
                                   -- reserved (made without access), break (brk, sbrk)
    label_set_id INTEGER NOT NULL REFERENCES label_sets(id), -- [id] the use, as a label
    map_count    INTEGER NOT NULL DEFAULT 0, -- [count] mappings made
    map_bytes    INTEGER NOT NULL DEFAULT 0, -- [bytes] of address space that they took
    unmap_count  INTEGER NOT NULL DEFAULT 0, -- [count] mappings of this stack that were unmapped, moved or replaced
    unmap_bytes  INTEGER NOT NULL DEFAULT 0, -- [bytes] likewise, also of parts of mappings
    PRIMARY KEY (profile_id, trace_id, use)
) STRICT, WITHOUT ROWID;

CREATE TABLE spin_loops (
    -- An instruction that CPU samples of a recorded process met, in a loop that only asks memory again: it stores nothing, calls nothing, and keeps
    -- nothing from one turn to the next. Or a call that slept for some milliseconds, in a loop that does nothing else but ask. Told by the code of its file when
    -- the run ended.
    process_id   INTEGER NOT NULL REFERENCES processes(id) ON DELETE CASCADE, -- [id] the process
    location_id  INTEGER NOT NULL REFERENCES locations(id), -- [id] the instruction
    head         INTEGER NOT NULL, -- [address] of the first instruction of the loop, in the same mapping
    instructions INTEGER NOT NULL, -- [count] instructions of a turn
    has_pause    INTEGER NOT NULL, -- [0 or 1] one of them is a pause, which is made for such loops
    sleeps       INTEGER NOT NULL DEFAULT 0, -- [0 or 1] it sleeps in each turn
    stores       INTEGER NOT NULL DEFAULT 0, -- [0 or 1] it is no such loop: it stores to one place in each turn, and calls nothing
    asked        TEXT    NOT NULL DEFAULT '', -- [text] the global variable that it asks for and `writer` stores to: server:is_ready; empty: not known
    writer       TEXT    NOT NULL DEFAULT '', -- [text] the linker's name of another function that stores to it; where the loop sleeps, one that stacks of the file have; empty: none is known
    PRIMARY KEY (process_id, location_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE thread_delays (
    -- A thread of a recorded process that was ready to run and had no processor for 1 ms or more, as the kernel counts it.
    process_id INTEGER NOT NULL REFERENCES processes(id) ON DELETE CASCADE, -- [id] the process
    tid        INTEGER NOT NULL, -- [number] the kernel's number of the thread; a later thread may have it again, and counts here too
    name       TEXT    NOT NULL, -- [text] its name in the kernel; empty: it was gone
    ran_ns     INTEGER NOT NULL, -- [ns] that it ran, up to the last look that saw it
    delay_ns   INTEGER NOT NULL, -- [ns] that it was ready and had no processor, up to that look
    PRIMARY KEY (process_id, tid)
) STRICT, WITHOUT ROWID;

CREATE TABLE heap_peaks (
    -- What one stack had live when the live bytes of its process were highest: in the process's profile of kind heap-peak, whose
    -- time_ns is that moment.
    profile_id INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE, -- [id] the profile
    trace_id   INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack that allocated
    peak_count INTEGER NOT NULL DEFAULT 0, -- [count] blocks live at that moment
    peak_bytes INTEGER NOT NULL DEFAULT 0, -- [bytes] their bytes
    PRIMARY KEY (profile_id, trace_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE locks (
    -- The figures of one lock in one profile, or of another thing that threads wait for (profiles of the kind wait). A recorded lock has
    -- one row for all acquisitions without a wait (trace_id 0), and one for each stack that had to wait.
    profile_id       INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE, -- [id] the profile
    object_id        INTEGER NOT NULL REFERENCES objects(id), -- [id] the lock
    address          INTEGER NOT NULL,            -- [address] of the lock in the process
    trace_id         INTEGER NOT NULL DEFAULT 0 REFERENCES traces(id), -- [id] the stack of the caller; 0: none was
                                                  -- recorded, as for acquisitions without a wait
    kind             TEXT    NOT NULL DEFAULT '', -- [text] mutex, rwlock, spin, own (a lock that the program made itself); cond, sem,
                                                  -- barrier, join (the end of a thread), futex (of another runtime); empty: unknown
    acquires         INTEGER NOT NULL DEFAULT 0,  -- [count] exclusive acquisitions; of what is no lock: waits that ended as they should, also
                                                  -- those that took no time
    contended        INTEGER NOT NULL DEFAULT 0,  -- [count] those of them that had to wait
    wait_ns          INTEGER NOT NULL DEFAULT 0,  -- [ns] sum of the waits, with those of timeouts and unfinished
    max_wait_ns      INTEGER NOT NULL DEFAULT 0,  -- [ns] the longest of them
    hold_ns          INTEGER NOT NULL DEFAULT 0,  -- [ns] sum of the exclusive holds
    max_hold_ns      INTEGER NOT NULL DEFAULT 0,  -- [ns] the longest exclusive hold that was timed
    read_acquires    INTEGER NOT NULL DEFAULT 0,  -- [count] shared acquisitions, whose holds are not timed
    read_contended   INTEGER NOT NULL DEFAULT 0,  -- [count] those of them that had to wait
    read_wait_ns     INTEGER NOT NULL DEFAULT 0,  -- [ns] sum of their waits
    read_max_wait_ns INTEGER NOT NULL DEFAULT 0,  -- [ns] the longest of their waits
    timeouts         INTEGER NOT NULL DEFAULT 0,  -- [count] waits, exclusive and shared, that ended at their time limit or by a signal, and
                                                  -- are not in contended; their time is in wait_ns
    unfinished       INTEGER NOT NULL DEFAULT 0,  -- [count] waits that were not over when the process ended: a deadlock, or idle threads;
                                                  -- of one that goes on: of threads that wait for each other; their time is in wait_ns
    failed_tries     INTEGER NOT NULL DEFAULT 0,  -- [count] calls that only try (trylock, sem_trywait, tryjoin), and would have had to wait
    condition_waits  INTEGER NOT NULL DEFAULT 0,  -- [count] of a mutex: waits on condition variables that released it
    timed_holds      INTEGER NOT NULL DEFAULT 0,  -- [count] holds that were timed: where less than acquires, hold_ns is an estimate from a
                                                  -- sample of short holds; 0: not known
    signals          INTEGER NOT NULL DEFAULT 0,  -- [count] wakes of one waiter: pthread_cond_signal, sem_post, FUTEX_WAKE
    broadcasts       INTEGER NOT NULL DEFAULT 0,  -- [count] wakes of several: pthread_cond_broadcast
    first_trace_id   INTEGER NOT NULL DEFAULT 0 REFERENCES traces(id), -- [id] in the row without a caller: the stack that took the lock
                                                  -- first; of what is no lock, that used it first without a wait: that woke the
                                                  -- waiters of a condition variable first; 0: not known
    futile_wakes     INTEGER NOT NULL DEFAULT 0,  -- [count] of a condition variable: threads that were woken and waited again before they
                                                  -- released the mutex, because what they wait for was not there
    woken            INTEGER NOT NULL DEFAULT 0,  -- [count] of a futex: threads that were woken, as the kernel says
    own_wakes        INTEGER NOT NULL DEFAULT 0,  -- [count] of a futex or semaphore: wakes by threads that had waited for it before: those of a
                                                  -- lock or pool, and not of a queue
    mutex_address    INTEGER NOT NULL DEFAULT 0,  -- [address] of a condition variable, in rows with a caller: of the mutex that its waiters
                                                  -- release, a row of this process in a profile of the kind lock; 0: not known
    lost_wakes       INTEGER NOT NULL DEFAULT 0,  -- [count] of a condition variable: waits that ended at their time limit, and then their thread
                                                  -- went on, though a signal had come before them that met nobody; the thread had not
                                                  -- released the mutex since. Not known of a mutex that a thread takes 16,384 times
    wait_seen_ns     INTEGER NOT NULL DEFAULT 0,  -- [ns] of wait_ns and read_wait_ns, about: waits that a look of the recorder met, for a thread that is
                                                  -- known, with shorter ones that these stand for. It looks while threads have no processor
    wait_delay_ns    INTEGER NOT NULL DEFAULT 0,  -- [ns] of wait_seen_ns: the thread that had the lock, or the one that waited, was ready to run
                                                  -- and had no processor; at least
    hold_delay_ns    INTEGER NOT NULL DEFAULT 0,  -- [ns] of hold_ns, while others waited: the thread that had the lock was ready and had no
                                                  -- processor; at least
    PRIMARY KEY (profile_id, object_id, address, trace_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE spins (
    -- What one stack called, in one profile, of what a thread calls that waits without blocking: a loop of these burns a processor. The
    -- first 256 yields and failed tries of a thread are counted one by one, later ones by samples of one in 16.
    profile_id   INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE, -- [id] the profile
    trace_id     INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack of the caller
    yields       INTEGER NOT NULL DEFAULT 0, -- [count] calls of sched_yield and thrd_yield
    short_sleeps INTEGER NOT NULL DEFAULT 0, -- [count] sleeps of less than 1 ms (usleep, nanosleep, ...) that no signal ended; exact
    sleep_ns     INTEGER NOT NULL DEFAULT 0, -- [ns] how long these took in all
    failed_tries INTEGER NOT NULL DEFAULT 0, -- [count] calls that only try (trylock, sem_trywait, tryjoin), and would have had to wait
    naps         INTEGER NOT NULL DEFAULT 0, -- [count] sleeps of 1 to 100 ms that no signal ended, and not until a moment; exact
    nap_ns       INTEGER NOT NULL DEFAULT 0, -- [ns] how long these took in all
    PRIMARY KEY (profile_id, trace_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE thread_starts (
    -- The threads that one stack started, in one profile. The first thread of a process is not among them, nor is one that no hook saw being
    -- started.
    profile_id  INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE, -- [id] the profile
    trace_id    INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack that started them
    started     INTEGER NOT NULL DEFAULT 0, -- [count] threads started
    ended       INTEGER NOT NULL DEFAULT 0, -- [count] threads that ended, by themselves or with their process
    life_ns     INTEGER NOT NULL DEFAULT 0, -- [ns] sum of the lives of those that ended
    max_life_ns INTEGER NOT NULL DEFAULT 0, -- [ns] the longest of them
    short_count INTEGER NOT NULL DEFAULT 0, -- [count] those that ended by themselves and lived less than 1 ms
    short_ns    INTEGER NOT NULL DEFAULT 0, -- [ns] sum of their lives
    PRIMARY KEY (profile_id, trace_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE cells (
    -- The figures of one versioned cell in one profile, per calling stack where callers were recorded.
    profile_id      INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE, -- [id] the profile
    object_id       INTEGER NOT NULL REFERENCES objects(id), -- [id] the cell
    address         INTEGER NOT NULL,           -- [address] of the cell in the process
    trace_id        INTEGER NOT NULL DEFAULT 0 REFERENCES traces(id), -- [id] the stack of the caller; 0: not recorded
    struct_size     INTEGER NOT NULL DEFAULT 0, -- [bytes] copied by one write
    reads           INTEGER NOT NULL DEFAULT 0, -- [count] reads of a version
    commits         INTEGER NOT NULL DEFAULT 0, -- [count] new versions
    multi_commits   INTEGER NOT NULL DEFAULT 0, -- [count] commits that changed several cells at once
    retries         INTEGER NOT NULL DEFAULT 0, -- [count] copies that were thrown away because another writer was first
    update_failures INTEGER NOT NULL DEFAULT 0, -- [count] updates that gave up after too many retries
    PRIMARY KEY (profile_id, object_id, address, trace_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE channels (
    -- The figures of one channel in one profile.
    profile_id      INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE, -- [id] the profile
    object_id       INTEGER NOT NULL REFERENCES objects(id), -- [id] the channel
    channel         INTEGER NOT NULL,           -- [number] its number in the process
    capacity        INTEGER NOT NULL DEFAULT 0, -- [count] messages that fit in; 0: no limit, or unknown
    pushes          INTEGER NOT NULL DEFAULT 0, -- [count] messages sent
    pops            INTEGER NOT NULL DEFAULT 0, -- [count] messages received
    push_blocked    INTEGER NOT NULL DEFAULT 0, -- [count] pushes that had to wait
    pop_blocked     INTEGER NOT NULL DEFAULT 0, -- [count] pops that had to wait
    max_depth       INTEGER NOT NULL DEFAULT 0, -- [count] the most messages in it at one time
    push_blocked_ns INTEGER NOT NULL DEFAULT 0, -- [ns] sum of the waits of pushes; 0 in dumps, which have no times
    pop_blocked_ns  INTEGER NOT NULL DEFAULT 0, -- [ns] sum of the waits of pops; 0 in dumps, which have no times
    PRIMARY KEY (profile_id, object_id, channel)
) STRICT, WITHOUT ROWID;

CREATE TABLE cpu (
    -- The CPU samples of one stack and label set in one profile.
    profile_id   INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE, -- [id] the profile
    trace_id     INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack
    label_set_id INTEGER NOT NULL DEFAULT 0 REFERENCES label_sets(id), -- [id] the labels; 0: none
    samples      INTEGER NOT NULL DEFAULT 0, -- [count] samples
    cpu_ns       INTEGER NOT NULL DEFAULT 0, -- [ns] CPU time that they stand for
    PRIMARY KEY (profile_id, trace_id, label_set_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE samples (
    -- The values of one stack and label set in a profile of any other kind.
    profile_id   INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE, -- [id] the profile
    trace_id     INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack
    label_set_id INTEGER NOT NULL DEFAULT 0 REFERENCES label_sets(id), -- [id] the labels; 0: none
    v0 INTEGER NOT NULL DEFAULT 0, -- [unit in profiles.sample_types] the first value, in the order of sample_types
    v1 INTEGER NOT NULL DEFAULT 0, -- [unit in profiles.sample_types] the second value
    v2 INTEGER NOT NULL DEFAULT 0, -- [unit in profiles.sample_types] the third value
    v3 INTEGER NOT NULL DEFAULT 0, -- [unit in profiles.sample_types] the fourth value
    v4 INTEGER NOT NULL DEFAULT 0, -- [unit in profiles.sample_types] the fifth value
    v5 INTEGER NOT NULL DEFAULT 0, -- [unit in profiles.sample_types] the sixth value
    v6 INTEGER NOT NULL DEFAULT 0, -- [unit in profiles.sample_types] the seventh value
    v7 INTEGER NOT NULL DEFAULT 0, -- [unit in profiles.sample_types] the eighth value
    more TEXT, -- [JSON] an array of the ninth value and those after it; NULL: none
    PRIMARY KEY (profile_id, trace_id, label_set_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE fibers (
    -- All fibers of one profile.
    profile_id        INTEGER PRIMARY KEY REFERENCES profiles(id) ON DELETE CASCADE, -- [id] the profile
    total_fibers      INTEGER NOT NULL DEFAULT 0, -- [count] fibers
    short_fibers      INTEGER NOT NULL DEFAULT 0, -- [count] those that lived less than 1 ms
    very_short_fibers INTEGER NOT NULL DEFAULT 0, -- [count] those that lived less than 10 µs
    total_lifetime_ns INTEGER NOT NULL DEFAULT 0, -- [ns] sum of their lifetimes
    max_lifetime_ns   INTEGER NOT NULL DEFAULT 0  -- [ns] the longest lifetime
) STRICT;

CREATE TABLE schedulers (
    -- One scheduler of fibers in one profile.
    profile_id INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE, -- [id] the profile
    scheduler  INTEGER NOT NULL,           -- [number] its number
    fibers     INTEGER NOT NULL DEFAULT 0, -- [count] fibers run on it
    PRIMARY KEY (profile_id, scheduler)
) STRICT, WITHOUT ROWID;

CREATE TABLE task_sites (
    -- One place in the source that starts fibers, in one profile.
    profile_id        INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE, -- [id] the profile
    site              INTEGER NOT NULL,           -- [number] the compiler's number of the place
    spawns            INTEGER NOT NULL DEFAULT 0, -- [count] fibers started
    runs              INTEGER NOT NULL DEFAULT 0, -- [count] times that a scheduler ran one of them
    exits             INTEGER NOT NULL DEFAULT 0, -- [count] fibers that ended
    total_lifetime_ns INTEGER NOT NULL DEFAULT 0, -- [ns] sum of the lifetimes of those that ended
    max_lifetime_ns   INTEGER NOT NULL DEFAULT 0, -- [ns] the longest lifetime
    dispatch          TEXT    NOT NULL DEFAULT '', -- [text] local: to the scheduler that spawns; parallel: to any; empty: unknown
    form              TEXT    NOT NULL DEFAULT '', -- [text] fsm: a state machine; stack: with a stack of its own; empty: unknown
    schedulers        TEXT    NOT NULL DEFAULT '{}', -- [JSON] {"scheduler": runs, …}
    kind              TEXT    NOT NULL DEFAULT '', -- [text] BG and so on, from the transpiled source; empty: unknown
    line              INTEGER NOT NULL DEFAULT 0,  -- [line] in the source; 0: unknown
    column            INTEGER NOT NULL DEFAULT 0,  -- [number] column in that line; 0: unknown
    PRIMARY KEY (profile_id, site)
) STRICT, WITHOUT ROWID;

CREATE TABLE syscalls (
    -- One system call of a profile of strace.
    profile_id INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE, -- [id] the profile
    name       TEXT    NOT NULL,           -- [text] its name
    calls      INTEGER NOT NULL DEFAULT 0, -- [count] calls
    errors     INTEGER NOT NULL DEFAULT 0, -- [count] calls that returned an error
    time_ns    INTEGER NOT NULL DEFAULT 0, -- [ns] sum of their times
    PRIMARY KEY (profile_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE counters (
    -- One counter of a profile.
    profile_id INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE, -- [id] the profile
    name       TEXT    NOT NULL, -- [text] as perf stat prints it; recorder.*: what recording itself cost; process.*: what a
                                 -- window of the kind heap knows of its process at its end
    value      REAL,             -- [unit in unit] the value; NULL: the machine does not count it
    unit       TEXT    NOT NULL DEFAULT 'count', -- [text] count, ms, bytes and so on
    PRIMARY KEY (profile_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_places (
    -- Where exports list one stack, label set or object of a run that clear merge took from another file: only for runs of which the order of
    -- ids here is not that of ids there, so that an export has the same bytes in both files.
    run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    thing  TEXT    NOT NULL, -- [text] trace, label_set, object
    id     INTEGER NOT NULL, -- [id] of that thing in this file
    place  INTEGER NOT NULL, -- [number] exports are sorted by it: its id in the first file
    PRIMARY KEY (run_id, thing, id)
) STRICT, WITHOUT ROWID;

-- Totals and facts whose rows were changed would be wrong, so a change by another program than clear, whose own connections run no
-- triggers, removes the totals of the run and breaks its seal.
CREATE TRIGGER run_totals_site_rows_insert AFTER INSERT ON site_rows
BEGIN
    DELETE FROM run_totals WHERE run_id = (SELECT run_id FROM profiles WHERE id = NEW.profile_id);
    DELETE FROM seals WHERE run_id = (SELECT run_id FROM profiles WHERE id = NEW.profile_id);
END;

CREATE TRIGGER run_totals_site_rows_delete AFTER DELETE ON site_rows
BEGIN
    DELETE FROM run_totals WHERE run_id = (SELECT run_id FROM profiles WHERE id = OLD.profile_id);
    DELETE FROM seals WHERE run_id = (SELECT run_id FROM profiles WHERE id = OLD.profile_id);
END;

CREATE TRIGGER run_totals_site_rows_update AFTER UPDATE ON site_rows
BEGIN
    DELETE FROM run_totals WHERE run_id IN (SELECT run_id FROM profiles WHERE id IN (OLD.profile_id, NEW.profile_id));
    DELETE FROM seals WHERE run_id IN (SELECT run_id FROM profiles WHERE id IN (OLD.profile_id, NEW.profile_id));
END;

CREATE TRIGGER run_totals_locks_insert AFTER INSERT ON locks
BEGIN
    DELETE FROM run_totals WHERE run_id = (SELECT run_id FROM profiles WHERE id = NEW.profile_id);
    DELETE FROM seals WHERE run_id = (SELECT run_id FROM profiles WHERE id = NEW.profile_id);
END;

CREATE TRIGGER run_totals_locks_delete AFTER DELETE ON locks
BEGIN
    DELETE FROM run_totals WHERE run_id = (SELECT run_id FROM profiles WHERE id = OLD.profile_id);
    DELETE FROM seals WHERE run_id = (SELECT run_id FROM profiles WHERE id = OLD.profile_id);
END;

CREATE TRIGGER run_totals_locks_update AFTER UPDATE ON locks
BEGIN
    DELETE FROM run_totals WHERE run_id IN (SELECT run_id FROM profiles WHERE id IN (OLD.profile_id, NEW.profile_id));
    DELETE FROM seals WHERE run_id IN (SELECT run_id FROM profiles WHERE id IN (OLD.profile_id, NEW.profile_id));
END;

CREATE TRIGGER run_totals_cpu_insert AFTER INSERT ON cpu
BEGIN
    DELETE FROM run_totals WHERE run_id = (SELECT run_id FROM profiles WHERE id = NEW.profile_id);
    DELETE FROM seals WHERE run_id = (SELECT run_id FROM profiles WHERE id = NEW.profile_id);
END;

CREATE TRIGGER run_totals_cpu_delete AFTER DELETE ON cpu
BEGIN
    DELETE FROM run_totals WHERE run_id = (SELECT run_id FROM profiles WHERE id = OLD.profile_id);
    DELETE FROM seals WHERE run_id = (SELECT run_id FROM profiles WHERE id = OLD.profile_id);
END;

CREATE TRIGGER run_totals_cpu_update AFTER UPDATE ON cpu
BEGIN
    DELETE FROM run_totals WHERE run_id IN (SELECT run_id FROM profiles WHERE id IN (OLD.profile_id, NEW.profile_id));
    DELETE FROM seals WHERE run_id IN (SELECT run_id FROM profiles WHERE id IN (OLD.profile_id, NEW.profile_id));
END;

CREATE TRIGGER run_totals_profiles_delete AFTER DELETE ON profiles
BEGIN
    DELETE FROM run_totals WHERE run_id = OLD.run_id;
    DELETE FROM seals WHERE run_id = OLD.run_id;
END;

CREATE TRIGGER run_totals_profiles_insert AFTER INSERT ON profiles
BEGIN
    DELETE FROM run_totals WHERE run_id = NEW.run_id;
    DELETE FROM seals WHERE run_id = NEW.run_id;
END;

CREATE TRIGGER run_totals_profiles_update AFTER UPDATE OF id, run_id, kind, dropped, truncated, sample_n, period, period_type ON profiles
BEGIN
    DELETE FROM run_totals WHERE run_id IN (OLD.run_id, NEW.run_id);
    DELETE FROM seals WHERE run_id IN (OLD.run_id, NEW.run_id);
END;

-- Judgement: thresholds, advice and saved queries are rows, so they travel with the data.

CREATE TABLE rules (
    -- One threshold of the diagnoses.
    name    TEXT PRIMARY KEY, -- [text] such as lock_contended_percent
    value   REAL NOT NULL,    -- [unit in unit] the threshold
    unit    TEXT NOT NULL,    -- [text] percent, count, bytes, ns, ms, ratio
    meaning TEXT NOT NULL     -- [text] what it decides
) STRICT;

CREATE TABLE advice (
    -- The text for one code of the diagnoses.
    code     TEXT PRIMARY KEY, -- [text] SECTION-CODE, such as heap-leak
    severity TEXT NOT NULL,    -- [text] critical, warning, note, ok
    title    TEXT NOT NULL,    -- [text] one line: what it means
    text     TEXT NOT NULL     -- [text] what to do, and when not to
) STRICT;

CREATE TABLE wrappers (
    -- One pattern of functions that only allocate or lock for their caller.
    pattern TEXT PRIMARY KEY -- [text] GLOB pattern, matched against the whole function name with its arguments
) STRICT;

CREATE TABLE queries (
    -- One saved query.
    name        TEXT PRIMARY KEY, -- [text] what stands after the @ in `clear query @hot-sites`
    description TEXT NOT NULL,    -- [text] one line
    params      TEXT NOT NULL DEFAULT '[]', -- [JSON] [{"name":…,"type":…,"default":…}, …]
    sql         TEXT NOT NULL,    -- [text] one SELECT
    export      TEXT NOT NULL DEFAULT '{}'  -- [JSON] options of clear export, without their dashes
) STRICT;

CREATE TABLE accepted_changes (
    -- One change of a figure that is known: it is shown, but is no news any more, and it does not fail a gate.
    run_uuid    TEXT    NOT NULL, -- [text] runs.uuid of a run in which the figure was seen to have changed: the same in another file. The
                                  -- run may have been deleted
    figure      TEXT    NOT NULL, -- [text] as in the view series
    subject     TEXT    NOT NULL DEFAULT '', -- [text] as in the view series, or a GLOB pattern of subjects; empty: the whole run
    why         TEXT    NOT NULL, -- [text] the reason that the user gave
    accepted_ns INTEGER NOT NULL, -- [ns since epoch] when
    PRIMARY KEY (run_uuid, figure, subject)
) STRICT, WITHOUT ROWID;

CREATE TABLE gates (
    -- One rule of clear gate: which change of which figure is too much. They come from `gates:` in clear.yaml, or else are clear's own.
    name          TEXT PRIMARY KEY, -- [text] of the rule
    place         INTEGER NOT NULL, -- [number] 1, 2, ...: the order in which the rules were given
    figure        TEXT NOT NULL DEFAULT '',  -- [text] figure of the view series; empty: the rule is a query
    query         TEXT NOT NULL DEFAULT '',  -- [text] @NAME of a saved query, or a SELECT, with the columns subject, old and new
    subject       TEXT NOT NULL DEFAULT '',  -- [text] GLOB pattern of the subjects that are judged; empty: the whole run
    base          TEXT NOT NULL DEFAULT '',  -- [text] set of runs that are compared with where --base names none; clear gc keeps them. Empty: none
    direction     TEXT NOT NULL DEFAULT 'up', -- [text] up, down or both: which change is judged
    limit_percent REAL NOT NULL DEFAULT 0,   -- [percent] of the old value: a change must be more than this, ...
    limit_value   REAL NOT NULL DEFAULT 0,   -- [unit of the figure] ... and more than this
    runs          INTEGER NOT NULL DEFAULT 1, -- [count] runs that each side needs at least; never less than 5 of a timed figure
    is_timed      INTEGER NOT NULL DEFAULT 0, -- [0 or 1] the figure varies from run to run
    action        TEXT NOT NULL DEFAULT 'fail', -- [text] fail or warn
    is_own        INTEGER NOT NULL DEFAULT 0 -- [0 or 1] the rule is clear's own
) STRICT;

INSERT INTO mappings(id) VALUES (0);
INSERT INTO traces(id, hash, signature, stack) VALUES (0, 0, 0, '[]');
INSERT INTO label_sets(id, labels) VALUES (0, '[]');
