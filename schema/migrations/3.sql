-- From version 2 to 3: what recording cost apart from the program's own time; peaks of live bytes.

ALTER TABLE runs ADD COLUMN symbolize_ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN write_ns INTEGER NOT NULL DEFAULT 0;

CREATE TABLE heap_peaks (
    -- What one stack had live when the live bytes of its process were highest: in the process's profile of kind heap-peak, whose
    -- time_ns is that moment.
    profile_id INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE, -- [id] the profile
    trace_id   INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack that allocated
    peak_count INTEGER NOT NULL DEFAULT 0, -- [count] blocks live at that moment
    peak_bytes INTEGER NOT NULL DEFAULT 0, -- [bytes] their bytes
    PRIMARY KEY (profile_id, trace_id)
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 3;
