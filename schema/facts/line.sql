CREATE TABLE line_facts (
    -- A line of source code that allocated from 2 stacks or more of a recorded run, and what these did together: where they freed 100,000 blocks before
    -- their thread allocated another one, made 1,000 blocks of less than 24 B in the mean, or have 4 KiB that nothing reached at the end.
    run_id              INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    trace_id            INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack of most of them: by temporary_count, then lost_bytes, then alloc_count
    stacks              INTEGER NOT NULL, -- [count] stacks of the line that allocated
    alloc_count         INTEGER NOT NULL, -- [count] blocks that these allocated
    alloc_bytes         INTEGER NOT NULL, -- [bytes] their bytes
    inuse_bytes         INTEGER NOT NULL, -- [bytes] of them, live at the end
    process_inuse_count INTEGER NOT NULL, -- [count] blocks live at the end in the process that has most
    temporary_count     INTEGER NOT NULL, -- [count] of alloc_count, those freed before their thread allocated another one
    temporary_percent   INTEGER NOT NULL, -- [percent] that, of alloc_count, a whole number
    lost_count          INTEGER NOT NULL, -- [count] live blocks that nothing reached at the end, or only lost blocks, of each stack in the process that lost most; 0 where nobody searched
    lost_bytes          INTEGER NOT NULL, -- [bytes] their bytes
    stack_alloc_count   INTEGER NOT NULL, -- [count] blocks that one stack allocated, of the stack with most
    stack_temporary     INTEGER NOT NULL, -- [count] temporary blocks of one stack, of the stack with most
    stack_lost_bytes    INTEGER NOT NULL, -- [bytes] lost bytes of one stack, of the stack with most
    stack_lost_count    INTEGER NOT NULL, -- [count] lost blocks of one stack, of the stack with most
    PRIMARY KEY (run_id, trace_id)
) STRICT, WITHOUT ROWID;

-- Fill
-- What is known of stacks beside sites.
CREATE TEMP TABLE IF NOT EXISTS line_details (trace_id INTEGER PRIMARY KEY, temporary_count INTEGER, lost_count INTEGER, lost_bytes INTEGER);

DELETE FROM line_details;

-- Needs sealed_temporaries or sealed_lost
INSERT INTO line_details
SELECT trace_id, sum(temporary_count), sum(lost_count), sum(lost_bytes)
FROM (SELECT trace_id, temporary_count, 0 AS lost_count, 0 AS lost_bytes
      FROM sealed_temporaries
      UNION ALL
      SELECT trace_id, 0, lost_count, lost_bytes
      FROM sealed_lost)
GROUP BY trace_id;

-- The lines that may have a row. A line of small blocks has stacks of small blocks, so the others need no look: 321,000 stacks of 24 B took 1.2 s.
CREATE TEMP TABLE IF NOT EXISTS line_keys (function_id INTEGER, line INTEGER, PRIMARY KEY (function_id, line)) WITHOUT ROWID;

DELETE FROM line_keys;

-- Needs sealed_totals or line_details
INSERT INTO line_keys
SELECT function_id, line
FROM sealed_totals AS site
CROSS JOIN traces ON traces.id = site.trace_id
WHERE alloc_bytes < 24 * alloc_count AND traces.line > 0 AND function_id IS NOT NULL
GROUP BY function_id, line
HAVING sum(alloc_count) >= 1000
UNION
SELECT function_id, line
FROM line_details
CROSS JOIN traces ON traces.id = line_details.trace_id
WHERE traces.line > 0 AND function_id IS NOT NULL
GROUP BY function_id, line
HAVING sum(temporary_count) >= 100000 OR sum(lost_bytes) >= 4096;

-- Needs line_keys
DELETE FROM line_keys
WHERE NOT EXISTS (SELECT 1 FROM runs WHERE id = :run AND source = 'profile');

-- Their stacks; of what heap.sql summed.
CREATE TEMP TABLE IF NOT EXISTS line_sites (
    function_id INTEGER, line INTEGER, trace_id INTEGER, alloc_count INTEGER, alloc_bytes INTEGER, inuse_bytes INTEGER, temporary_count INTEGER,
    lost_count INTEGER, lost_bytes INTEGER, PRIMARY KEY (function_id, line, trace_id)) WITHOUT ROWID;

DELETE FROM line_sites;

-- Needs line_keys
INSERT INTO line_sites
SELECT function_id, line, site.trace_id, alloc_count, alloc_bytes, inuse_bytes, coalesce(temporary_count, 0), coalesce(lost_count, 0), coalesce(lost_bytes, 0)
FROM (SELECT trace_id, alloc_count, alloc_bytes, alloc_bytes - free_bytes AS inuse_bytes FROM sealed_totals) AS site
CROSS JOIN traces ON traces.id = site.trace_id
LEFT JOIN line_details ON line_details.trace_id = site.trace_id
WHERE (traces.function_id, traces.line) IN (SELECT function_id, line FROM line_keys) AND alloc_count > 0;

-- Needs line_sites
INSERT INTO line_facts(run_id, trace_id, stacks, alloc_count, alloc_bytes, inuse_bytes, process_inuse_count, temporary_count, temporary_percent, lost_count,
                       lost_bytes, stack_alloc_count, stack_temporary, stack_lost_bytes, stack_lost_count)
SELECT :run, trace_id, stacks, alloc_count, alloc_bytes, inuse_bytes,
       (SELECT coalesce(max(live_count), 0) -- none has a row: in each process all were freed
        FROM (SELECT sum(one.alloc_count - one.free_count) AS live_count
              FROM line_sites AS stack
              CROSS JOIN sealed_sites AS one ON one.trace_id = stack.trace_id
              WHERE stack.function_id = lines.function_id AND stack.line = lines.line
              GROUP BY one.key)),
       temporary_count, CAST(round(100.0 * temporary_count / alloc_count) AS INTEGER), lost_count, lost_bytes, stack_alloc_count, stack_temporary,
       stack_lost_bytes, stack_lost_count
FROM (SELECT function_id, line, trace_id, count(*) OVER line AS stacks, sum(alloc_count) OVER line AS alloc_count, sum(alloc_bytes) OVER line AS alloc_bytes,
             sum(inuse_bytes) OVER line AS inuse_bytes, sum(temporary_count) OVER line AS temporary_count, sum(lost_count) OVER line AS lost_count,
             sum(lost_bytes) OVER line AS lost_bytes, max(alloc_count) OVER line AS stack_alloc_count, max(temporary_count) OVER line AS stack_temporary,
             max(lost_bytes) OVER line AS stack_lost_bytes, max(lost_count) OVER line AS stack_lost_count,
             row_number() OVER (PARTITION BY function_id, line ORDER BY temporary_count DESC, lost_bytes DESC, alloc_count DESC, trace_id) AS rank
      FROM line_sites
      WINDOW line AS (PARTITION BY function_id, line)) AS lines
WHERE rank = 1 AND stacks > 1 AND (temporary_count >= 100000 OR alloc_count >= 1000 AND alloc_bytes < 24 * alloc_count OR lost_bytes >= 4096);
