CREATE TABLE sharing_facts (
    -- A cache line that two threads or more used, of an ingested recording of `perf c2c record`. A sample with HITM is a load that had to fetch
    -- the line from another core, which had changed it; lines with fewer than 3 of those are left out.
    run_id          INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    rank            INTEGER NOT NULL, -- [number] 1: the line with the most HITM of the run
    trace_id        INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack with the most HITM on the line
    writer_trace_id INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack that most often changes it from another thread; 0: there is none
    cache_line      TEXT    NOT NULL, -- [text] its first address, of the run's process, "0x..."
    variable        TEXT    NOT NULL, -- [text] the variable of that stack's accesses; empty: unknown
    hitm            INTEGER NOT NULL, -- [count] samples of loads that fetched it from another core
    hitm_percent    INTEGER NOT NULL, -- [percent] that, of all HITM of the run, a whole number
    false_hitm      INTEGER NOT NULL, -- [count] those at addresses that no other thread used
    false_percent   INTEGER NOT NULL, -- [percent] that, of hitm, a whole number
    stores          INTEGER NOT NULL, -- [count] samples of stores to the line
    threads         INTEGER NOT NULL, -- [count] that used it
    addresses       INTEGER NOT NULL, -- [count] different ones that were used in it
    latency_cycles  INTEGER,          -- [count] cycles of a load, the mean of those on the line; NULL: not measured
    PRIMARY KEY (run_id, rank)
) STRICT, WITHOUT ROWID;

-- Fill
-- Needs samples
INSERT INTO sharing_facts(run_id, rank, trace_id, writer_trace_id, cache_line, variable, hitm, hitm_percent, false_hitm, false_percent, stores,
                          threads, addresses, latency_cycles)
WITH
-- A label is a text such as ["tid",4001]: only whether two are equal matters.
access AS MATERIALIZED (
    SELECT samples.trace_id, samples.label_set_id, samples.v0 AS accesses, samples.v1 AS hitm, samples.v2 AS latency,
           max(iif(substr(label.value, 1, 7) = '["pid",', label.value, '')) || max(iif(substr(label.value, 1, 8) = '["line",', label.value, ''))
               AS line,
           max(iif(substr(label.value, 1, 11) = '["address",', label.value, '')) AS address,
           max(iif(substr(label.value, 1, 7) = '["tid",', label.value, '')) AS thread,
           max(iif(label.value = '["access","store"]', 1, 0)) AS is_store,
           coalesce(max(iif(substr(label.value, 1, 8) = '["line",', substr(label.value, 10, length(label.value) - 11), NULL)), '') AS cache_line,
           coalesce(max(iif(substr(label.value, 1, 12) = '["variable",', substr(label.value, 14, length(label.value) - 15), NULL)), '') AS variable
    FROM samples
    JOIN profiles ON profiles.id = samples.profile_id
    JOIN label_sets ON label_sets.id = samples.label_set_id
    JOIN json_each(label_sets.labels) AS label
    WHERE profiles.run_id = :run AND profiles.kind = 'c2c'
    GROUP BY samples.profile_id, samples.trace_id, samples.label_set_id, samples.v0, samples.v1, samples.v2
),
private AS MATERIALIZED (
    SELECT line, count(*) AS addresses, sum(iif(threads = 1, hitm, 0)) AS false_hitm
    FROM (SELECT line, address, count(DISTINCT thread) AS threads, sum(hitm) AS hitm FROM access GROUP BY line, address)
    GROUP BY line
),
used AS MATERIALIZED (
    SELECT line, count(DISTINCT thread) AS threads, sum(hitm) AS hitm, sum(iif(is_store = 1, accesses, 0)) AS stores,
           sum(iif(is_store = 1, 0, accesses)) AS loads, sum(latency) AS latency
    FROM access
    GROUP BY line
),
-- The stack and the labels of the most HITM stand for the line; the stack that most often changes it from another thread is the other one
-- to look at.
ranked AS MATERIALIZED (
    SELECT line, trace_id, thread, cache_line, variable, row_number() OVER (PARTITION BY line ORDER BY hitm DESC, trace_id, label_set_id) AS place
    FROM access
),
writer AS MATERIALIZED (
    SELECT access.line, access.trace_id,
           row_number() OVER (PARTITION BY access.line ORDER BY access.accesses DESC, access.trace_id) AS place
    FROM access
    JOIN ranked ON ranked.line = access.line AND ranked.place = 1
    WHERE access.is_store = 1 AND access.thread <> ranked.thread AND access.trace_id <> ranked.trace_id
)
SELECT
    :run, row_number() OVER (ORDER BY used.hitm DESC, used.line), ranked.trace_id, coalesce(writer.trace_id, 0), ranked.cache_line, ranked.variable, used.hitm,
    CAST(round(100.0 * used.hitm / (SELECT sum(hitm) FROM used)) AS INTEGER), private.false_hitm,
    CAST(round(100.0 * private.false_hitm / used.hitm) AS INTEGER), used.stores, used.threads, private.addresses,
    CAST(round(1.0 * nullif(used.latency, 0) / nullif(used.loads, 0)) AS INTEGER)
FROM used
JOIN private ON private.line = used.line
JOIN ranked ON ranked.line = used.line AND ranked.place = 1
LEFT JOIN writer ON writer.line = used.line AND writer.place = 1
WHERE used.threads >= 2 AND used.hitm >= 3;
