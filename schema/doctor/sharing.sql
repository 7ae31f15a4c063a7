DROP VIEW IF EXISTS doctor_sharing;
CREATE VIEW doctor_sharing AS
-- Question: which cache lines do threads take from each other?
-- Rows: one per run and cache line with a finding, of ingested recordings of `perf c2c record` (profiles of the kind c2c). A sample with
--   HITM is a load that had to fetch the line from another core, which had changed it.
-- Columns: those of doctor, and
--   trace_id [id]: the stack with the most HITM on the line
--   function [text]: as in the view places
--   file [text]: as in the view places
--   line [line]: as in the view places, of the source
--   module [text]: as in the view places
--   cache_line [text]: its first address, of the run's process, "0x..."
--   hitm [count]: samples of loads that fetched it from another core
--   hitm_percent [percent]: that, of all HITM of the run, a whole number
--   false_hitm [count]: those at addresses that no other thread used
--   false_percent [percent]: that, of hitm, a whole number
--   stores [count]: samples of stores to the line
--   threads [count]: that used it
--   addresses [count]: different ones that were used in it
--   latency_cycles [count]: cycles of a load, the mean of those on the line; NULL: not measured
-- Thresholds (names are rows of the table rules):
--   false-sharing: hitm >= sharing_hitm_count (10), hitm_percent >= sharing_percent (10 %), two threads, and false_percent >=
--   sharing_false_percent (50 %). true-sharing: the same, with a smaller false_percent.
-- Severity: that of the advice. A recording of HITM does not tell the share of the run's time.
-- Known false positives: an address that several threads use, but so rarely that one alone was sampled; variables that a thread reads in
--   pieces of other sizes than another writes it.
SELECT
    run.id AS run_id,
    'sharing' AS section,
    trim(substr(finding.key, 1, 20)) AS code,
    nullif(trim(substr(finding.key, 21, 10)), '') AS severity,
    coalesce((SELECT substr(label.value, 14, length(label.value) - 15) || ' ' FROM json_each(label_sets.labels) AS label
              WHERE substr(label.value, 1, 12) = '["variable",'), '')
    || (SELECT substr(label.value, 10, length(label.value) - 11) FROM json_each(label_sets.labels) AS label
        WHERE substr(label.value, 1, 8) = '["line",') AS subject,
    finding.value AS evidence,
    '[' || trim(substr(finding.key, 71)) || ']' AS trace_ids,
    advice.text AS advice,
    places.trace_id,
    places.function,
    places.file,
    places.line,
    places.module,
    (SELECT substr(label.value, 10, length(label.value) - 11) FROM json_each(label_sets.labels) AS label
     WHERE substr(label.value, 1, 8) = '["line",') AS cache_line,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'hitm') AS INTEGER) AS hitm,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'hitm_percent') AS INTEGER) AS hitm_percent,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'false_hitm') AS INTEGER) AS false_hitm,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'false_percent') AS INTEGER) AS false_percent,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'stores') AS INTEGER) AS stores,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'threads') AS INTEGER) AS threads,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'addresses') AS INTEGER) AS addresses,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'latency_cycles') AS INTEGER) AS latency_cycles
FROM runs AS run
-- The findings of one run, as in the view doctor_heap: code, severity, the stack and the labels of the most HITM, the stacks, and the
-- evidence.
JOIN json_each((
WITH
rule AS (
    SELECT
        max(value) FILTER (WHERE name = 'sharing_hitm_count') AS hitm_count,
        max(value) FILTER (WHERE name = 'sharing_percent') AS percent,
        max(value) FILTER (WHERE name = 'sharing_false_percent') AS false_percent
    FROM rules
),
-- A label is a text such as ["tid",4001]: only whether two are equal matters.
access AS (
    SELECT samples.trace_id, samples.label_set_id, samples.v0 AS accesses, samples.v1 AS hitm, samples.v2 AS latency,
           max(iif(substr(label.value, 1, 7) = '["pid",', label.value, '')) || max(iif(substr(label.value, 1, 8) = '["line",', label.value, ''))
               AS line,
           max(iif(substr(label.value, 1, 11) = '["address",', label.value, '')) AS address,
           max(iif(substr(label.value, 1, 7) = '["tid",', label.value, '')) AS thread,
           max(iif(label.value = '["access","store"]', 1, 0)) AS is_store
    FROM samples
    JOIN profiles ON profiles.id = samples.profile_id
    JOIN label_sets ON label_sets.id = samples.label_set_id
    JOIN json_each(label_sets.labels) AS label
    WHERE profiles.run_id = run.id AND profiles.kind = 'c2c'
    GROUP BY samples.profile_id, samples.trace_id, samples.label_set_id, samples.v0, samples.v1, samples.v2
),
address AS (
    SELECT line, address, count(DISTINCT thread) AS threads, sum(hitm) AS hitm
    FROM access
    GROUP BY line, address
),
private AS (
    SELECT line, count(*) AS addresses, sum(iif(threads = 1, hitm, 0)) AS false_hitm
    FROM address
    GROUP BY line
),
-- The stack and the labels of the most HITM stand for the line; the stack that most often changes it from another thread is the other one
-- to look at.
used AS (
    SELECT line, count(DISTINCT thread) AS threads, sum(hitm) AS hitm, sum(iif(is_store = 1, accesses, 0)) AS stores,
           sum(iif(is_store = 1, 0, accesses)) AS loads, sum(latency) AS latency
    FROM access
    GROUP BY line
),
ranked AS (
    SELECT access.line, trace_id, label_set_id, thread,
           row_number() OVER (PARTITION BY access.line ORDER BY hitm DESC, trace_id, label_set_id) AS place
    FROM access
),
writer AS (
    SELECT access.line, access.trace_id,
           row_number() OVER (PARTITION BY access.line ORDER BY access.accesses DESC, access.trace_id) AS place
    FROM access
    JOIN ranked ON ranked.line = access.line AND ranked.place = 1
    WHERE access.is_store = 1 AND access.thread <> ranked.thread AND access.trace_id <> ranked.trace_id
),
judged AS (
    SELECT
        used.*, private.addresses, private.false_hitm, ranked.trace_id, ranked.label_set_id, writer.trace_id AS writer_id,
        CAST(round(100.0 * used.hitm / nullif((SELECT sum(hitm) FROM used), 0)) AS INTEGER) AS hitm_percent,
        CAST(round(100.0 * private.false_hitm / nullif(used.hitm, 0)) AS INTEGER) AS false_percent
    FROM used
    JOIN private ON private.line = used.line
    JOIN ranked ON ranked.line = used.line AND ranked.place = 1
    LEFT JOIN writer ON writer.line = used.line AND writer.place = 1
),
found AS (
    SELECT judged.*, iif(judged.false_percent >= rule.false_percent, 'false-sharing', 'true-sharing') AS code
    FROM judged
    CROSS JOIN rule
    WHERE judged.hitm >= rule.hitm_count AND judged.hitm_percent >= rule.percent AND judged.threads >= 2
)
SELECT
    '{' || group_concat(printf('"%-20s%-10s%20d%20d%d%s":', found.code, advice.severity, found.trace_id, found.label_set_id,
                               found.trace_id, coalesce(',' || found.writer_id, ''))
    || printf('{"hitm":%d,"hitm_percent":%d,"false_hitm":%d,"false_percent":%d,"stores":%d,"threads":%d,"addresses":%d,'
           || '"latency_cycles":%s}',
           hitm, hitm_percent, false_hitm, false_percent, stores, threads, addresses,
           coalesce(CAST(round(1.0 * nullif(latency, 0) / nullif(loads, 0)) AS INTEGER), 'null'))) || '}'
FROM found
LEFT JOIN advice ON advice.code = 'sharing-' || found.code
)) AS finding
JOIN places ON places.trace_id = CAST(substr(finding.key, 31, 20) AS INTEGER)
JOIN label_sets ON label_sets.id = CAST(substr(finding.key, 51, 20) AS INTEGER)
LEFT JOIN advice ON advice.code = 'sharing-' || trim(substr(finding.key, 1, 20));
