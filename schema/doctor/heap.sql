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
--   growth_bytes [bytes]: by how much the live bytes rose from the second to the fourth fifth of the process's life, in the process
--     where they rose most; 0: they did not rise in each of the three; NULL: the windows are too long to say
--   samples [count]: samples that the live blocks of process_inuse_count are estimated from; NULL: all blocks were recorded
--   error_percent [percent]: of process_inuse_count: the true figure lies within this of it in 95 of 100 runs; of the bytes too, where
--     sampling is by size (--sample=512KiB) or the blocks of the stack are of one size; NULL: it is exact
--   live_percent [percent]: inuse_bytes of all live bytes of the run, a whole number; NULL: none are live
--   alloc_percent [percent]: alloc_count of all blocks of the run, a whole number
--   mean_bytes [bytes]: mean size of a block
--   average_live_bytes [bytes]: live bytes of the stack in the mean over the life of the process, in the process where that is most,
--     as far as windows tell
--   peak_bytes [bytes]: live bytes of the stack when those of its process were highest; NULL: it allocated less than heap_peak_bytes
--   peak_percent [percent]: that, of all live bytes of the process at that moment, a whole number; NULL: the same
--   lost_count [count]: of the live blocks, those that nothing reached at the end, or only lost blocks; NULL: not every process was
--     searched (clear profile --leaks)
--   lost_bytes [bytes]: their bytes
--   temporary_count [count]: of the blocks, those freed before the thread that allocated them allocated another one; NULL: fewer than
--     heap_temporary_count blocks were allocated
--   step_count [count]: calls of realloc that made a block of the stack larger by less than an eighth; and, where quadratic_copy_percent (90 %)
--     of replaced_count (as in heap_details) are such, copies into a block that is larger by less than that; NULL: less than quadratic_bytes was allocated
--   step_bytes [bytes]: that these blocks had before
--   resize_growth_bytes [bytes]: by how much realloc and these copies made the blocks of the stack larger in all
-- Thresholds (names are rows of the table rules; the first code that matches wins):
--   Of an ingested file: arena: nothing freed, mean size below heap_arena_mean_bytes (16 B). rc: nothing freed, larger blocks.
--     leak: some freed, some not.
--   Of a recorded run, which knows what was live at exit and when: temporary: temporary_count is at least
--     heap_temporary_count (400,000) and heap_temporary_percent (50 %) of the site's blocks, and fewer than leak_warning_count
--     (100) are live in each process. quadratic-growth: step_count is at least quadratic_count (1,000), step_bytes at least
--     quadratic_bytes (67,108,864 B) and quadratic_ratio (16) times resize_growth_bytes, and fewer than leak_warning_count (100)
--     blocks are live in each process. arena: at least heap_arena_count (1,000) blocks of a mean size
--     below heap_arena_mean_bytes (16 B), and fewer than leak_warning_count (100) of them live in each process. growth:
--     growth_bytes is at least growth_bytes (65,536 B), and the blocks were freed at the end (less than leak_site_percent (5 %) of
--     the site's blocks are live) or the run was interrupted (signal 2 or 15). peak: peak_bytes is at least heap_peak_bytes
--     (16 MiB), heap_peak_percent (20 %) of the live bytes of the process, and heap_peak_ratio (4) times what the site had live
--     in the mean and what it has live at the end; windows must be fine enough for growth. leak: blocks are live at exit.
--   Of Go, which collects garbage, nothing is said: blocks that are live are no leak, and an allocation is no call of malloc.
-- Growth: the life of a process is divided into five. The live bytes of the site rose in the second, third and fourth fifth, in
--   each by growth_fifth_percent (10 %) of what they rose in the three. In the last fifth a program that ends may free. A process is
--   not judged so where a window is longer than a fifth: a run of less than five --interval, without that one of less than 0.35 s.
-- Severity of leak: where every process was searched, lost_count and lost_bytes decide alone: a note if nothing is lost, or less
--   than leak_warning_bytes (16 KiB). Else a note if
--     no process has leak_warning_count (100) live blocks of it, or none has so many that came after its start: leak_start_ns (1,000 ms),
--       or the first window where that is longer (tables made at the start are no leak; all blocks count where the start is longer
--       than leak_start_percent (50 %) of the process's life, or where windows do not say);
--     fewer than leak_warning_bytes (16 KiB) are live;
--     less than leak_site_percent (5 %) of the site's blocks are live, and they did not grow;
--     each process that has live blocks of it lived leak_quiet_ns (1,000 ms) or longer, and went on for leak_quiet_percent (40 %) of
--       its life after the last window in which they became more;
--     the windows are no longer than a fifth of the process's life, that is leak_steady_ns (5,000 ms) or longer, and in its last two
--       fifths the live bytes rose by less than leak_warning_bytes (16 KiB): a steady program;
--     such a process, of leak_steady_ns and longer, got growth_fifth_percent (10 %) of these blocks in fewer than leak_rising_fifths (3)
--       of the five parts of its life: a table that is filled once;
--     of a shorter one, the blocks are less than leak_note_percent (2 %) of all live bytes of the run;
--     the run was interrupted (signal 2 or 15);
--     of a sampled run, fewer than leak_sampled_count (10) live blocks were seen, however many they stand for.
--   Of the others that were not searched, the one with most live bytes is a warning and the rest are notes: whether such blocks are lost or
--   kept to the end is not known without clear profile --leaks. Live bytes count four times where other blocks of the site were freed, or
--   where they rose all through a process of leak_steady_ns: then the live ones are more likely forgotten. Where they were searched, and in a dump: critical from
--   leak_critical_bytes (1 MiB) that are leak_critical_percent (10 %) of all live bytes of the run. Else warning.
-- Measured: git log and git repack, which keep what they read in tables to their end, had eight critical findings and warnings; perl, which ends without a clean-up, had one critical finding and four warnings of 480 KB and more after 0.1 s, and
--   gcc three warnings; memcheck calls all of those blocks reachable.
-- Severity of quadratic-growth: that of the advice. Of growth and peak: that of the advice for the site with the largest growth_bytes and for that with the largest
--   peak_bytes; of others a note, for they mostly belong to the same structure. Of temporary: that of the advice, but a note if the blocks, at heap_temporary_block_ns
--   (50 ns) each for malloc and free, are less than heap_temporary_time_percent (10 %) of the run's time: its CPU time,
--   where that was sampled, but at most its duration and at least a tenth of it. On a busy machine the duration says nothing.
-- Measured: a loop of python3 that formats numbers (PYTHONMALLOC=malloc) makes 380,000 temporary blocks a second at one site, 1.9 % of
--   its time; no site of perl, sqlite3, git, gcc and xz made 100,000 in runs of seconds. A loop that does little but copy a word makes 13
--   million a second.
--   A scan for words by a regular expression of python3 makes 1.8 million such blocks of 1 KiB, 5.5 % of its CPU time; perl copies 2.1
--   million words of ten bytes, 4 %.
-- Measured: a buffer of 4 KiB that is kept, seen with --sample=100, is one sample that stands for 100 blocks of 400 KiB.
-- Severity of rc: a warning where a leak would be critical, else that of the advice. Of arena: a warning from
--   heap_arena_warning_count (5,000) blocks that are heap_arena_warning_percent (10 %) of all blocks of the run and, of a recorded run,
--   for the site with most blocks alone, cost at heap_temporary_block_ns each, heap_arena_time_percent (10 %) of its time, as above; else that of the advice.
-- Measured: redis-server, whose keys are filled in one phase of its life each, and perl, which sorts at its end, had five warnings and
--   one critical finding; cc1 and as keep 20 to 150 KB of several sites, each less than 2 % of what is live. node compares names of
--   ciphers by 150,000 copies of four bytes in seconds, less than 0.1 % of its time.
-- Measured: jq, which parses 60 MB and then prints, has live half of its peak in the mean; xz its whole peak from the start. A spike
--   of 100 MB in a fifth of the run has a fifth of it live in the mean.
-- Measured: 20,000 appends of 16 B to one buffer have 19,991 steps and 3.2 GB of step_bytes where it grows by 16 B, and none where it
--   doubles; of malloc, memcpy and free as many from 4,096 B on. realloc of glibc mostly grows a large block where it is, so less is copied with it than with another allocator.
-- Known false positives: a program that builds one result and frees it at its end (growth). Tables and caches that a program keeps to its end on purpose; programs that end by _exit or by a signal;
--   interpreters that skip their clean-up. Few blocks, and few bytes, are therefore notes.
SELECT
    run.id AS run_id,
    'heap' AS section,
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
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'alloc_bytes') AS INTEGER) AS alloc_bytes,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'free_count') AS INTEGER) AS free_count,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'free_bytes') AS INTEGER) AS free_bytes,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'inuse_count') AS INTEGER) AS inuse_count,
    CAST(substr(finding.key, 51, 20) AS INTEGER) AS inuse_bytes,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'process_inuse_count') AS INTEGER) AS process_inuse_count,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'grown_count') AS INTEGER) AS grown_count,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'growth_bytes') AS INTEGER) AS growth_bytes,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'samples') AS INTEGER) AS samples,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'error_percent') AS INTEGER) AS error_percent,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'live_percent') AS INTEGER) AS live_percent,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'alloc_percent') AS INTEGER) AS alloc_percent,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'mean_bytes') AS REAL) AS mean_bytes,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'average_live_bytes') AS INTEGER) AS average_live_bytes,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'peak_bytes') AS INTEGER) AS peak_bytes,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'peak_percent') AS INTEGER) AS peak_percent,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'lost_count') AS INTEGER) AS lost_count,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'lost_bytes') AS INTEGER) AS lost_bytes,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'temporary_count') AS INTEGER) AS temporary_count,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'step_count') AS INTEGER) AS step_count,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'step_bytes') AS INTEGER) AS step_bytes,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'resize_growth_bytes') AS INTEGER) AS resize_growth_bytes
FROM runs AS run
-- The findings of one run, as an object: code, severity and numbers of fixed width, and the evidence. Made in a correlated subquery, so that
-- any condition on the run arrives here: SQLite 3.40 takes only constants into a view that groups rows.
JOIN json_each((
WITH
process AS (
    SELECT sites.trace_id,
           sum(sites.alloc_count) AS alloc_count, sum(sites.alloc_bytes) AS alloc_bytes,
           sum(sites.free_count) AS free_count, sum(sites.free_bytes) AS free_bytes,
           -- Samples that stand for the live blocks: of N events each, or of one block in 1 / (1 - exp(-size / period)).
           -- The series of exp is enough where a block is smaller than the period; a larger one is nearly always seen.
           sum((sites.alloc_count - sites.free_count)
               / CASE WHEN profiles.sample_n > 1 THEN 1.0 * profiles.sample_n
                      WHEN profiles.period_type = 'space' AND profiles.period > 1
                      THEN max(1.0, 1.0 * profiles.period * sites.alloc_count / max(sites.alloc_bytes, 1))
                      ELSE 1.0 END) AS samples,
           max(profiles.sample_n > 1 OR profiles.period_type = 'space' AND profiles.period > 1) AS is_sampled,
           -- Windows count for the fifth of the process's life that their middle is in.
           max(profiles.duration_ns) * 5 <= max(processes.ended_ns - processes.started_ns) AS is_fine,
           sum(iif((profiles.time_ns - profiles.duration_ns / 2 - processes.started_ns) * 5
                   / nullif(processes.ended_ns - processes.started_ns, 0) <= 0,
                   sites.alloc_bytes - sites.free_bytes, 0)) AS rise_1,
           sum(iif((profiles.time_ns - profiles.duration_ns / 2 - processes.started_ns) * 5
                   / nullif(processes.ended_ns - processes.started_ns, 0) = 1,
                   sites.alloc_bytes - sites.free_bytes, 0)) AS rise_2,
           sum(iif((profiles.time_ns - profiles.duration_ns / 2 - processes.started_ns) * 5
                   / nullif(processes.ended_ns - processes.started_ns, 0) = 2,
                   sites.alloc_bytes - sites.free_bytes, 0)) AS rise_3,
           sum(iif((profiles.time_ns - profiles.duration_ns / 2 - processes.started_ns) * 5
                   / nullif(processes.ended_ns - processes.started_ns, 0) = 3,
                   sites.alloc_bytes - sites.free_bytes, 0)) AS rise_4,
           sum(iif((profiles.time_ns - profiles.duration_ns / 2 - processes.started_ns) * 5
                   / nullif(processes.ended_ns - processes.started_ns, 0) >= 4,
                   sites.alloc_bytes - sites.free_bytes, 0)) AS rise_5,
           sum(iif((profiles.time_ns - profiles.duration_ns / 2 - processes.started_ns) * 5
                   / nullif(processes.ended_ns - processes.started_ns, 0) >= 3,
                   sites.alloc_bytes - sites.free_bytes, 0)) AS rise_late,
           -- What changed in a window counts from its end on.
           sum(1.0 * (sites.alloc_bytes - sites.free_bytes) * (processes.ended_ns - profiles.time_ns)
               / nullif(processes.ended_ns - processes.started_ns, 0)) AS average_live_bytes,
           max(processes.ended_ns - processes.started_ns)
               >= (SELECT value FROM rules WHERE name = 'leak_steady_ns') AS is_long,
           -- The process went on for long after the last window in which the site's live blocks rose.
           max(processes.ended_ns - processes.started_ns) >= (SELECT value FROM rules WHERE name = 'leak_quiet_ns')
               AND 100.0 * (max(processes.ended_ns) - max(iif(sites.alloc_count > sites.free_count, profiles.time_ns, 0)))
                   >= (SELECT value FROM rules WHERE name = 'leak_quiet_percent') * max(processes.ended_ns - processes.started_ns)
               AS is_quiet,
           -- The first window of a process begins where that does.
           sum(iif(profiles.duration_ns > 0
                   AND (profiles.time_ns - profiles.duration_ns <= processes.started_ns
                        OR profiles.time_ns - processes.started_ns
                           <= (SELECT value FROM rules WHERE name = 'leak_start_ns'))
                   AND round(100.0 * max(profiles.time_ns - processes.started_ns,
                                         (SELECT value FROM rules WHERE name = 'leak_start_ns'))
                             / nullif(processes.ended_ns - processes.started_ns, 0))
                       <= (SELECT value FROM rules WHERE name = 'leak_start_percent'),
                   0, sites.alloc_count - sites.free_count)) AS grown_count
    FROM sites
    JOIN profiles ON profiles.id = sites.profile_id
    LEFT JOIN processes ON processes.id = profiles.process_id
    WHERE profiles.run_id = run.id
    GROUP BY sites.trace_id, coalesce(profiles.process_id, -profiles.id)
),
site AS (
    SELECT DISTINCT
           run.id AS run_id, trace_id,
           sum(alloc_count) OVER site AS alloc_count, sum(alloc_bytes) OVER site AS alloc_bytes,
           sum(free_count) OVER site AS free_count, sum(free_bytes) OVER site AS free_bytes,
           max(alloc_count - free_count) OVER site AS process_inuse_count,
           max(grown_count) OVER site AS grown_count,
           max(CASE WHEN NOT coalesce(is_fine, false) THEN NULL
                    WHEN min(rise_2, rise_3, rise_4) > 0
                         AND 100.0 * min(rise_2, rise_3, rise_4) / (rise_2 + rise_3 + rise_4) >= fifth_percent
                    THEN rise_2 + rise_3 + rise_4
                    ELSE 0 END) OVER site AS growth_bytes,
           min(coalesce(is_fine AND is_long, false)) OVER site AS is_told,
           -- In how many fifths of its life a process got a good part of what the site has live at the end.
           max((rise_1 * 100 > (alloc_bytes - free_bytes) * fifth_percent) + (rise_2 * 100 > (alloc_bytes - free_bytes) * fifth_percent)
               + (rise_3 * 100 > (alloc_bytes - free_bytes) * fifth_percent) + (rise_4 * 100 > (alloc_bytes - free_bytes) * fifth_percent)
               + (rise_5 * 100 > (alloc_bytes - free_bytes) * fifth_percent)) OVER site AS rising_fifths,
           max(coalesce(is_fine, false)) OVER site AS is_fine,
           min(coalesce(is_quiet, false) OR alloc_count <= free_count) OVER site AS is_quiet,
           CAST(round(max(0, max(average_live_bytes) OVER site)) AS INTEGER) AS average_live_bytes,
           min(coalesce(is_fine AND is_long, false)
               AND rise_late < (SELECT value FROM rules WHERE name = 'leak_warning_bytes')) OVER site AS is_steady,
           CAST(round(max(iif(is_sampled, samples, NULL)) OVER site) AS INTEGER) AS samples
    FROM process
    CROSS JOIN (SELECT value AS fifth_percent FROM rules WHERE name = 'growth_fifth_percent')
    WINDOW site AS (PARTITION BY trace_id)
),
share AS (
    SELECT site.*,
           CAST(round(100.0 * (alloc_bytes - free_bytes) / nullif(sum(alloc_bytes - free_bytes) OVER run, 0)) AS INTEGER)
               AS live_percent,
           CAST(round(100.0 * alloc_count / nullif(sum(alloc_count) OVER run, 0)) AS INTEGER) AS alloc_percent
    FROM site
    WINDOW run AS ()
),
-- What a search at the end found, where every process was searched.
found AS (
    SELECT share.*,
           CASE WHEN is_searched
                THEN (SELECT coalesce(sum(leaks.lost_count + leaks.indirect_count), 0)
                      FROM profiles
                      JOIN leaks ON leaks.profile_id = profiles.id
                      WHERE profiles.run_id = share.run_id AND profiles.kind = 'leak'
                        AND leaks.trace_id = share.trace_id) END AS lost_count,
           CASE WHEN is_searched
                THEN (SELECT coalesce(sum(leaks.lost_bytes + leaks.indirect_bytes), 0)
                      FROM profiles
                      JOIN leaks ON leaks.profile_id = profiles.id
                      WHERE profiles.run_id = share.run_id AND profiles.kind = 'leak'
                        AND leaks.trace_id = share.trace_id) END AS lost_bytes,
           CASE WHEN alloc_count >= (SELECT value FROM rules WHERE name = 'heap_temporary_count')
                THEN (SELECT coalesce(sum(details.temporary_count), 0)
                      FROM profiles
                      JOIN site_details AS details ON details.profile_id = profiles.id
                      WHERE profiles.run_id = share.run_id AND details.trace_id = share.trace_id) END AS temporary_count,
           CASE WHEN alloc_bytes >= (SELECT value FROM rules WHERE name = 'quadratic_bytes')
                THEN (SELECT coalesce(sum(details.step_count), 0) + is_copied * coalesce(sum(details.copy_step_count), 0)
                      FROM profiles
                      JOIN site_details AS details ON details.profile_id = profiles.id
                      WHERE profiles.run_id = share.run_id AND details.trace_id = share.trace_id) END AS step_count,
           CASE WHEN alloc_bytes >= (SELECT value FROM rules WHERE name = 'quadratic_bytes')
                THEN (SELECT coalesce(sum(details.step_bytes), 0) + is_copied * coalesce(sum(details.copy_step_bytes), 0)
                      FROM profiles
                      JOIN site_details AS details ON details.profile_id = profiles.id
                      WHERE profiles.run_id = share.run_id AND details.trace_id = share.trace_id) END AS step_bytes,
           CASE WHEN alloc_bytes >= (SELECT value FROM rules WHERE name = 'quadratic_bytes')
                THEN (SELECT coalesce(sum(details.realloc_bytes - details.resized_bytes), 0)
                             + is_copied * coalesce(sum(details.copy_growth_bytes), 0)
                      FROM profiles
                      JOIN site_details AS details ON details.profile_id = profiles.id
                      WHERE profiles.run_id = share.run_id AND details.trace_id = share.trace_id) END AS resize_growth_bytes,
           CASE WHEN alloc_bytes >= (SELECT value FROM rules WHERE name = 'heap_peak_bytes')
                THEN (SELECT max(heap_peaks.peak_bytes)
                      FROM profiles
                      JOIN heap_peaks ON heap_peaks.profile_id = profiles.id
                      WHERE profiles.run_id = share.run_id AND profiles.kind = 'heap-peak'
                        AND heap_peaks.trace_id = share.trace_id) END AS peak_bytes
    FROM (SELECT share.*,
                 (SELECT count(*) FROM profiles WHERE run_id = share.run_id AND kind = 'leak')
                 BETWEEN max(1, (SELECT count(*) FROM profiles WHERE run_id = share.run_id AND kind = 'heap-peak'))
                     AND 9223372036854775807 AS is_searched,
                 -- Whether a buffer is copied: one block replaces another where blocks are only made anew, too, but then not most are larger.
                 CASE WHEN alloc_bytes >= (SELECT value FROM rules WHERE name = 'quadratic_bytes')
                      THEN (SELECT iif(coalesce(100 * sum(details.copy_step_count)
                                                >= sum(details.replaced_count) * (SELECT value FROM rules WHERE name = 'quadratic_copy_percent'), false), 1, 0)
                            FROM profiles
                            JOIN site_details AS details ON details.profile_id = profiles.id
                            WHERE profiles.run_id = share.run_id AND details.trace_id = share.trace_id) END AS is_copied
          FROM share) AS share
),
-- Made once: what is decided from a column below would look it up again each time that the column is named.
peaked AS MATERIALIZED (
    SELECT found.*,
           CASE WHEN peak_bytes >= (SELECT value FROM rules WHERE name = 'heap_peak_bytes')
                THEN (SELECT CAST(round(100.0 * found.peak_bytes / nullif(max(
                                 (SELECT sum(whole.peak_bytes) FROM heap_peaks AS whole WHERE whole.profile_id = profiles.id)), 0))
                             AS INTEGER)
                      FROM profiles
                      JOIN heap_peaks ON heap_peaks.profile_id = profiles.id
                      WHERE profiles.run_id = found.run_id AND profiles.kind = 'heap-peak'
                        AND heap_peaks.trace_id = found.trace_id AND heap_peaks.peak_bytes = found.peak_bytes) END AS peak_percent
    FROM found
),
judged AS (
    SELECT share.*,
           alloc_count - free_count AS inuse_count,
           alloc_bytes - free_bytes AS inuse_bytes,
           runs.duration_ns,
           CASE WHEN alloc_count = 0 THEN 'none'
                WHEN runs.source = 'profile'
                     AND process_inuse_count < (SELECT value FROM rules WHERE name = 'leak_warning_count')
                     AND temporary_count >= (SELECT value FROM rules WHERE name = 'heap_temporary_count')
                     AND round(100.0 * temporary_count / alloc_count)
                         >= (SELECT value FROM rules WHERE name = 'heap_temporary_percent') THEN 'temporary'
                WHEN runs.source = 'profile'
                     AND process_inuse_count < (SELECT value FROM rules WHERE name = 'leak_warning_count')
                     AND step_count >= (SELECT value FROM rules WHERE name = 'quadratic_count')
                     AND step_bytes >= max((SELECT value FROM rules WHERE name = 'quadratic_bytes'),
                                           resize_growth_bytes * (SELECT value FROM rules WHERE name = 'quadratic_ratio'))
                THEN 'quadratic-growth'
                WHEN runs.source = 'profile'
                     AND process_inuse_count < (SELECT value FROM rules WHERE name = 'leak_warning_count')
                     AND alloc_count >= (SELECT value FROM rules WHERE name = 'heap_arena_count')
                     AND 1.0 * alloc_bytes / alloc_count
                         < (SELECT value FROM rules WHERE name = 'heap_arena_mean_bytes') THEN 'arena'
                WHEN runs.source = 'profile' AND growth_bytes >= (SELECT value FROM rules WHERE name = 'growth_bytes')
                     AND (runs.exit_signal IN (2, 15)
                          OR round(100.0 * (alloc_count - free_count) / alloc_count)
                             < (SELECT value FROM rules WHERE name = 'leak_site_percent')) THEN 'growth'
                WHEN runs.source = 'profile' AND is_fine
                     AND peak_percent >= (SELECT value FROM rules WHERE name = 'heap_peak_percent')
                     AND peak_bytes >= max(average_live_bytes, alloc_bytes - free_bytes)
                                       * (SELECT value FROM rules WHERE name = 'heap_peak_ratio') THEN 'peak'
                WHEN runs.source = 'profile' THEN iif(free_count < alloc_count, 'leak', 'none')
                WHEN free_count = 0 AND 1.0 * alloc_bytes / alloc_count
                     < (SELECT value FROM rules WHERE name = 'heap_arena_mean_bytes') THEN 'arena'
                WHEN free_count = 0 THEN 'rc'
                WHEN free_count < alloc_count THEN 'leak'
                ELSE 'none' END AS code,
           runs.source = 'profile' AS is_recorded,
           -- 1.96 standard deviations of a count of samples. Newton's root: sqrt is not in every build of SQLite.
           CASE WHEN samples > 0
                THEN (WITH RECURSIVE root(step, value) AS (
                          SELECT 0, 1.0 * samples
                          UNION ALL
                          SELECT step + 1, (value + samples / value) / 2 FROM root WHERE step < 40)
                      SELECT CAST(round(196 / value) AS INTEGER) FROM root WHERE step = 40) END AS error_percent,
           -- A recorded run that says that these blocks are no leak.
           iif(lost_count IS NOT NULL, lost_count = 0,
               runs.source = 'profile'
               AND (coalesce(runs.exit_signal IN (2, 15), false)
                    OR is_steady
                    OR is_quiet
                    OR is_told AND rising_fifths < (SELECT value FROM rules WHERE name = 'leak_rising_fifths')
                    OR NOT is_told AND live_percent < (SELECT value FROM rules WHERE name = 'leak_note_percent')
                    OR iif(is_told, coalesce(growth_bytes, 0), 0) = 0
                       AND round(100.0 * (alloc_count - free_count) / nullif(alloc_count, 0))
                           < (SELECT value FROM rules WHERE name = 'leak_site_percent')
                    OR coalesce(samples < (SELECT value FROM rules WHERE name = 'leak_sampled_count'), false))) AS is_kept
    FROM peaked AS share
    JOIN runs ON runs.id = share.run_id
),
weighed AS (
    SELECT judged.*,
           is_kept
           OR lost_count IS NULL
              AND min(process_inuse_count, grown_count) < (SELECT value FROM rules WHERE name = 'leak_warning_count')
           OR coalesce(lost_bytes, inuse_bytes) < (SELECT value FROM rules WHERE name = 'leak_warning_bytes') AS is_small_leak
    FROM judged
    WHERE code <> 'none' -- here, and not of `ranked`: SQLite copies the argument of json_each, takes each WITH for used twice, and so takes
                         -- no condition into it
),
-- Of the sites of a run with one code, the worst: one, also where several are as bad.
ranked AS (
    SELECT weighed.*,
           row_number() OVER (PARTITION BY code ORDER BY rank DESC, trace_id) = 1 AS is_worst
    FROM (SELECT weighed.*,
                 CASE code WHEN 'growth' THEN growth_bytes WHEN 'peak' THEN peak_bytes WHEN 'arena' THEN alloc_count
                           ELSE iif(is_small_leak, 0, inuse_bytes)
                                * iif(free_count > 0 OR is_told AND growth_bytes > 0, 4.0, 1.0) END AS rank
          FROM weighed) AS weighed
)
SELECT
    '{' || group_concat(printf('"%-20s%-10s%20d%20d":', judged.code,
        CASE WHEN judged.code = 'arena'
             THEN iif(alloc_count >= (SELECT value FROM rules WHERE name = 'heap_arena_warning_count')
                      AND alloc_percent >= (SELECT value FROM rules WHERE name = 'heap_arena_warning_percent')
                      AND (NOT is_recorded
                           OR is_worst AND 100.0 * alloc_count * (SELECT value FROM rules WHERE name = 'heap_temporary_block_ns')
                              >= (SELECT value FROM rules WHERE name = 'heap_arena_time_percent')
                                 * coalesce((SELECT max(judged.duration_ns / 10.0, min(1.0 * judged.duration_ns, sum(cpu.cpu_ns)))
                                             FROM profiles
                                             JOIN cpu ON cpu.profile_id = profiles.id
                                             WHERE profiles.run_id = judged.run_id AND profiles.kind = 'cpu'), judged.duration_ns)),
                      'warning', advice.severity)
             WHEN judged.code IN ('growth', 'peak') THEN iif(is_worst, advice.severity, 'note')
             WHEN judged.code = 'temporary'
             THEN iif(100.0 * temporary_count * (SELECT value FROM rules WHERE name = 'heap_temporary_block_ns')
                      >= (SELECT value FROM rules WHERE name = 'heap_temporary_time_percent')
                         * coalesce((SELECT max(judged.duration_ns / 10.0, min(1.0 * judged.duration_ns, sum(cpu.cpu_ns)))
                                     FROM profiles
                                     JOIN cpu ON cpu.profile_id = profiles.id
                                     WHERE profiles.run_id = judged.run_id AND profiles.kind = 'cpu'), judged.duration_ns),
                      advice.severity, 'note')
             WHEN judged.code = 'quadratic-growth' THEN advice.severity
             WHEN is_small_leak OR is_recorded AND judged.code = 'leak' AND lost_count IS NULL AND NOT is_worst THEN 'note'
             WHEN coalesce(lost_bytes, inuse_bytes) >= (SELECT value FROM rules WHERE name = 'leak_critical_bytes')
                  AND live_percent >= (SELECT value FROM rules WHERE name = 'leak_critical_percent')
             THEN iif(judged.code = 'rc' OR is_recorded AND lost_count IS NULL, 'warning', 'critical')
             ELSE advice.severity END,
        judged.trace_id, inuse_bytes)
    || printf('{"alloc_count":%d,"alloc_bytes":%d,"alloc_percent":%d,"free_count":%d,"free_bytes":%d,"inuse_count":%d,'
           || '"inuse_bytes":%d,"process_inuse_count":%d,"grown_count":%d,"growth_bytes":%s,"samples":%s,'
           || '"error_percent":%s,"live_percent":%s,"mean_bytes":%s,"lost_count":%s,"lost_bytes":%s,'
           || '"temporary_count":%s,"average_live_bytes":%s,"peak_bytes":%s,"peak_percent":%s,"step_count":%s,'
           || '"step_bytes":%s,"resize_growth_bytes":%s}',
           alloc_count, alloc_bytes, alloc_percent, free_count, free_bytes, inuse_count, inuse_bytes,
           process_inuse_count, grown_count, coalesce(growth_bytes, 'null'), coalesce(samples, 'null'),
           coalesce(error_percent, 'null'),
           coalesce(live_percent, 'null'), round(1.0 * alloc_bytes / alloc_count, 1),
           coalesce(lost_count, 'null'), coalesce(lost_bytes, 'null'), coalesce(temporary_count, 'null'),
           coalesce(average_live_bytes, 'null'), coalesce(peak_bytes, 'null'), coalesce(peak_percent, 'null'),
           coalesce(step_count, 'null'), coalesce(step_bytes, 'null'), coalesce(resize_growth_bytes, 'null'))) || '}'
FROM ranked AS judged
JOIN places ON places.trace_id = judged.trace_id
LEFT JOIN advice ON advice.code = 'heap-' || judged.code
WHERE judged.code <> 'none'
  AND places.file NOT GLOB '*.go'
)) AS finding
JOIN places ON places.trace_id = CAST(substr(finding.key, 31, 20) AS INTEGER)
LEFT JOIN advice ON advice.code = 'heap-' || trim(substr(finding.key, 1, 20));
