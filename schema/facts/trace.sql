CREATE TABLE convoy_facts (
    -- A lock of a process that threads waited for, by its events (clear profile --trace). Locks with fewer than 10 waits are left out,
    -- and those that never two threads waited for at one time.
    run_id       INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    process_id   INTEGER NOT NULL REFERENCES processes(id) ON DELETE CASCADE, -- [id] the process
    address      INTEGER NOT NULL, -- [address] of the lock in the process
    object_id    INTEGER NOT NULL REFERENCES objects(id), -- [id] the lock
    trace_id     INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack of the longest wait
    count        INTEGER NOT NULL, -- [count] waits for it
    time_ns      INTEGER NOT NULL, -- [ns] sum of the waits
    most_waiters INTEGER NOT NULL, -- [count] threads that waited for it at one time, at most
    PRIMARY KEY (run_id, process_id, address)
) STRICT, WITHOUT ROWID;

CREATE TABLE convoy_depth_facts (
    -- How many waits for a lock of convoy_facts began as the 1st, 2nd, ... of those that waited then, or as a later one.
    run_id     INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    process_id INTEGER NOT NULL REFERENCES processes(id) ON DELETE CASCADE, -- [id] the process
    address    INTEGER NOT NULL, -- [address] of the lock in the process
    waiters    INTEGER NOT NULL, -- [count] 1: the 1st, ...
    count      INTEGER NOT NULL, -- [count] waits that began when so many waited, or more, with the one that began
    PRIMARY KEY (run_id, process_id, address, waiters)
) STRICT, WITHOUT ROWID;

CREATE TABLE lock_order_facts (
    -- Two locks of a process in both orders: a thread that had the first waited for the second or took it, and a thread that had the second
    -- the first. That a thread had a lock is known where another one waited for it at that moment, and where holds are events.
    run_id        INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    process_id    INTEGER NOT NULL REFERENCES processes(id) ON DELETE CASCADE, -- [id] the process
    address       INTEGER NOT NULL, -- [address] of the first lock: the lower one
    other_address INTEGER NOT NULL, -- [address] of the second
    object_id     INTEGER NOT NULL REFERENCES objects(id), -- [id] the first lock
    other_id      INTEGER NOT NULL REFERENCES objects(id), -- [id] the second
    trace_id      INTEGER NOT NULL REFERENCES traces(id), -- [id] a stack that asked for the second under the first
    back_trace_id INTEGER NOT NULL REFERENCES traces(id), -- [id] a stack that asked for the first under the second
    count         INTEGER NOT NULL, -- [count] how often the second was asked for under the first
    back_count    INTEGER NOT NULL, -- [count] how often the first was asked for under the second
    time_ns       INTEGER NOT NULL, -- [ns] sum of all these waits
    PRIMARY KEY (run_id, process_id, address, other_address)
) STRICT, WITHOUT ROWID;

CREATE TABLE blocked_lock_facts (
    -- A lock of a process and a stack at which who had it was in a blocking system call, or slept, while others waited for it. Those of less
    -- than 100 us are left out.
    run_id          INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    process_id      INTEGER NOT NULL REFERENCES processes(id) ON DELETE CASCADE, -- [id] the process
    address         INTEGER NOT NULL, -- [address] of the lock in the process
    trace_id        INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack that blocked
    object_id       INTEGER NOT NULL REFERENCES objects(id), -- [id] the lock
    waiter_trace_id INTEGER NOT NULL REFERENCES traces(id), -- [id] a stack that waited meanwhile
    count           INTEGER NOT NULL, -- [count] waits of others meanwhile
    time_ns         INTEGER NOT NULL, -- [ns] how long they waited meanwhile, in sum
    PRIMARY KEY (run_id, process_id, address, trace_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE region_facts (
    -- The regions of one name (clear_region_begin, with clear profile --trace), or the slices of an ingested trace, over all processes.
    run_id       INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    object_id    INTEGER NOT NULL REFERENCES objects(id), -- [id] the name
    count        INTEGER NOT NULL, -- [count] how often it was run through
    time_ns      INTEGER NOT NULL, -- [ns] sum of the times; of regions inside each other with one name, each counts
    min_ns       INTEGER NOT NULL, -- [ns] the shortest
    p50_ns       INTEGER NOT NULL, -- [ns] half of them took no longer. Percentiles are times that one of them took: the nearest rank
    p90_ns       INTEGER NOT NULL, -- [ns] 9 of 10 took no longer
    p99_ns       INTEGER NOT NULL, -- [ns] 99 of 100
    p999_ns      INTEGER NOT NULL, -- [ns] 999 of 1,000
    max_ns       INTEGER NOT NULL, -- [ns] the longest
    process_id   INTEGER NOT NULL REFERENCES processes(id) ON DELETE CASCADE, -- [id] the process with the longest one
    tid          INTEGER NOT NULL, -- [number] its thread: the kernel's id
    start_ns     INTEGER NOT NULL, -- [ns] its start, since the start of the run
    trace_id     INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack that began it
    off_ns       INTEGER NOT NULL, -- [ns] time off the CPU in it: waits, sleeps and blocking calls of its thread
    off_trace_id INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack of the longest of those; 0: there is none
    PRIMARY KEY (run_id, object_id)
) STRICT, WITHOUT ROWID;

-- Fill
-- By event_facts_fill of schema/event_facts.h. This number is raised when it counts in another way, so that runs are sealed again: 1.
