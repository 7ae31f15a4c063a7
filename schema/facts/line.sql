CREATE TABLE line_facts (
    -- A line of source code that allocated from 2 stacks or more, and freed 100,000 of its blocks before their thread allocated another one:
    -- what the stacks did together. Of a recorded run.
    run_id              INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    trace_id            INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack of most of them
    stacks              INTEGER NOT NULL, -- [count] stacks of the line that did
    alloc_count         INTEGER NOT NULL, -- [count] blocks that these allocated
    alloc_bytes         INTEGER NOT NULL, -- [bytes] their bytes
    temporary_count     INTEGER NOT NULL, -- [count] of them, those freed before their thread allocated another one
    temporary_percent   INTEGER NOT NULL, -- [percent] that, of alloc_count, a whole number
    most_of_a_stack     INTEGER NOT NULL, -- [count] temporary blocks of trace_id
    PRIMARY KEY (run_id, trace_id)
) STRICT, WITHOUT ROWID;

-- Fill
-- What each stack did, where the run has so many temporary blocks at all.
CREATE TEMP TABLE IF NOT EXISTS line_sites (trace_id INTEGER PRIMARY KEY, temporary_count INTEGER, alloc_count INTEGER, alloc_bytes INTEGER);

DELETE FROM line_sites;

INSERT INTO line_sites(trace_id, temporary_count)
SELECT trace_id, sum(temporary_count)
FROM profiles
JOIN site_details ON site_details.profile_id = profiles.id
WHERE profiles.run_id = :run AND temporary_count > 0
GROUP BY trace_id;

DELETE FROM line_sites
WHERE (SELECT sum(temporary_count) FROM line_sites) < 100000;

UPDATE line_sites
SET alloc_count = done.alloc_count, alloc_bytes = done.alloc_bytes
FROM (SELECT trace_id, sum(sites.alloc_count) AS alloc_count, sum(sites.alloc_bytes) AS alloc_bytes
      FROM profiles
      JOIN sites ON sites.profile_id = profiles.id
      WHERE profiles.run_id = :run AND EXISTS (SELECT 1 FROM line_sites)
      GROUP BY trace_id) AS done
WHERE done.trace_id = line_sites.trace_id;

INSERT INTO line_facts(run_id, trace_id, stacks, alloc_count, alloc_bytes, temporary_count, temporary_percent, most_of_a_stack)
SELECT :run, trace_id, stacks, alloc_count, alloc_bytes, all_temporary, CAST(round(100.0 * all_temporary / max(alloc_count, 1)) AS INTEGER), temporary_count
FROM (SELECT site.trace_id, count(*) OVER line AS stacks, sum(alloc_count) OVER line AS alloc_count, sum(alloc_bytes) OVER line AS alloc_bytes,
             sum(temporary_count) OVER line AS all_temporary, temporary_count,
             row_number() OVER (line ORDER BY temporary_count DESC, site.trace_id) AS rank
      FROM line_sites AS site
      JOIN traces ON traces.id = site.trace_id
      WHERE traces.line > 0 AND alloc_count > 0
      WINDOW line AS (PARTITION BY traces.function_id, traces.line)) AS lines
WHERE rank = 1 AND stacks > 1 AND all_temporary >= 100000;
