DROP VIEW IF EXISTS lock_traits;
CREATE VIEW lock_traits AS
-- Question: which thresholds of the doctor does a lock meet?
-- Rows: one per row of lock_facts. The view doctor_lock makes its codes of them. Percents are whole numbers.
-- Columns: those of lock_facts, and
--   own_wait_ns [ns]: wait_ns less wait_delay_ns, which would be waited for a processor without the lock too
--   own_wait_percent [percent]: own_wait_ns of the thread time of the run, as wait_percent
--   own_mean_hold_ns [ns]: mean_hold_ns without hold_delay_ns
--   is_recorded [0 or 1]: it was recorded by clear; 0: it is an ingested file, whose durations and holds may be unknown
--   usual_hold_ns [ns]: other_hold_ns where it is known and there are lock_fit_acquires (1,000) holds, else mean_hold_ns
--   is_contended [0 or 1]: contended_percent >= lock_contended_percent (20 %)
--   is_costly [0 or 1]: own_wait_percent >= lock_starved_percent (10 %); of an ingested file, where it is known how often the lock was taken
--   is_wait_long [0 or 1]: the waits take lock_starved_wait_ns (1 ms) or more in the mean, of own_wait_ns
--   is_used [0 or 1]: total_acquires >= lock_fit_acquires (1,000)
--   is_busy [0 or 1]: total_acquires >= lock_atomic_acquires (100,000); of a recorded run also lock_operation_ns (20 ns) for each is
--     lock_busy_percent (2 %) of its CPU time, or of its duration where that is not known
--   is_fit_contended [0 or 1]: contended_percent >= lock_fit_contended_percent (10 %)
--   is_mostly_read [0 or 1]: read_percent >= lock_mvcc_read_percent (80 %)
--   is_mostly_exclusive [0 or 1]: read_percent < lock_atomic_read_percent (50 %)
--   is_long [0 or 1]: own_mean_hold_ns > lock_long_hold_ns (1 ms)
--   is_short [0 or 1]: usual_hold_ns < lock_fit_hold_ns (1,000 ns), or an ingested file
--   is_brief [0 or 1]: own_wait_ns < lock_wait_note_ns (1 ms)
--   is_cheap [0 or 1]: a recorded run, own_wait_percent < lock_warning_percent (1 %)
--   is_once [0 or 1]: a recorded run, fewer than lock_critical_waits (10) waits of less than lock_few_waits_ns (10 ms) together, or with threads that
--     had no processor for lock_rare_delay_percent (10 %) of them
--   is_few [0 or 1]: a recorded run, fewer than lock_critical_waits (10) waits of less than lock_critical_ns (100 ms) of own_wait_ns, and threads
--     of the run had no processor for wait_delay_percent (100 %) of wait_ns: of so few waits the looks tell little
--   is_rare [0 or 1]: a recorded run, no wait lasted to the end of a process, threads of the run had no processor for lock_rare_delay_percent
--     (10 %) of wait_ns (where no delay is known: a lock without shared holds, for those are not timed), and one of these, by which the
--     lock was mostly free, and who held it or waited for it had lost the processor:
--     fewer than lock_rare_percent (3 %) of the operations waited, and it was held for less than lock_rare_hold_percent (10 %) of the run; or
--     for less than lock_crowded_hold_percent (33 %), never for lock_few_waits_ns (10 ms), and threads of the run had no processor for
--     lock_crowded_percent (300 %) of wait_ns: on full processors short holds that lose theirs add up;
--     or, whatever share waited, the delay is known, no hold was shared, it was held for less than lock_crowded_hold_percent of the run,
--     wait_ns >= lock_rare_waiters (10) times hold_ns and max_wait_ns >= lock_rare_longest (3) times max_hold_ns: so many threads would have
--     had to wait through every hold, and one through so many. In place of max_wait_ns: hold_delay_ns is lock_delay_percent (50 %) of
--     hold_ns or more; then wait_ns is compared with the holds without it
--   is_delayed [0 or 1]: wait_delay_ns is lock_delay_percent (50 %) of wait_ns or more. Where less than lock_seen_percent (50 %) of the waits was
--     seen: threads of the run were ready and had no processor for wait_delay_percent (100 %) of wait_ns: a thread that waits for a
--     lock is not ready, so the processors were full, and the run would take as long without the lock. Or, of a recorded run, however much was
--     seen: own_wait_percent < lock_starved_percent, and threads of the run had no processor for lock_crowded_percent of wait_ns
--   is_critical [0 or 1]: own_wait_percent >= lock_critical_percent (10 %); of a recorded run also lock_critical_waits (10) waits, or
--     lock_critical_ns (100 ms) of own_wait_ns
--   is_waited_for [0 or 1]: a recorded run, not brief, and contended or costly with wait_percent >= lock_warning_percent (1 %), or the threads of
--     the run wait for no other lock longer
--   is_deadlocked [0 or 1]: threads of a process waited for it to its end, for lock_deadlock_wait_ns (250 ms) or longer, and either another lock
--     of the process has such waits too, or the wait is longer than lock_deadlock_holds (10) times the longest hold in that process, and
--     nobody took the lock in a window that began after the wait did. A signal ended the run, or an exit status that is not 0 where another
--     lock is waited for; or the process is not the first of the run, whose end is not known. Of a process that goes on (attached to): threads
--     wait for each other, as the locks say when the recording ends, for that long
--   is_worked_under [0 or 1]: io_ns, and work_allocs at heap_temporary_block_ns (50 ns) each, are lock_work_percent (30 %) of hold_ns, and io_ns
--     is no more than lock_work_most_percent (120 %) of it, for more cannot be under the lock
--   is_waking [0 or 1]: what is written under the lock is lock_wake_bytes (8 B) or less a call: it wakes a thread, and takes long only
--     where the machine gives the processor to that one
SELECT
    lock.*, run_facts.is_recorded,
    coalesce(CASE WHEN acquires >= (SELECT value FROM rules WHERE name = 'lock_fit_acquires') THEN other_hold_ns END, mean_hold_ns) AS usual_hold_ns,
    contended_percent >= (SELECT value FROM rules WHERE name = 'lock_contended_percent') AS is_contended,
    (is_recorded = 1 OR total_acquires > 0) AND coalesce(own_wait_percent, 0) >= (SELECT value FROM rules WHERE name = 'lock_starved_percent') AS is_costly,
    total_contended > 0 AND own_wait_ns >= total_contended * (SELECT value FROM rules WHERE name = 'lock_starved_wait_ns') AS is_wait_long,
    total_acquires >= (SELECT value FROM rules WHERE name = 'lock_fit_acquires') AS is_used,
    total_acquires >= (SELECT value FROM rules WHERE name = 'lock_atomic_acquires')
        AND (is_recorded = 0 OR 100.0 * total_acquires * (SELECT value FROM rules WHERE name = 'lock_operation_ns')
                                >= (SELECT value FROM rules WHERE name = 'lock_busy_percent') * coalesce(cpu_ns, duration_ns)) AS is_busy,
    contended_percent >= (SELECT value FROM rules WHERE name = 'lock_fit_contended_percent') AS is_fit_contended,
    read_percent >= (SELECT value FROM rules WHERE name = 'lock_mvcc_read_percent') AS is_mostly_read,
    read_percent < (SELECT value FROM rules WHERE name = 'lock_atomic_read_percent') AS is_mostly_exclusive,
    own_mean_hold_ns > (SELECT value FROM rules WHERE name = 'lock_long_hold_ns') AS is_long,
    is_recorded = 0
        OR coalesce(CASE WHEN acquires >= (SELECT value FROM rules WHERE name = 'lock_fit_acquires') THEN other_hold_ns END, mean_hold_ns)
           < (SELECT value FROM rules WHERE name = 'lock_fit_hold_ns') AS is_short,
    own_wait_ns < (SELECT value FROM rules WHERE name = 'lock_wait_note_ns') AS is_brief,
    is_recorded = 1 AND coalesce(own_wait_percent < (SELECT value FROM rules WHERE name = 'lock_warning_percent'), 1 = 0) AS is_cheap,
    is_recorded = 1 AND total_contended < (SELECT value FROM rules WHERE name = 'lock_critical_waits')
        AND (wait_ns < (SELECT value FROM rules WHERE name = 'lock_few_waits_ns')
             OR coalesce(100.0 * run_delay_ns >= wait_ns * (SELECT value FROM rules WHERE name = 'lock_rare_delay_percent'), 1 = 0)) AS is_once,
    is_recorded = 1 AND total_contended < (SELECT value FROM rules WHERE name = 'lock_critical_waits')
        AND own_wait_ns < (SELECT value FROM rules WHERE name = 'lock_critical_ns')
        AND coalesce(100.0 * run_delay_ns >= wait_ns * (SELECT value FROM rules WHERE name = 'wait_delay_percent'), 1 = 0) AS is_few,
    is_recorded = 1 AND unfinished = 0
        AND coalesce(100.0 * run_delay_ns >= wait_ns * (SELECT value FROM rules WHERE name = 'lock_rare_delay_percent'), read_acquires = 0)
        AND (100.0 * total_contended < total_acquires * (SELECT value FROM rules WHERE name = 'lock_rare_percent')
             AND (100.0 * hold_ns < duration_ns * (SELECT value FROM rules WHERE name = 'lock_rare_hold_percent')
                  OR 100.0 * hold_ns < duration_ns * (SELECT value FROM rules WHERE name = 'lock_crowded_hold_percent')
                     AND max_hold_ns < (SELECT value FROM rules WHERE name = 'lock_few_waits_ns')
                     AND coalesce(100.0 * run_delay_ns >= wait_ns * (SELECT value FROM rules WHERE name = 'lock_crowded_percent'), 1 = 0))
             OR run_delay_ns IS NOT NULL AND read_acquires = 0
                AND 100.0 * hold_ns < duration_ns * (SELECT value FROM rules WHERE name = 'lock_crowded_hold_percent')
                AND (wait_ns >= hold_ns * (SELECT value FROM rules WHERE name = 'lock_rare_waiters')
                     AND max_wait_ns >= max_hold_ns * (SELECT value FROM rules WHERE name = 'lock_rare_longest')
                     OR hold_delay_ns > 0 AND 100.0 * hold_delay_ns >= hold_ns * (SELECT value FROM rules WHERE name = 'lock_delay_percent')
                        AND wait_ns >= (hold_ns - hold_delay_ns) * (SELECT value FROM rules WHERE name = 'lock_rare_waiters'))) AS is_rare,
    CASE WHEN coalesce(seen_percent, 0) >= (SELECT value FROM rules WHERE name = 'lock_seen_percent')
         THEN 100.0 * wait_delay_ns >= wait_ns * (SELECT value FROM rules WHERE name = 'lock_delay_percent')
         ELSE coalesce(100.0 * run_delay_ns >= wait_ns * (SELECT value FROM rules WHERE name = 'wait_delay_percent'), 1 = 0) END
        OR is_recorded = 1 AND coalesce(own_wait_percent < (SELECT value FROM rules WHERE name = 'lock_starved_percent')
                                        AND 100.0 * run_delay_ns >= wait_ns * (SELECT value FROM rules WHERE name = 'lock_crowded_percent'), 1 = 0) AS is_delayed,
    coalesce(own_wait_percent, 0) >= (SELECT value FROM rules WHERE name = 'lock_critical_percent')
        AND (is_recorded = 0 OR total_contended >= (SELECT value FROM rules WHERE name = 'lock_critical_waits')
             OR own_wait_ns >= (SELECT value FROM rules WHERE name = 'lock_critical_ns')) AS is_critical,
    is_recorded = 1 AND acquires > 0 AND own_wait_ns >= (SELECT value FROM rules WHERE name = 'lock_wait_note_ns')
        AND (is_longest = 1
             OR coalesce(own_wait_percent, 0) >= (SELECT value FROM rules WHERE name = 'lock_warning_percent')
                AND (contended_percent >= (SELECT value FROM rules WHERE name = 'lock_contended_percent')
                     OR coalesce(own_wait_percent, 0) >= (SELECT value FROM rules WHERE name = 'lock_starved_percent'))) AS is_waited_for,
    is_recorded = 1 AND unfinished > 0
        AND EXISTS (SELECT 1
                    FROM lock_unfinished_facts AS waiting
                    WHERE waiting.run_id = lock.run_id AND waiting.object_id = lock.object_id
                      AND waiting.address = lock.address
                      AND waiting.wait_ns >= (SELECT value FROM rules WHERE name = 'lock_deadlock_wait_ns')
                      AND (goes_on = 1
                           OR (is_chained = 1
                               OR is_taken = 0 AND waiting.wait_ns
                                  > waiting.max_hold_ns * (SELECT value FROM rules WHERE name = 'lock_deadlock_holds'))
                              AND (exit_signal IS NOT NULL OR is_child = 1 OR is_chained = 1 AND coalesce(exit_status, 0) <> 0))) AS is_deadlocked,
    coalesce(io_ns, 0) + coalesce(work_allocs, 0) > 0
        AND 100.0 * (coalesce(io_ns, 0) + coalesce(work_allocs, 0) * (SELECT value FROM rules WHERE name = 'heap_temporary_block_ns'))
            >= hold_ns * (SELECT value FROM rules WHERE name = 'lock_work_percent')
        AND 100.0 * coalesce(io_ns, 0) <= hold_ns * (SELECT value FROM rules WHERE name = 'lock_work_most_percent') AS is_worked_under,
    coalesce(write_bytes <= write_calls * (SELECT value FROM rules WHERE name = 'lock_wake_bytes'), 1 = 0) AS is_waking
FROM (SELECT lock_facts.*, wait_ns - coalesce(wait_delay_ns, 0) AS own_wait_ns,
             CAST(round(1.0 * wait_percent * (wait_ns - coalesce(wait_delay_ns, 0)) / CASE WHEN wait_ns > 0 THEN wait_ns ELSE 1 END) AS BIGINT) AS own_wait_percent,
             CASE WHEN acquires > 0 THEN mean_hold_ns - 1.0 * coalesce(hold_delay_ns, 0) / acquires ELSE mean_hold_ns END AS own_mean_hold_ns
      FROM lock_facts
     ) AS lock
JOIN run_facts ON run_facts.run_id = lock.run_id;
