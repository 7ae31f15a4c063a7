DROP VIEW IF EXISTS heap_judged;
CREATE VIEW heap_judged AS
-- Question: what is wrong with each allocation site, before it is compared with the others of its run?
-- Rows: those of heap_sites with a diagnosis; the view doctor_heap says which. None of Go, which collects garbage: blocks that are live are no
--   leak there, and an allocation is no call of malloc.
-- Columns:
--   run_id [id]: the run
--   trace_id [id]: the stack that allocated
--   fact_trace_id [id]: as in heap_sites
--   code [text]: as in doctor
--   severity [text]: of the advice
--   advice [text]: as in doctor
--   is_recorded [0 or 1]: as in run_facts
--   is_small_leak [0 or 1]: a leak, or blocks without frees, of which little is known or that are few: a note
--   time_ns [ns]: what the cost of its blocks is compared with: the run's CPU time, where that was sampled, but at most its duration and at
--     least a tenth of it
--   weight [bytes]: as in site_weight_facts, where it has a row there
--   is_cheap [0 or 1]: of temporary and arena: its blocks, at heap_temporary_block_ns (50 ns), are less than heap_temporary_time_percent,
--     heap_arena_time_percent (10 %) of time_ns
--   rank [number]: by which arenas and peaks are compared: the blocks, or the live bytes at the peak
--   error_percent [percent]: as in doctor_heap
--   bytes_error_percent [percent]: as in doctor_heap
--   function [text]: as in the view places
--   file [text]: as in the view places
--   line [line]: as in the view places
--   module [text]: as in the view places
--   alloc_count [count]: as in doctor_heap, and so all others
--   alloc_bytes [bytes]: bytes allocated
--   free_count [count]: blocks freed
--   free_bytes [bytes]: their bytes
--   inuse_count [count]: live at the end
--   inuse_bytes [bytes]: live at the end
--   process_inuse_count [count]: in the process that has most
--   grown_count [count]: of them, those that came after the start
--   growth_bytes [bytes]: by how much the live bytes rose
--   samples [count]: that stand for them
--   live_percent [percent]: of all live bytes
--   alloc_percent [percent]: of all blocks
--   mean_bytes [bytes]: size of a block in the mean
--   average_live_bytes [bytes]: live in the mean
--   peak_bytes [bytes]: live at the peak
--   peak_percent [percent]: of all that was live then
--   lost_count [count]: blocks that nothing reached
--   lost_bytes [bytes]: their bytes
--   temporary_count [count]: freed before the next allocation
--   step_count [count]: small steps of growth
--   step_bytes [bytes]: bytes before these
--   resize_growth_bytes [bytes]: by how much blocks grew in all
-- Codes of a dump that was not searched: arena: nothing freed, mean size below heap_arena_mean_bytes (16 B). rc: nothing freed, larger blocks. leak: some
--   freed, some not; of one that was searched: not freed.
--   Of a recorded run, which knows what was live at exit and when, with fewer than leak_warning_count (100) live blocks in each process: temporary:
--   temporary_count >= heap_temporary_count (400,000), heap_temporary_percent (50 %) of the blocks. quadratic-growth: step_count >= quadratic_count
--   (1,000), step_bytes >= quadratic_bytes (67,108,864 B) and quadratic_ratio (16) times resize_growth_bytes. arena: heap_arena_count (1,000) blocks
--   of a mean size below heap_arena_mean_bytes (16 B). With any number: growth: growth_bytes > growth_bytes (65,536 B) and
--   growth_peak_percent (1 %) of the peak of the process that has most, in each of three fifths growth_fifth_percent (10 %) of it, and freed at the
--   end (less than leak_site_percent (5 %) of the blocks are live) or interrupted (signal 2 or 15).
--   peak: peak_bytes >= heap_peak_bytes (16 MiB), heap_peak_percent (50 %) of what was live, heap_peak_ratio (4) times the mean and the end. leak: else.
-- Small leaks: where each process with their blocks was searched, those of which nothing is lost, or less than leak_warning_bytes (16 KiB), or fewer blocks than
--   leak_lost_count (10) that are not as many bytes as a critical leak, or fewer bytes than such a leak of a process that lived for less than
--   leak_short_percent (10 %) of the run: it gives them back. Else fewer bytes than leak_warning_bytes;
--   fewer than leak_warning_count (100) blocks, or after the start, if that is no more than leak_start_percent (50 %) of the life; and of a recorded run:
--   a process that lived shorter than leak_unsearched_ns (5,000 ms), or of a life that is not known, unless the site has leak_unsearched_percent
--   (50 %) of all live bytes; an interrupted one; fewer than leak_sampled_count (10) samples; quiet for leak_quiet_percent (40 %) of lives of leak_quiet_ns (1,000 ms) and more;
--   in fine windows of lives of leak_steady_ns (5,000 ms): steady to leak_warning_bytes in the last two fifths, or risen in fewer than
--   leak_rising_fifths (3); without these: less than leak_note_percent (2 %) of all live bytes; less than leak_site_percent (5 %) of the blocks, ungrown.
-- Measured: git log and git repack, which keep what they read in tables to their end, had eight critical findings and warnings; perl, which ends
--   without a clean-up, one critical finding and four warnings of 480 KB and more after 0.1 s, and gcc three warnings; memcheck calls all of those
--   blocks reachable. A buffer of 4 KiB that is kept, seen with --sample=100, is one sample that stands for 100 blocks of 400 KiB. redis-server, whose
--   keys are filled in one phase of its life each, and perl, which sorts at its end, had five warnings; cc1 and as keep 20 to 150 KB of several sites,
--   each less than 2 % of what is live. java (1 s, 0.5 MiB of its
--   remembered sets), gdb (1 s, 2.8 MiB of symbols) and node, which are too large to be searched in so short a life, had a warning for tables that they
--   keep. perl frees its interpreter at its end, which alone pointed at a stack of 2.3 MiB: one block. A loop of python3 that formats numbers (PYTHONMALLOC=malloc) makes 380,000 temporary blocks a second at one
--   site, 1.9 % of its time; a loop that does little but copy a word makes 13 million a second. jq, which parses 60 MB and then prints, has live half of
--   its peak in the mean; xz its whole peak from the start; sqlite3, which sorts once
--   for an index, has 25 % of its peak in that. 20,000 appends of 16 B to one buffer have 19,991 steps and 3.2 GB of step_bytes where it
--   grows by 16 B, and none where it doubles.
SELECT
    site.run_id, site.trace_id, fact_trace_id, substr(advice.code, 6) AS code, advice.severity, advice.text AS advice, is_recorded,
    CASE WHEN lost_count = 0 OR coalesce(lost_bytes, inuse_bytes) < (SELECT value FROM rules WHERE name = 'leak_warning_bytes') THEN 1
         WHEN lost_count > 0
         THEN CASE WHEN 100.0 * life_ns < duration_ns * (SELECT value FROM rules WHERE name = 'leak_short_percent')
                        AND lost_bytes < (SELECT value FROM rules WHERE name = 'leak_critical_bytes') THEN 1
                   WHEN lost_count >= (SELECT value FROM rules WHERE name = 'leak_lost_count')
                        OR lost_bytes >= (SELECT value FROM rules WHERE name = 'leak_critical_bytes')
                           AND live_percent >= (SELECT value FROM rules WHERE name = 'leak_critical_percent') THEN 0
                   ELSE 1 END
         WHEN process_inuse_count < (SELECT value FROM rules WHERE name = 'leak_warning_count')
              OR grown_count < (SELECT value FROM rules WHERE name = 'leak_warning_count') THEN 1
         WHEN is_recorded = 0 THEN 0
         WHEN coalesce(life_ns, 0) < (SELECT value FROM rules WHERE name = 'leak_unsearched_ns')
                 AND live_percent < (SELECT value FROM rules WHERE name = 'leak_unsearched_percent')
              OR exit_signal IN (2, 15)
              OR samples < (SELECT value FROM rules WHERE name = 'leak_sampled_count')
              OR quiet_percent >= (SELECT value FROM rules WHERE name = 'leak_quiet_percent')
                 AND life_ns >= (SELECT value FROM rules WHERE name = 'leak_quiet_ns')
              OR is_told = 1 AND (late_bytes < (SELECT value FROM rules WHERE name = 'leak_warning_bytes')
                                  OR rising_fifths < (SELECT value FROM rules WHERE name = 'leak_rising_fifths'))
              OR is_told = 0 AND live_percent < (SELECT value FROM rules WHERE name = 'leak_note_percent')
              OR (is_told = 0 OR growth_bytes = 0)
                 AND round(100.0 * inuse_count / nullif(alloc_count, 0)) < (SELECT value FROM rules WHERE name = 'leak_site_percent') THEN 1
         ELSE 0 END AS is_small_leak,
    time_ns, weight,
    CASE WHEN 100.0 * (SELECT value FROM rules WHERE name = 'heap_temporary_block_ns')
              * CASE advice.code WHEN 'heap-temporary' THEN temporary_count WHEN 'heap-arena' THEN alloc_count END
              >= time_ns * CASE advice.code
                           WHEN 'heap-temporary' THEN (SELECT value FROM rules WHERE name = 'heap_temporary_time_percent')
                           WHEN 'heap-arena' THEN (SELECT value FROM rules WHERE name = 'heap_arena_time_percent') END THEN 0
         WHEN advice.code IN ('heap-temporary', 'heap-arena') THEN 1 END AS is_cheap,
    CASE advice.code WHEN 'heap-arena' THEN alloc_count WHEN 'heap-peak' THEN peak_bytes END AS rank,
    -- 1.96 standard deviations of a count of samples and 1.92 more (query/runs/sampling_error.h). Newton's root: sqrt is not in every build of SQLite.
    CASE WHEN samples > 0
         THEN (WITH RECURSIVE root(step, value) AS (
                   SELECT 0, samples + 1.92
                   UNION ALL
                   SELECT step + 1, (value + (samples + 1.92) / value) / 2 FROM root WHERE step < 24)
               SELECT CAST(round(196 * value / samples) AS BIGINT) FROM root WHERE step = 24) END AS error_percent,
    -- Of bytes that were sampled by size, the variance is at most the period times the bytes, whatever the sizes: as many samples as there are periods.
    CASE WHEN samples > 0 AND inuse_bytes > 0
         THEN (WITH RECURSIVE root(step, periods, value) AS (
                   SELECT 0, periods, periods + 1.92
                   FROM (SELECT 1.0 * inuse_bytes
                                / (SELECT CASE WHEN max(profiles.sample_n) <= 1 AND max(profiles.period) > 1 AND min(profiles.period_type) = 'space'
                                               THEN max(profiles.period) END
                                   FROM profiles
                                   WHERE profiles.run_id = site.run_id AND profiles.kind = 'heap') AS periods) AS sampled
                   UNION ALL
                   SELECT step + 1, periods, (value + (periods + 1.92) / value) / 2 FROM root WHERE step < 24)
               SELECT CAST(round(196 * value / periods) AS BIGINT) FROM root WHERE step = 24) END AS bytes_error_percent,
    function, file, line, module, alloc_count, alloc_bytes, free_count, free_bytes, inuse_count, inuse_bytes, process_inuse_count,
    grown_count, growth_bytes, samples, live_percent, alloc_percent, round(1.0 * alloc_bytes / nullif(alloc_count, 0), 1) AS mean_bytes, average_live_bytes,
    peak_bytes, peak_percent, lost_count, lost_bytes, temporary_count, step_count, step_bytes, resize_growth_bytes
FROM (SELECT
          heap_sites.run_id, heap_sites.trace_id, fact_trace_id, is_recorded, exit_signal, alloc_count, alloc_bytes, free_count, free_bytes,
          inuse_count, inuse_bytes, process_inuse_count, samples, live_percent, alloc_percent, average_live_bytes, is_fine, life_ns,
          quiet_percent, rising_fifths, late_bytes, lost_count, lost_bytes, process_peak_bytes, duration_ns,
          coalesce(weight, inuse_bytes * CASE WHEN free_count > 0 THEN 4 ELSE 1 END) AS weight,
          CASE WHEN start_percent > (SELECT value FROM rules WHERE name = 'leak_start_percent') THEN process_inuse_count
               ELSE grown_count END AS grown_count,
          CASE WHEN growth_percent >= (SELECT value FROM rules WHERE name = 'growth_fifth_percent') THEN growth_bytes
               WHEN growth_bytes IS NOT NULL THEN 0 END AS growth_bytes,
          CASE WHEN is_all_fine = 1 AND life_ns >= (SELECT value FROM rules WHERE name = 'leak_steady_ns') THEN 1 ELSE 0 END AS is_told,
          CASE WHEN alloc_count >= (SELECT value FROM rules WHERE name = 'heap_temporary_count') THEN temporary_count END AS temporary_count,
          CASE WHEN alloc_bytes >= (SELECT value FROM rules WHERE name = 'quadratic_bytes')
               THEN step_count + CASE WHEN copy_percent >= (SELECT value FROM rules WHERE name = 'quadratic_copy_percent')
                                      THEN copy_step_count ELSE 0 END END AS step_count,
          CASE WHEN alloc_bytes >= (SELECT value FROM rules WHERE name = 'quadratic_bytes')
               THEN step_bytes + CASE WHEN copy_percent >= (SELECT value FROM rules WHERE name = 'quadratic_copy_percent')
                                      THEN copy_step_bytes ELSE 0 END END AS step_bytes,
          CASE WHEN alloc_bytes >= (SELECT value FROM rules WHERE name = 'quadratic_bytes')
               THEN resize_growth_bytes + CASE WHEN copy_percent >= (SELECT value FROM rules WHERE name = 'quadratic_copy_percent')
                                               THEN copy_growth_bytes ELSE 0 END END AS resize_growth_bytes,
          CASE WHEN alloc_bytes >= (SELECT value FROM rules WHERE name = 'heap_peak_bytes') THEN peak_bytes END AS peak_bytes,
          CASE WHEN peak_bytes >= (SELECT value FROM rules WHERE name = 'heap_peak_bytes')
                    AND alloc_bytes >= (SELECT value FROM rules WHERE name = 'heap_peak_bytes') THEN peak_percent END AS peak_percent,
          CASE WHEN cpu_ns < duration_ns / 10.0 THEN duration_ns / 10.0 WHEN cpu_ns < duration_ns THEN cpu_ns ELSE duration_ns END AS time_ns
      FROM heap_sites
      JOIN run_facts ON run_facts.run_id = heap_sites.run_id) AS site
JOIN advice
    ON advice.code
       = CASE WHEN alloc_count = 0 THEN 'heap-none'
              WHEN is_recorded = 0 AND lost_count IS NULL AND free_count = 0 AND alloc_bytes < alloc_count * (SELECT value FROM rules WHERE name = 'heap_arena_mean_bytes')
              THEN 'heap-arena'
              WHEN is_recorded = 0 AND lost_count IS NULL AND free_count = 0 THEN 'heap-rc'
              WHEN is_recorded = 1 AND process_inuse_count < (SELECT value FROM rules WHERE name = 'leak_warning_count')
                   AND temporary_count >= (SELECT value FROM rules WHERE name = 'heap_temporary_count')
                   AND round(100.0 * temporary_count / nullif(alloc_count, 0)) >= (SELECT value FROM rules WHERE name = 'heap_temporary_percent')
              THEN 'heap-temporary'
              WHEN is_recorded = 1 AND process_inuse_count < (SELECT value FROM rules WHERE name = 'leak_warning_count')
                   AND step_count >= (SELECT value FROM rules WHERE name = 'quadratic_count')
                   AND step_bytes >= (SELECT value FROM rules WHERE name = 'quadratic_bytes')
                   AND step_bytes >= resize_growth_bytes * (SELECT value FROM rules WHERE name = 'quadratic_ratio')
              THEN 'heap-quadratic-growth'
              WHEN is_recorded = 1 AND process_inuse_count < (SELECT value FROM rules WHERE name = 'leak_warning_count')
                   AND alloc_count >= (SELECT value FROM rules WHERE name = 'heap_arena_count')
                   AND alloc_bytes < alloc_count * (SELECT value FROM rules WHERE name = 'heap_arena_mean_bytes') THEN 'heap-arena'
              WHEN is_recorded = 1 AND growth_bytes > (SELECT value FROM rules WHERE name = 'growth_bytes')
                   AND 100.0 * growth_bytes > coalesce(process_peak_bytes, 0) * (SELECT value FROM rules WHERE name = 'growth_peak_percent')
                   AND (exit_signal IN (2, 15)
                        OR round(100.0 * inuse_count / nullif(alloc_count, 0)) < (SELECT value FROM rules WHERE name = 'leak_site_percent'))
              THEN 'heap-growth'
              WHEN is_recorded = 1 AND is_fine = 1 AND peak_percent >= (SELECT value FROM rules WHERE name = 'heap_peak_percent')
                   AND peak_bytes >= average_live_bytes * (SELECT value FROM rules WHERE name = 'heap_peak_ratio')
                   AND peak_bytes >= inuse_bytes * (SELECT value FROM rules WHERE name = 'heap_peak_ratio') THEN 'heap-peak'
              WHEN inuse_count > 0 THEN 'heap-leak'
              ELSE 'heap-none' END
JOIN places ON places.trace_id = site.trace_id
WHERE substr(places.file, length(places.file) - 2) <> '.go';
