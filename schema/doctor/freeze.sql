DROP VIEW IF EXISTS doctor_freeze;
CREATE VIEW doctor_freeze AS
-- Question: which objects are scattered over the heap of a program that waits for memory?
-- Rows: one per run and stack, of runs that were counted (perf stat); processes, profiles and label sets are summed.
-- Columns: those of doctor, and
--   trace_id [id]: the stack that allocated
--   function [text]: as in the view places
--   file [text]: as in the view places
--   line [line]: as in the view places
--   module [text]: as in the view places
--   alloc_count [count]: blocks allocated
--   alloc_bytes [bytes]: bytes allocated
--   mean_bytes [bytes]: mean size of a block
--   llc_miss_percent [percent]: of the run, as in the view hardware
--   llc_misses [count]: of the run, as in the view hardware
--   llc_references [count]: of the run, as in the view hardware
-- Thresholds (names are rows of the table rules):
--   freeze: llc_miss_percent >= freeze_llc_percent (20 %), alloc_count >= freeze_alloc_count (5,000), mean_bytes from
--     freeze_mean_bytes_low (16 B) to freeze_mean_bytes_high (512 B), both included. Not for string helpers of CLEAR's runtime,
--     whose blocks are short-lived: concat, charAtCodepoint, intToString, floatToString, smartAlloc, plain or qualified, with or
--     without arguments.
-- Severity: that of the advice, but a note if alloc_bytes < freeze_note_bytes (1 MiB), which fits in a cache.
-- Known false positives: the misses may come from other data (large arrays, mapped files); blocks that are never live at the same
--   time.
SELECT
    run.id AS run_id,
    'freeze' AS section,
    trim(substr(finding.key, 1, 20)) AS code,
    nullif(trim(substr(finding.key, 21, 10)), '') AS severity,
    iif(places.function = '', '(no stack)', places.function) AS subject,
    finding.value AS evidence,
    '[' || places.trace_id || ']' AS trace_ids,
    advice.text AS advice,
    places.trace_id,
    places.function,
    places.file,
    places.line,
    places.module,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'alloc_count') AS INTEGER) AS alloc_count,
    CAST(substr(finding.key, 51, 20) AS INTEGER) AS alloc_bytes,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'mean_bytes') AS REAL) AS mean_bytes,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'llc_miss_percent') AS INTEGER) AS llc_miss_percent,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'llc_misses') AS INTEGER) AS llc_misses,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'llc_references') AS INTEGER) AS llc_references
FROM runs AS run
-- The findings of one run, as in the view doctor_heap: code, severity, numbers of fixed width, and the evidence.
JOIN json_each((
WITH
rule AS (
    SELECT
        max(value) FILTER (WHERE name = 'freeze_llc_percent') AS llc_percent,
        max(value) FILTER (WHERE name = 'freeze_alloc_count') AS alloc_count,
        max(value) FILTER (WHERE name = 'freeze_mean_bytes_low') AS mean_bytes_low,
        max(value) FILTER (WHERE name = 'freeze_mean_bytes_high') AS mean_bytes_high,
        max(value) FILTER (WHERE name = 'freeze_note_bytes') AS note_bytes
    FROM rules
),
site AS (
    SELECT DISTINCT
           hardware.run_id, sites.trace_id, llc_miss_percent, llc_misses, llc_references,
           sum(alloc_count) OVER site AS alloc_count, sum(alloc_bytes) OVER site AS alloc_bytes
    FROM hardware
    CROSS JOIN profiles ON profiles.run_id = hardware.run_id
    JOIN sites ON sites.profile_id = profiles.id
    WHERE hardware.run_id = run.id AND hardware.llc_miss_percent >= (SELECT llc_percent FROM rule)
    WINDOW site AS (PARTITION BY sites.trace_id)
)
SELECT
    '{' || group_concat(printf('"%-20s%-10s%20d%20d":', 'freeze', iif(alloc_bytes < (SELECT note_bytes FROM rule), 'note', advice.severity),
        site.trace_id, alloc_bytes)
    || printf('{"alloc_count":%d,"alloc_bytes":%d,"mean_bytes":%s,"llc_miss_percent":%d,"llc_misses":%d,"llc_references":%d}',
           alloc_count, alloc_bytes, round(1.0 * alloc_bytes / alloc_count, 1), llc_miss_percent, llc_misses,
           llc_references)) || '}'
FROM site
JOIN places ON places.trace_id = site.trace_id
LEFT JOIN advice ON advice.code = 'freeze-freeze'
WHERE alloc_count >= (SELECT alloc_count FROM rule)
  AND 1.0 * alloc_bytes / alloc_count
      BETWEEN (SELECT mean_bytes_low FROM rule) AND (SELECT mean_bytes_high FROM rule)
  AND NOT EXISTS
      (SELECT 1
       FROM (VALUES ('concat'), ('charAtCodepoint'), ('intToString'), ('floatToString'), ('smartAlloc')) AS helper
       WHERE places.function = helper.column1
          OR places.function GLOB (helper.column1 || '(*')
          OR places.function GLOB ('*[.:]' || helper.column1)
          OR places.function GLOB ('*[.:]' || helper.column1 || '(*'))
)) AS finding
JOIN places ON places.trace_id = CAST(substr(finding.key, 31, 20) AS INTEGER)
LEFT JOIN advice ON advice.code = 'freeze-' || trim(substr(finding.key, 1, 20));
