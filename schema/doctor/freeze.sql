DROP VIEW IF EXISTS doctor_freeze;
CREATE VIEW doctor_freeze AS
-- Question: which objects are scattered over the heap in a program that waits for memory? One row a run and stack, of
--   runs whose processor counters were recorded too (perf stat); processes, profiles and label sets summed.
-- Code freeze: at least freeze_llc_percent of the last-level cache's references missed (llc_miss_percent, as in the view
--   hardware), and the stack made at least freeze_alloc_count blocks of a mean size between freeze_mean_bytes_low and
--   freeze_mean_bytes_high, both ends included. Not string helpers of CLEAR's runtime, whose blocks are short-lived:
--   concat, charAtCodepoint, intToString, floatToString, smartAlloc, plain or qualified, with or without arguments.
-- Severity: that of the advice; note where the blocks together are smaller than freeze_note_bytes, which any cache holds.
-- Known false positives: the misses may come from other data (big arrays, mapped files); blocks that never live at the
--   same time.
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
    -- From the counted runs to their sites, so that a file of many runs without counters is not read through; and by
    -- windows, which hand a condition on run_id on, as GROUP BY does not in SQLite 3.40.
    SELECT DISTINCT
           hardware.run_id, sites.trace_id, llc_miss_percent, llc_misses, llc_references,
           sum(alloc_count) OVER site AS alloc_count, sum(alloc_bytes) OVER site AS alloc_bytes
    FROM hardware
    CROSS JOIN profiles ON profiles.run_id = hardware.run_id
    JOIN sites ON sites.profile_id = profiles.id
    WHERE hardware.llc_miss_percent >= (SELECT llc_percent FROM rule)
    WINDOW site AS (PARTITION BY hardware.run_id, sites.trace_id)
)
SELECT
    site.run_id,
    'freeze' AS section,
    'freeze' AS code,
    iif(alloc_bytes < (SELECT note_bytes FROM rule), 'note', advice.severity) AS severity,
    iif(places.function = '', '(no stack)', places.function) AS subject,
    printf('{"alloc_count":%d,"alloc_bytes":%d,"mean_bytes":%s,"llc_miss_percent":%d,"llc_misses":%d,"llc_references":%d}',
           alloc_count, alloc_bytes, round(1.0 * alloc_bytes / alloc_count, 1), llc_miss_percent, llc_misses,
           llc_references) AS evidence,
    '[' || site.trace_id || ']' AS trace_ids,
    advice.text AS advice,
    site.trace_id,
    places.function,
    places.file,
    places.line,
    places.module,
    alloc_count,
    alloc_bytes,
    round(1.0 * alloc_bytes / alloc_count, 1) AS mean_bytes,
    llc_miss_percent,
    llc_misses,
    llc_references
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
          OR places.function GLOB helper.column1 || '(*'
          OR places.function GLOB '*[.:]' || helper.column1
          OR places.function GLOB '*[.:]' || helper.column1 || '(*');
