CREATE TABLE polling_facts (
    -- A line that slept for 1 to 100 ms, 100 times or more: over all its stacks, processes and windows of a run.
    run_id      INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    trace_id    INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack that did it most
    stacks      INTEGER NOT NULL, -- [count] stacks of the line that did
    naps        INTEGER NOT NULL, -- [count] these sleeps
    nap_ns      INTEGER NOT NULL, -- [ns] how long they took in all
    mean_nap_ns INTEGER NOT NULL, -- [ns] their mean
    nap_percent INTEGER,          -- [percent] nap_ns, of the run's duration, a whole number; NULL: the duration is not known
    asked       TEXT    NOT NULL, -- [text] the global variable that its loop asks for, where another function stores to it; empty: not known
    writer      TEXT    NOT NULL, -- [text] that function; empty: none is known
    PRIMARY KEY (run_id, trace_id)
) STRICT, WITHOUT ROWID;

-- Fill
-- Needs spin_use_facts
INSERT INTO polling_facts(run_id, trace_id, stacks, naps, nap_ns, mean_nap_ns, nap_percent, asked, writer)
SELECT :run, trace_id, stacks, naps, nap_ns, nap_ns / naps,
       CAST(round(100.0 * nap_ns / nullif((SELECT duration_ns FROM runs WHERE id = :run), 0)) AS INTEGER),
       coalesce(asked, ''), coalesce(writer, '')
FROM (SELECT stack.trace_id, count(*) OVER line AS stacks, sum(naps) OVER line AS naps, sum(nap_ns) OVER line AS nap_ns,
             row_number() OVER (line ORDER BY naps DESC, stack.trace_id) AS rank
      FROM (SELECT used.trace_id, sum(naps) AS naps, sum(nap_ns) AS nap_ns
            FROM profiles
            JOIN spin_use_facts AS used ON used.profile_id = profiles.id
            WHERE profiles.run_id = :run
            GROUP BY used.trace_id
            HAVING sum(naps) > 0) AS stack
      JOIN places ON places.trace_id = stack.trace_id
      WINDOW line AS (PARTITION BY function, file, line, module, iif(line > 0, 0, stack.trace_id))) AS lines
LEFT JOIN (SELECT traces.id AS loop_trace_id, max(asked) AS asked, max(writer) AS writer
           FROM (SELECT location_id, asked, writer
                 FROM processes
                 JOIN spin_loops ON spin_loops.process_id = processes.id
                 WHERE processes.run_id = :run AND sleeps AND writer <> '') AS loop
           JOIN (SELECT DISTINCT used.trace_id
                 FROM profiles
                 JOIN spin_use_facts AS used ON used.profile_id = profiles.id
                 WHERE profiles.run_id = :run AND naps > 0) AS napped
           JOIN traces ON traces.id = napped.trace_id
           WHERE loop.location_id IN (SELECT value FROM json_each(traces.stack) WHERE key < 4)
           GROUP BY traces.id) AS loops ON loop_trace_id = trace_id
WHERE rank = 1 AND naps >= 100;
