CREATE TABLE cell_use_facts (
    -- One versioned cell and one stack that used it, of one process or ingested profile: the rows of `cells` in its windows summed.
    profile_id      INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE, -- [id] the newest profile of them that has the row
    object_id       INTEGER NOT NULL REFERENCES objects(id), -- [id] the cell
    address         INTEGER NOT NULL, -- [address] of the cell in the process
    trace_id        INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack of the caller; 0: not recorded
    struct_size     INTEGER NOT NULL, -- [bytes] copied by one write; the largest seen
    reads           INTEGER NOT NULL, -- [count] as in cells
    commits         INTEGER NOT NULL, -- [count] as in cells
    multi_commits   INTEGER NOT NULL, -- [count] as in cells
    retries         INTEGER NOT NULL, -- [count] as in cells
    update_failures INTEGER NOT NULL, -- [count] as in cells
    PRIMARY KEY (profile_id, object_id, address, trace_id)
) STRICT, WITHOUT ROWID;

-- Fill
-- Needs cells
INSERT INTO cell_use_facts(profile_id, object_id, address, trace_id, struct_size, reads, commits, multi_commits, retries, update_failures)
SELECT max(profiles.id), object_id, address, trace_id, max(struct_size), sum(reads), sum(commits), sum(multi_commits), sum(retries),
       sum(update_failures)
FROM profiles
JOIN cells ON cells.profile_id = profiles.id
WHERE profiles.run_id = :run
GROUP BY coalesce(profiles.process_id, -profiles.id), profiles.kind, object_id, address, trace_id;
