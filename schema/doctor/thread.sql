DROP VIEW IF EXISTS doctor_thread;
CREATE VIEW doctor_thread AS
-- Question: which stack starts threads that live too short to pay for their start, and which one waits without blocking?
-- Rows: one per row of thread_facts or busy_facts with a finding. Figures that are none of the code are NULL.
-- Columns: those of doctor, and
--   trace_id [id]: the stack that started the threads, or waits most
--   function [text]: as in the view places; of a thread that reads a clock, who does
--   file [text]: as in the view places, of that function
--   line [line]: as in the view places, of that function
--   module [text]: as in the view places
--   started [count]: threads that it started
--   ended [count]: threads of it that ended
--   life_ns [ns]: sum of the lives of those
--   mean_life_ns [ns]: their mean
--   short_count [count]: those that ended by themselves and lived less than 1 ms
--   short_percent [percent]: that, of ended, a whole number
--   yields [count]: calls of sched_yield and thrd_yield
--   failed_tries [count]: calls that only try, and would have had to wait
--   short_sleeps [count]: sleeps of less than 1 ms
--   sleep_ns [ns]: how long these took
--   clock_ns [ns]: CPU time of the threads that do little else than read a clock, in those reads
--   cost_ns [ns]: of the starts of threads, at thread_start_ns each; of yields and tries, at busy_call_ns, and sleeps, at wait_switch_ns; or clock_ns
--   cost_percent [percent]: that, of the run's duration, a whole number; NULL: the duration is not known
-- Thresholds (names are rows of the table rules):
--   thread-churn: started >= thread_churn_count (200), and either short_percent >= thread_churn_percent (25 %), or mean_life_ns <
--     thread_churn_life_ns (1,000,000 ns).
--   busy-wait: yields and failed_tries >= busy_wait_count (1,000) together, or short_sleeps >= busy_wait_sleeps (2,000). Or reads of a clock
--     are busy_clock_percent (80 %) of a thread's CPU time, in busy_clock_samples (20) samples, and busy_clock_run_percent (10 %) of the run's.
-- Severity: that of the advice. thread-churn is a note if cost_percent < thread_churn_cost_percent (1 %); busy-wait without a clock where yields and
--   tries are less than busy_wait_percent (2 %) of the run's duration or busy_wait_least_ns (200 ms): short sleeps alone are often a pace on purpose.
-- Known false positives: threads that are started once for each of many long phases, and end at once where there is nothing to do. A program
--   that paces itself by short sleeps; a lock that spins for a moment before it waits; a program that takes the time far more often than it works.
SELECT
    found.run_id, 'thread' AS section, found.code,
    CASE WHEN found.code = 'thread-churn' AND cost_percent < (SELECT value FROM rules WHERE name = 'thread_churn_cost_percent') THEN 'note'
         WHEN is_clock = 0 AND (yields + failed_tries) * (SELECT value FROM rules WHERE name = 'busy_call_ns')
              < (SELECT value FROM rules WHERE name = 'busy_wait_least_ns') THEN 'note'
         WHEN is_clock = 0 AND coalesce(round(100.0 * (yields + failed_tries) * (SELECT value FROM rules WHERE name = 'busy_call_ns') / nullif(duration_ns, 0)), 0)
              < (SELECT value FROM rules WHERE name = 'busy_wait_percent') THEN 'note'
         ELSE found.severity END AS severity,
    coalesce(found.function, CASE places.function WHEN '' THEN '(no stack)' ELSE places.function END) AS subject,
    CASE WHEN found.code = 'thread-churn'
         THEN json_object('started', started, 'ended', ended, 'life_ns', life_ns, 'mean_life_ns', mean_life_ns, 'short_count', short_count,
                          'short_percent', short_percent, 'cost_ns', cost_ns, 'cost_percent', cost_percent)
         WHEN is_clock = 1 THEN json_object('clock_ns', clock_ns, 'cost_ns', cost_ns, 'cost_percent', cost_percent)
         ELSE json_object('yields', yields, 'failed_tries', failed_tries, 'short_sleeps', short_sleeps, 'sleep_ns', sleep_ns,
                          'cost_ns', cost_ns, 'cost_percent', cost_percent) END AS evidence,
    CASE WHEN found.code = 'thread-churn' THEN '[' || found.trace_id || ']'
         ELSE (SELECT '[' || group_concat(trace_id) || ']'
               FROM (SELECT trace_id FROM busy_stack_facts AS stack
                     WHERE stack.run_id = found.run_id AND stack.is_clock = found.is_clock AND busy_trace_id = found.trace_id
                     ORDER BY rank) AS stacks) END AS trace_ids,
    found.text AS advice, found.trace_id, coalesce(found.function, places.function) AS function, coalesce(found.file, places.file) AS file,
    coalesce(found.line, places.line) AS line, places.module, started, ended, life_ns, mean_life_ns, short_count, short_percent, yields,
    failed_tries, short_sleeps, sleep_ns, clock_ns, cost_ns, cost_percent
FROM (SELECT priced.*, CAST(round(100.0 * cost_ns / nullif(duration_ns, 0)) AS BIGINT) AS cost_percent
      FROM (SELECT judged.*,
                   CASE WHEN code = 'thread-churn' THEN CAST(started * (SELECT value FROM rules WHERE name = 'thread_start_ns') AS BIGINT)
                        WHEN is_clock = 1 THEN clock_ns
                        ELSE CAST((yields + failed_tries) * (SELECT value FROM rules WHERE name = 'busy_call_ns')
                                  + short_sleeps * (SELECT value FROM rules WHERE name = 'wait_switch_ns') AS BIGINT) END AS cost_ns
            FROM (SELECT run.run_id, duration_ns, substr(advice.code, 8) AS code, advice.severity, advice.text,
                         coalesce(churn.trace_id, busy.trace_id) AS trace_id, started, ended, life_ns, mean_life_ns, short_count, short_percent,
                         is_clock, function, file, line, yields, failed_tries, short_sleeps, sleep_ns,
                         (SELECT sum(reading.cpu_ns)
                          FROM clock_read_facts AS reading
                          WHERE reading.run_id = busy.run_id AND reading.function = busy.function AND reading.file = busy.file
                            AND thread_samples >= (SELECT value FROM rules WHERE name = 'busy_clock_samples')
                            AND 100.0 * thread_clock_ns >= (SELECT value FROM rules WHERE name = 'busy_clock_percent') * reading.thread_ns
                            AND 100.0 * thread_clock_ns >= (SELECT value FROM rules WHERE name = 'busy_clock_run_percent') * run.cpu_ns) AS clock_ns
                  FROM run_facts AS run
                  JOIN advice ON advice.code IN ('thread-thread-churn', 'thread-busy-wait')
                  LEFT JOIN thread_facts AS churn ON churn.run_id = CASE advice.code WHEN 'thread-thread-churn' THEN run.run_id END
                  LEFT JOIN busy_facts AS busy ON busy.run_id = CASE advice.code WHEN 'thread-busy-wait' THEN run.run_id END) AS judged) AS priced) AS found
JOIN places ON places.trace_id = found.trace_id
WHERE started >= (SELECT value FROM rules WHERE name = 'thread_churn_count')
      AND (short_percent >= (SELECT value FROM rules WHERE name = 'thread_churn_percent')
           OR mean_life_ns < (SELECT value FROM rules WHERE name = 'thread_churn_life_ns'))
   OR yields + failed_tries >= (SELECT value FROM rules WHERE name = 'busy_wait_count')
   OR short_sleeps >= (SELECT value FROM rules WHERE name = 'busy_wait_sleeps') OR clock_ns IS NOT NULL;
