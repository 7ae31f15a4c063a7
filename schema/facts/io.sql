CREATE TABLE io_facts (
    -- One line of a run that reads, writes or waits for the disk: its stacks, processes and windows summed, with at least 1,000 small calls, or 10
    -- that wait for the disk. A stack without a line is one of its own.
    run_id      INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    time_ns     INTEGER NOT NULL, -- [ns] in all these calls, waiting included
    trace_id    INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack that called most often
    direction   TEXT    NOT NULL, -- [text] read (read, pread, readv, preadv, recv and its relatives), write (write, fflush and the others) or sync
                                  -- (fsync, fdatasync)
    calls       INTEGER NOT NULL, -- [count] calls that returned
    bytes       INTEGER NOT NULL, -- [bytes] moved by them
    small_calls INTEGER NOT NULL, -- [count] those that moved 1 to 511 bytes
    small_bytes INTEGER NOT NULL, -- [bytes] moved by these
    messages    INTEGER NOT NULL, -- [count] of small_calls, those of sendto and recvfrom: mostly of sockets that keep each message apart
    PRIMARY KEY (run_id, time_ns, trace_id, direction)
) STRICT, WITHOUT ROWID;

CREATE TABLE io_total_facts (
    -- All small calls of a run that has rows in io_facts.
    run_id       INTEGER PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    small_reads  INTEGER NOT NULL, -- [count] calls that read 1 to 511 bytes
    small_writes INTEGER NOT NULL, -- [count] calls that wrote so many
    small_bytes  INTEGER NOT NULL, -- [bytes] moved by both
    writes       INTEGER NOT NULL  -- [count] all calls that wrote, but those that wait for the disk
) STRICT;

-- Fill
-- Needs io
WITH
stack AS (
    SELECT io.trace_id, CASE WHEN io.call IN ('fsync', 'fdatasync') THEN 'sync'
                             WHEN io.call GLOB '*read*' OR io.call GLOB 'recv*' THEN 'read'
                             ELSE 'write' END AS direction,
           max(iif(io.call IN ('fsync', 'fdatasync'), calls, small_calls)) AS most, sum(calls) AS calls, sum(bytes) AS bytes,
           sum(small_calls) AS small_calls, sum(small_bytes) AS small_bytes, sum(io.time_ns) AS time_ns,
           sum(iif(io.call IN ('sendto', 'recvfrom'), small_calls, 0)) AS messages
    FROM profiles
    JOIN io ON io.profile_id = profiles.id
    WHERE profiles.run_id = :run AND io.call NOT IN ('open', 'close')
    GROUP BY 1, 2
),
-- The stacks of one line are summed: who calls a function that writes does not matter.
line AS (
    SELECT stack.*, coalesce(traces.function_id, -stack.trace_id) AS function_key, iif(traces.line > 0, traces.line, -stack.trace_id) AS line_key,
           row_number() OVER (PARTITION BY coalesce(traces.function_id, -stack.trace_id), iif(traces.line > 0, traces.line, -stack.trace_id),
                                           direction
                              ORDER BY most DESC, traces.signature, stack.trace_id) AS place
    FROM stack
    JOIN traces ON traces.id = stack.trace_id
)
INSERT INTO io_facts(run_id, time_ns, trace_id, direction, calls, bytes, small_calls, small_bytes, messages)
SELECT :run, sum(time_ns), max(iif(place = 1, trace_id, NULL)), direction, sum(calls), sum(bytes), sum(small_calls), sum(small_bytes),
       sum(messages)
FROM line
GROUP BY function_key, line_key, direction
HAVING sum(small_calls) >= 1000 OR direction = 'sync' AND sum(calls) >= 10;

-- Needs io_facts
INSERT INTO io_total_facts(run_id, small_reads, small_writes, small_bytes, writes)
SELECT :run, coalesce(sum(small_calls) FILTER (WHERE call GLOB '*read*' OR call GLOB 'recv*'), 0),
       coalesce(sum(small_calls) FILTER (WHERE NOT (call GLOB '*read*' OR call GLOB 'recv*')), 0), sum(small_bytes),
       coalesce(sum(calls) FILTER (WHERE NOT (call GLOB '*read*' OR call GLOB 'recv*')), 0)
FROM profiles
JOIN io ON io.profile_id = profiles.id
WHERE profiles.run_id = :run AND io.call NOT IN ('open', 'close', 'fsync', 'fdatasync')
  AND EXISTS (SELECT 1 FROM io_facts WHERE io_facts.run_id = :run)
HAVING count(*) > 0;
