DROP VIEW IF EXISTS wait_traits;
CREATE VIEW wait_traits AS
-- Question: which thresholds of the doctor does a condition variable, semaphore, barrier or futex meet?
-- Rows: one per row of wait_facts. The view doctor_wait makes its codes of them. Percents are whole numbers.
-- Columns: those of wait_facts, and
--   switch_ns [ns]: what the futile wakes cost, at wait_switch_ns each
--   is_brief [0 or 1]: wait_ns < lock_wait_note_ns (1 ms)
--   is_cheap [0 or 1]: wait_ns < wait_futex_note_ns (10 ms), or thread_percent < lock_warning_percent (1 %)
--   is_few [0 or 1]: waits < lock_critical_waits (10); but of semaphores, threads of the run also had no processor for lock_rare_delay_percent (10 %)
--     of wait_ns
--   is_critical [0 or 1]: thread_percent >= lock_critical_percent (10 %), with lock_critical_waits (10) waits or lock_critical_ns (100 ms) of them
--   is_long [0 or 1]: wait_percent >= wait_queue_percent (10 %)
--   is_phase [0 or 1]: waits >= wait_imbalance_count (10)
--   is_even [0 or 1]: thread_percent < wait_imbalance_percent (20 %), or the run used wait_imbalance_busy_percent (90 %) of the time of its
--     processors: then the threads waited for those
--   is_herd [0 or 1]: futile_wakes >= wait_herd_count (500), futile_percent >= wait_herd_percent (50 %), and wait_herd_broadcast_percent (10 %) of
--     the wakes are broadcasts: of those of one thread another one takes what was there
--   is_small_herd [0 or 1]: switch_ns is less than wait_herd_time_percent (1 %) of the run's duration
--   is_lost [0 or 1]: lost_wakes >= wait_lost_count (10), and these are wait_lost_percent (50 %) of the timeouts or more
--   is_slow [0 or 1]: waits >= wait_queue_count (100), less than half of them to a time limit; of a futex half or more of them were woken
--   is_delayed [0 or 1]: threads of the run were ready and had no processor for wait_delay_percent (100 %) of the time that was waited: the other
--     side may have been one of them. Or, but of a barrier, the run used wait_lock_busy_percent (80 %) of the time of its processors: the
--     other side would not be quicker. So where wait_queue_ready_percent (100 %) as many threads as these were ready and had none in the
--     mean; of a lock wait_lock_ready_percent (200 %): it would take as long without the lock.
--     Of a barrier the same of as many threads as wait for one of them, if none of these ran
--     wait_even_percent (125 %) of their mean: those of delay_facts but the first thread of the process, if it does not wait
--   is_idle [0 or 1]: the waits together are longer than the run: there are more threads than work. Or no other side was waited on, and several
--     functions wait, which may be both sides; or the queue has no bound, it is not the first thread that waits for what names say are items, and,
--     but of semaphores, threads waited less than wait_queue_percent (10 %) of the run for the end of others. They may be workers without work
SELECT
    wait_facts.*,
    CAST(futile_wakes * (SELECT value FROM rules WHERE name = 'wait_switch_ns') AS BIGINT) AS switch_ns,
    wait_ns < (SELECT value FROM rules WHERE name = 'lock_wait_note_ns') AS is_brief,
    wait_ns < (SELECT value FROM rules WHERE name = 'wait_futex_note_ns')
        OR coalesce(thread_percent, 0) < (SELECT value FROM rules WHERE name = 'lock_warning_percent') AS is_cheap,
    waits < (SELECT value FROM rules WHERE name = 'lock_critical_waits')
        AND (kind = 'sem' OR coalesce(100.0 * run_delay_ns >= wait_ns * (SELECT value FROM rules WHERE name = 'lock_rare_delay_percent'), 1 = 0)) AS is_few,
    coalesce(thread_percent, 0) >= (SELECT value FROM rules WHERE name = 'lock_critical_percent')
        AND (waits >= (SELECT value FROM rules WHERE name = 'lock_critical_waits')
             OR wait_ns >= (SELECT value FROM rules WHERE name = 'lock_critical_ns')) AS is_critical,
    coalesce(wait_percent, 0) >= (SELECT value FROM rules WHERE name = 'wait_queue_percent') AS is_long,
    waits >= (SELECT value FROM rules WHERE name = 'wait_imbalance_count') AS is_phase,
    coalesce(thread_percent, 0) < (SELECT value FROM rules WHERE name = 'wait_imbalance_percent')
        OR coalesce(100.0 * cpu_ns >= (SELECT value FROM rules WHERE name = 'wait_imbalance_busy_percent') * processors * duration_ns, 1 = 0)
        AS is_even,
    futile_wakes >= (SELECT value FROM rules WHERE name = 'wait_herd_count')
        AND futile_percent >= (SELECT value FROM rules WHERE name = 'wait_herd_percent') AND broadcasts > 0
        AND 100.0 * broadcasts >= (signals + broadcasts) * (SELECT value FROM rules WHERE name = 'wait_herd_broadcast_percent') AS is_herd,
    coalesce(round(100.0 * futile_wakes * (SELECT value FROM rules WHERE name = 'wait_switch_ns') / nullif(duration_ns, 0))
             < (SELECT value FROM rules WHERE name = 'wait_herd_time_percent'), 1 = 0) AS is_small_herd,
    lost_wakes >= (SELECT value FROM rules WHERE name = 'wait_lost_count')
        AND 100.0 * lost_wakes >= timeouts * (SELECT value FROM rules WHERE name = 'wait_lost_percent') AS is_lost,
    waits >= (SELECT value FROM rules WHERE name = 'wait_queue_count') AND 2 * timeouts < waits AND (kind <> 'futex' OR 2 * woken >= waits)
        AS is_slow,
    coalesce(100.0 * run_delay_ns >= wait_ns * (SELECT value FROM rules WHERE name = 'wait_delay_percent')
             OR kind <> 'barrier' AND processors > 1
                AND (100.0 * coalesce(cpu_ns, 0) >= (SELECT value FROM rules WHERE name = 'wait_lock_busy_percent') * processors * duration_ns
                     OR 100.0 * coalesce(run_delay_ns, 0)
                        >= (SELECT value FROM rules WHERE name = CASE WHEN is_lock = 1 THEN 'wait_lock_ready_percent' ELSE 'wait_queue_ready_percent' END)
                           * processors * duration_ns)
             OR kind = 'barrier'
                AND (SELECT 100.0 * run_delay_ns * (count(*) - 1) >= wait_ns * (SELECT value FROM rules WHERE name = 'wait_delay_percent')
                            AND 100.0 * max(ran_ns) <= avg(ran_ns) * (SELECT value FROM rules WHERE name = 'wait_even_percent')
                     FROM delay_facts AS thread
                     JOIN processes ON processes.id = process_id AND processes.pid = thread.pid
                     WHERE thread.run_id = wait_facts.run_id AND (thread.tid <> thread.pid OR is_of_main = 1)), 1 = 0) AS is_delayed,
    wait_ns > duration_ns
        OR sides = 1 AND (waiting_functions > 1
                          OR is_bounded = 0 AND (is_of_main = 0 OR told_by <> 'names')
                             AND (kind = 'sem' OR coalesce(join_percent, 0) < (SELECT value FROM rules WHERE name = 'wait_queue_percent'))) AS is_idle
FROM wait_facts
JOIN run_facts ON run_facts.run_id = wait_facts.run_id;
