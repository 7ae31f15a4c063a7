-- From version 3 to 4: how realloc resizes blocks; threads of a process.

ALTER TABLE site_details ADD COLUMN realloc_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE site_details ADD COLUMN resized_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE site_details ADD COLUMN resized_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE site_details ADD COLUMN step_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE site_details ADD COLUMN step_bytes INTEGER NOT NULL DEFAULT 0;

ALTER TABLE processes ADD COLUMN threads_started INTEGER NOT NULL DEFAULT 0;
ALTER TABLE processes ADD COLUMN threads_most INTEGER NOT NULL DEFAULT 0;
ALTER TABLE processes ADD COLUMN thread_ns INTEGER NOT NULL DEFAULT 0;

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

PRAGMA user_version = 4;
