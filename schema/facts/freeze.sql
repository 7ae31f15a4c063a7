CREATE TABLE freeze_facts (
    -- One stack that allocated 1,000 blocks and more in a run of which the processor's counters are known (the view hardware); its windows, processes
    -- and label sets summed. Not string helpers of CLEAR's runtime, whose blocks are short-lived: concat, charAtCodepoint, intToString,
    -- floatToString, smartAlloc, plain or qualified, with or without arguments.
    run_id      INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    trace_id    INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack
    alloc_count INTEGER NOT NULL, -- [count] blocks allocated
    alloc_bytes INTEGER NOT NULL, -- [bytes] bytes allocated
    PRIMARY KEY (run_id, trace_id)
) STRICT, WITHOUT ROWID;

-- Fill
INSERT INTO freeze_facts(run_id, trace_id, alloc_count, alloc_bytes)
SELECT :run, site.trace_id, alloc_count, alloc_bytes
FROM (SELECT sites.trace_id, sum(sites.alloc_count) AS alloc_count, sum(sites.alloc_bytes) AS alloc_bytes
      FROM profiles
      JOIN sites ON sites.profile_id = profiles.id
      WHERE profiles.run_id = :run
        AND EXISTS (SELECT 1
                    FROM profiles AS counted
                    JOIN counters ON counters.profile_id = counted.id
                    WHERE counted.run_id = :run AND (counters.name GLOB '*cache-misses*' OR counters.name GLOB '*LLC-load-misses*'))
      GROUP BY sites.trace_id
      HAVING sum(sites.alloc_count) >= 1000) AS site
JOIN places ON places.trace_id = site.trace_id
WHERE NOT EXISTS
      (SELECT 1
       FROM (VALUES ('concat'), ('charAtCodepoint'), ('intToString'), ('floatToString'), ('smartAlloc')) AS helper
       WHERE places.function = helper.column1
          OR places.function GLOB (helper.column1 || '(*')
          OR places.function GLOB ('*[.:]' || helper.column1)
          OR places.function GLOB ('*[.:]' || helper.column1 || '(*'));
