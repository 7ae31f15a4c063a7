CREATE TABLE cell_facts (
    -- One versioned cell of a run: its callers and the windows of its processes summed, of struct_size the greatest.
    run_id          INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    object_id       INTEGER NOT NULL REFERENCES objects(id), -- [id] the cell
    address         INTEGER NOT NULL, -- [address] of the cell in the process
    struct_size     INTEGER NOT NULL, -- [bytes] copied by one write
    reads           INTEGER NOT NULL, -- [count] reads of a version
    commits         INTEGER NOT NULL, -- [count] new versions
    multi_commits   INTEGER NOT NULL, -- [count] commits that changed several cells at once
    retries         INTEGER NOT NULL, -- [count] copies that were thrown away because another writer was first
    retries_per_commit REAL,          -- [ratio] retries / commits; NULL: no commits
    update_failures INTEGER NOT NULL, -- [count] updates that gave up after too many retries
    cow_bytes       INTEGER NOT NULL, -- [bytes] copied: struct_size * (commits + retries)
    PRIMARY KEY (run_id, object_id, address)
) STRICT, WITHOUT ROWID;

CREATE TABLE cell_caller_facts (
    -- One stack that used a cell; where callers were not recorded, the stack that allocated it.
    run_id          INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    object_id       INTEGER NOT NULL REFERENCES objects(id), -- [id] the cell
    address         INTEGER NOT NULL, -- [address] of the cell in the process
    trace_id        INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack
    operations      INTEGER NOT NULL, -- [count] reads and commits
    copies          INTEGER NOT NULL, -- [count] commits and retries
    retries         INTEGER NOT NULL, -- [count] as in cell_facts
    update_failures INTEGER NOT NULL, -- [count] as in cell_facts
    PRIMARY KEY (run_id, object_id, address, trace_id)
) STRICT, WITHOUT ROWID;

-- Fill
-- Needs cell_use_facts
INSERT INTO cell_facts(run_id, object_id, address, struct_size, reads, commits, multi_commits, retries, retries_per_commit,
                       update_failures, cow_bytes)
SELECT :run, object_id, address, max(struct_size), sum(reads), sum(commits), sum(multi_commits), sum(retries),
       round(1.0 * sum(retries) / nullif(sum(commits), 0), 3), sum(update_failures), sum(struct_size * (commits + retries))
FROM profiles
JOIN cell_use_facts AS used ON used.profile_id = profiles.id
WHERE profiles.run_id = :run
GROUP BY object_id, address;

-- Needs cell_use_facts
INSERT INTO cell_caller_facts(run_id, object_id, address, trace_id, operations, copies, retries, update_failures)
SELECT :run, object_id, address, iif(used.trace_id <> 0, used.trace_id, objects.trace_id) AS caller,
       sum(reads + commits), sum(commits + retries), sum(retries), sum(update_failures)
FROM profiles
JOIN cell_use_facts AS used ON used.profile_id = profiles.id
JOIN objects ON objects.id = used.object_id
WHERE profiles.run_id = :run
GROUP BY object_id, address, caller
HAVING caller <> 0;
