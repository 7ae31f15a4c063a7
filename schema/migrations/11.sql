-- From version 10 to 11: what a loop asks for, and who stores to it; threads that had no processor.

ALTER TABLE spin_loops ADD COLUMN sleeps INTEGER NOT NULL DEFAULT 0;
ALTER TABLE spin_loops ADD COLUMN stores INTEGER NOT NULL DEFAULT 0;
ALTER TABLE spin_loops ADD COLUMN asked TEXT NOT NULL DEFAULT '';
ALTER TABLE spin_loops ADD COLUMN writer TEXT NOT NULL DEFAULT '';

CREATE TABLE thread_delays (
    -- A thread of a recorded process that was ready to run and had no processor for 1 ms or more, as the kernel counts it.
    process_id INTEGER NOT NULL REFERENCES processes(id) ON DELETE CASCADE, -- [id] the process
    tid        INTEGER NOT NULL, -- [number] the kernel's number of the thread; a later thread may have it again, and counts here too
    name       TEXT    NOT NULL, -- [text] its name in the kernel; empty: it was gone
    ran_ns     INTEGER NOT NULL, -- [ns] that it ran, up to the last look that saw it
    delay_ns   INTEGER NOT NULL, -- [ns] that it was ready and had no processor, up to that look
    PRIMARY KEY (process_id, tid)
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 11;
