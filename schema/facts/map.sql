CREATE TABLE map_facts (
    -- A line that maps private memory and has it unmapped again, 100 times or more: over all its stacks, processes and windows of a run.
    run_id   INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    trace_id INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack that did it most
    stacks   INTEGER NOT NULL, -- [count] stacks of the line that did
    maps     INTEGER NOT NULL, -- [count] mappings made
    unmaps   INTEGER NOT NULL, -- [count] of them, those that were unmapped
    unmapped_percent INTEGER NOT NULL, -- [percent] that, of maps, a whole number
    bytes    INTEGER NOT NULL, -- [bytes] of address space that they took
    pages    INTEGER NOT NULL, -- [count] pages of 4 KiB in these: those that are touched are cleared and mapped anew, by a minor fault each
    PRIMARY KEY (run_id, trace_id)
) STRICT, WITHOUT ROWID;

-- Fill
-- Needs map_use_facts
INSERT INTO map_facts(run_id, trace_id, stacks, maps, unmaps, unmapped_percent, bytes, pages)
SELECT :run, trace_id, stacks, maps, unmaps, CAST(round(100.0 * unmaps / maps) AS INTEGER), bytes, bytes / 4096
FROM (SELECT stack.trace_id, count(*) OVER line AS stacks, sum(maps) OVER line AS maps, sum(unmaps) OVER line AS unmaps, sum(bytes) OVER line AS bytes,
             row_number() OVER (line ORDER BY maps DESC, stack.trace_id) AS rank
      FROM (SELECT used.trace_id, sum(map_count) AS maps, sum(unmap_count) AS unmaps, sum(map_bytes) AS bytes
            FROM profiles
            JOIN map_use_facts AS used ON used.profile_id = profiles.id
            WHERE profiles.run_id = :run AND used.use = 'anonymous'
            GROUP BY used.trace_id) AS stack
      JOIN places ON places.trace_id = stack.trace_id
      WINDOW line AS (PARTITION BY function, file, line, module, iif(line > 0, 0, stack.trace_id))) AS lines
WHERE rank = 1 AND maps >= 100 AND unmaps > 0;
