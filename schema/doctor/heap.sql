DROP VIEW IF EXISTS doctor_heap;
CREATE VIEW doctor_heap AS
-- Question: which allocation sites leak, and which would be cheaper in an arena?
-- Rows: one per run and stack with a finding; processes, profiles and label sets of the run are summed. Values are summed as they
--   are, also where profiles have different periods: the values of a sampled profile are already estimates of all events.
-- Columns: those of doctor, and
--   trace_id [id]: the stack that allocated
--   function [text]: as in the view places
--   file [text]: as in the view places
--   line [line]: as in the view places
--   module [text]: as in the view places
--   alloc_count [count]: blocks allocated
--   alloc_bytes [bytes]: bytes allocated
--   free_count [count]: of those blocks, the freed ones, whoever freed them
--   free_bytes [bytes]: their bytes
--   inuse_count [count]: blocks live at the end
--   inuse_bytes [bytes]: bytes live at the end
--   process_inuse_count [count]: blocks live at the end in the process that has most
--   grown_count [count]: live blocks that came after the first window of a process, in the process that has most
--   live_percent [percent]: inuse_bytes of all live bytes of the run, a whole number; NULL: none are live
--   alloc_percent [percent]: alloc_count of all blocks of the run, a whole number
--   mean_bytes [bytes]: mean size of a block
-- Thresholds (names are rows of the table rules; the first code that matches wins):
--   Of an ingested file: arena: nothing freed, mean size below heap_arena_mean_bytes (16 B). rc: nothing freed, larger blocks.
--     leak: some freed, some not.
--   Of a recorded run, which knows what was live at exit: arena: at least heap_arena_count (1,000) blocks of a mean size below
--     heap_arena_mean_bytes (16 B), and fewer than leak_warning_count (100) of them live in each process. leak: blocks are live
--     at exit.
-- Severity of leak: note if no process has leak_warning_count (100) live blocks of it, or none has so many that came after its
--   first window (tables made at the start are no leak; all blocks count where that window is longer than leak_start_percent
--   (50 %) of the process's life, or where its length is not known), or if fewer than leak_warning_bytes (16 KiB) are live. Else
--   critical from leak_critical_bytes (1 MiB) that are leak_critical_percent (10 %) of all live bytes of the run. Else warning.
-- Severity of rc: a warning where a leak would be critical, else that of the advice. Of arena: a warning from
--   heap_arena_warning_count (5,000) blocks that are heap_arena_warning_percent (10 %) of all blocks of the run, else that of the
--   advice.
-- Known false positives: tables and caches that a program keeps to its end on purpose; programs that end by _exit or by a signal;
--   interpreters that skip their clean-up. Few blocks, and few bytes, are therefore notes.
WITH
-- Sums over processes use window functions: SQLite 3.40 passes a condition on run_id through windows that are partitioned by it,
-- but through one GROUP BY only. With two it would read the sites of all runs for one run.
process AS (
    SELECT profiles.run_id, sites.trace_id,
           sum(sites.alloc_count) AS alloc_count, sum(sites.alloc_bytes) AS alloc_bytes,
           sum(sites.free_count) AS free_count, sum(sites.free_bytes) AS free_bytes,
           -- The first window of a process begins where that does.
           sum(iif(profiles.duration_ns > 0 AND profiles.time_ns - profiles.duration_ns <= processes.started_ns
                   AND round(100.0 * profiles.duration_ns / nullif(processes.ended_ns - processes.started_ns, 0))
                       <= (SELECT value FROM rules WHERE name = 'leak_start_percent'),
                   0, sites.alloc_count - sites.free_count)) AS grown_count
    FROM sites
    JOIN profiles ON profiles.id = sites.profile_id
    LEFT JOIN processes ON processes.id = profiles.process_id
    GROUP BY profiles.run_id, sites.trace_id, coalesce(profiles.process_id, -profiles.id)
),
site AS (
    SELECT DISTINCT
           run_id, trace_id,
           sum(alloc_count) OVER site AS alloc_count, sum(alloc_bytes) OVER site AS alloc_bytes,
           sum(free_count) OVER site AS free_count, sum(free_bytes) OVER site AS free_bytes,
           max(alloc_count - free_count) OVER site AS process_inuse_count,
           max(grown_count) OVER site AS grown_count
    FROM process
    WINDOW site AS (PARTITION BY run_id, trace_id)
),
share AS (
    SELECT site.*,
           CAST(round(100.0 * (alloc_bytes - free_bytes) / nullif(sum(alloc_bytes - free_bytes) OVER run, 0)) AS INTEGER)
               AS live_percent,
           CAST(round(100.0 * alloc_count / nullif(sum(alloc_count) OVER run, 0)) AS INTEGER) AS alloc_percent
    FROM site
    WINDOW run AS (PARTITION BY run_id)
),
judged AS (
    SELECT share.*,
           alloc_count - free_count AS inuse_count,
           alloc_bytes - free_bytes AS inuse_bytes,
           CASE WHEN alloc_count = 0 THEN 'none'
                WHEN runs.source = 'profile'
                     AND process_inuse_count < (SELECT value FROM rules WHERE name = 'leak_warning_count')
                     AND alloc_count >= (SELECT value FROM rules WHERE name = 'heap_arena_count')
                     AND 1.0 * alloc_bytes / alloc_count
                         < (SELECT value FROM rules WHERE name = 'heap_arena_mean_bytes') THEN 'arena'
                WHEN runs.source = 'profile' THEN iif(free_count < alloc_count, 'leak', 'none')
                WHEN free_count = 0 AND 1.0 * alloc_bytes / alloc_count
                     < (SELECT value FROM rules WHERE name = 'heap_arena_mean_bytes') THEN 'arena'
                WHEN free_count = 0 THEN 'rc'
                WHEN free_count < alloc_count THEN 'leak'
                ELSE 'none' END AS code
    FROM share
    JOIN runs ON runs.id = share.run_id
)
SELECT
    judged.run_id,
    'heap' AS section,
    judged.code,
    CASE WHEN judged.code = 'arena'
         THEN iif(alloc_count >= (SELECT value FROM rules WHERE name = 'heap_arena_warning_count')
                  AND alloc_percent >= (SELECT value FROM rules WHERE name = 'heap_arena_warning_percent'),
                  'warning', advice.severity)
         WHEN min(process_inuse_count, grown_count) < (SELECT value FROM rules WHERE name = 'leak_warning_count')
              OR inuse_bytes < (SELECT value FROM rules WHERE name = 'leak_warning_bytes') THEN 'note'
         WHEN inuse_bytes >= (SELECT value FROM rules WHERE name = 'leak_critical_bytes')
              AND live_percent >= (SELECT value FROM rules WHERE name = 'leak_critical_percent')
         THEN iif(judged.code = 'rc', 'warning', 'critical')
         ELSE advice.severity END AS severity,
    iif(places.function = '', '(no stack)', places.function) AS subject,
    printf('{"alloc_count":%d,"alloc_bytes":%d,"alloc_percent":%d,"free_count":%d,"free_bytes":%d,"inuse_count":%d,'
           || '"inuse_bytes":%d,"process_inuse_count":%d,"grown_count":%d,"live_percent":%s,"mean_bytes":%s}',
           alloc_count, alloc_bytes, alloc_percent, free_count, free_bytes, inuse_count, inuse_bytes,
           process_inuse_count, grown_count, coalesce(live_percent, 'null'), round(1.0 * alloc_bytes / alloc_count, 1)) AS evidence,
    '[' || judged.trace_id || ']' AS trace_ids,
    advice.text AS advice,
    judged.trace_id,
    places.function,
    places.file,
    places.line,
    places.module,
    alloc_count,
    alloc_bytes,
    free_count,
    free_bytes,
    inuse_count,
    inuse_bytes,
    process_inuse_count,
    grown_count,
    live_percent,
    alloc_percent,
    round(1.0 * alloc_bytes / alloc_count, 1) AS mean_bytes
FROM judged
JOIN places ON places.trace_id = judged.trace_id
LEFT JOIN advice ON advice.code = 'heap-' || judged.code
WHERE judged.code <> 'none';
