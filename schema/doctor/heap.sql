DROP VIEW IF EXISTS doctor_heap;
CREATE VIEW doctor_heap AS
-- Question: which allocation sites leak, or would be better served by an arena? One row a run and stack that has a
--   finding; processes, profiles and label sets of the run summed, with the values as given: profiles of unlike period
--   are not scaled by it, for a sampled profile's values are estimates of all events already.
-- Codes, first match wins. In a dump or any other ingested artefact:
--   arena: nothing freed, mean size below heap_arena_mean_bytes (16 B). rc: nothing freed, mean size from there on.
--   leak: some freed, some not.
-- In a recorded run, where what is live at exit is known exactly:
--   arena: heap_arena_count blocks or more of a mean size below heap_arena_mean_bytes, and no process has
--   leak_warning_count of them live: one that is kept of a million shall not hide the million. leak: blocks live at exit.
-- Severity of a leak: note where no process has leak_warning_count blocks of it live (process_inuse_count: what each of
--   many processes keeps once is no leak), or none has as many that came after its first window (grown_count: tables that
--   start-up makes are no leak either; where that window is more than leak_start_percent of the process's life, or that is
--   not known, all of them count), or fewer than leak_warning_bytes bytes are live in all; else critical from
--   leak_critical_bytes bytes on that are leak_critical_percent of all that is live in the run; else warning.
--   Of rc: warning where a leak would be critical, else that of the advice. Of arena: warning from
--   heap_arena_warning_count blocks on that are heap_arena_warning_percent of all the run's, else that of the advice.
-- Known false positives: tables and caches that a program keeps to its end on purpose, programs that end by _exit or by a
--   signal, interpreters that skip their clean-up. Few and large blocks are therefore notes.
-- live_percent: inuse_bytes of the run's inuse_bytes; alloc_percent: alloc_count of the run's; whole percent.
--   mean_bytes: alloc_bytes / alloc_count.
-- Sums over the processes are taken by windows: SQLite 3.40 hands a condition on run_id through windows that are partitioned
--   by it, but through one GROUP BY alone, and would read the sites of all runs for one.
WITH
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
