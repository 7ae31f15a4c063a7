DROP VIEW IF EXISTS doctor_thread;
CREATE VIEW doctor_thread AS
-- Question: which stack starts threads that live too short to pay for their start, and which one waits without blocking?
-- Rows: one per run, stack and code with a finding, of busy-wait one per line; processes and windows of the run are summed. Figures that are none of the code are
--   NULL.
-- Columns: those of doctor, and
--   trace_id [id]: the stack that started the threads, or waits
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
--   cost_ns [ns]: what the starts and ends of the threads cost, at thread_start_ns each; of busy-wait the yields and tries, at
--     busy_call_ns each, and the sleeps, at wait_switch_ns each, or clock_ns
--   cost_percent [percent]: that, of the run's duration, a whole number; NULL: the duration is not known
-- Thresholds (names are rows of the table rules):
--   thread-churn: started >= thread_churn_count (200), and either short_percent >= thread_churn_percent (25 %), or mean_life_ns <
--     thread_churn_life_ns (1,000,000 ns).
--   busy-wait: yields and failed_tries together are busy_wait_count (1,000) or more, or short_sleeps >= busy_wait_sleeps (2,000). Or reads
--     of a clock are busy_clock_percent (80 %) of the CPU time of a thread or more, in busy_clock_samples (20) samples, and
--     busy_clock_run_percent (10 %) of that of the run.
-- Severity of thread-churn: that of the advice, but a note if cost_percent < thread_churn_cost_percent (1 %). Of busy-wait: that of the
--   advice where yields and tries, at busy_call_ns (300 ns) each, are busy_wait_percent (2 %) of the run's duration; else a note. Short
--   sleeps alone are a note: they are as often a pace that a program keeps on purpose.
-- Measured: pthread_create, a thread that does nothing, and pthread_join take 20 to 40 us on a machine that does nothing else; a thread of
--   1 ms therefore costs 2 to 4 % more than its work. On a busy machine a thread waits for a processor before it begins, so that the
--   mean of lives says less than how many are short.
--   sched_yield takes 300 ns where no other thread wants the processor; a sleep of a microsecond takes 55 us and two switches.
-- Known false positives: threads that are started once for each of many long phases, and end at once where there is nothing to do
--   (thread-churn). A program that paces itself by short sleeps on purpose; a lock that spins for a moment before it waits (busy-wait). A
--   program that takes the time far more often than it works. Not seen are loops that read a variable: they are CPU time.
SELECT
    run.id AS run_id,
    'thread' AS section,
    trim(substr(finding.key, 1, 20)) AS code,
    nullif(trim(substr(finding.key, 21, 10)), '') AS severity,
    coalesce(reader.name, iif(places.function = '', '(no stack)', places.function)) AS subject,
    finding.value AS evidence,
    substr(finding.key, 111) AS trace_ids,
    advice.text AS advice,
    places.trace_id,
    coalesce(reader.name, places.function) AS function,
    coalesce(reader.filename, places.file) AS file,
    iif(reader.id IS NULL, places.line, CAST(substr(finding.key, 91, 20) AS INTEGER)) AS line,
    places.module,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'started') AS INTEGER) AS started,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'ended') AS INTEGER) AS ended,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'life_ns') AS INTEGER) AS life_ns,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'mean_life_ns') AS INTEGER) AS mean_life_ns,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'short_count') AS INTEGER) AS short_count,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'short_percent') AS INTEGER) AS short_percent,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'yields') AS INTEGER) AS yields,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'failed_tries') AS INTEGER) AS failed_tries,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'short_sleeps') AS INTEGER) AS short_sleeps,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'sleep_ns') AS INTEGER) AS sleep_ns,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'clock_ns') AS INTEGER) AS clock_ns,
    CAST(substr(finding.key, 51, 20) AS INTEGER) AS cost_ns,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'cost_percent') AS INTEGER) AS cost_percent
FROM runs AS run
-- The findings of one run, as in the view doctor_heap: code, severity, numbers of fixed width, and the evidence.
JOIN json_each((
WITH
rule AS (
    SELECT
        max(value) FILTER (WHERE name = 'thread_churn_count') AS churn_count,
        max(value) FILTER (WHERE name = 'thread_churn_percent') AS churn_percent,
        max(value) FILTER (WHERE name = 'thread_churn_life_ns') AS churn_life_ns,
        max(value) FILTER (WHERE name = 'thread_churn_cost_percent') AS cost_percent,
        max(value) FILTER (WHERE name = 'thread_start_ns') AS start_ns,
        max(value) FILTER (WHERE name = 'busy_wait_count') AS busy_count,
        max(value) FILTER (WHERE name = 'busy_wait_sleeps') AS busy_sleeps,
        max(value) FILTER (WHERE name = 'busy_call_ns') AS busy_call_ns,
        max(value) FILTER (WHERE name = 'busy_wait_percent') AS busy_percent,
        max(value) FILTER (WHERE name = 'busy_clock_percent') AS clock_percent,
        max(value) FILTER (WHERE name = 'busy_clock_samples') AS clock_samples,
        max(value) FILTER (WHERE name = 'busy_clock_run_percent') AS clock_run_percent,
        max(value) FILTER (WHERE name = 'wait_switch_ns') AS switch_ns
    FROM rules
),
figure AS (
    SELECT
        thread_use.*,
        CAST(round(100.0 * short_count / nullif(ended, 0)) AS INTEGER) AS short_percent,
        CAST(round(1.0 * life_ns / nullif(ended, 0)) AS INTEGER) AS mean_life_ns,
        CAST(started * rule.start_ns AS INTEGER) AS cost_ns,
        CAST(round(100.0 * started * rule.start_ns / nullif(runs.duration_ns, 0)) AS INTEGER) AS cost_percent
    FROM thread_use
    JOIN runs ON runs.id = thread_use.run_id
    CROSS JOIN rule
    WHERE thread_use.run_id = run.id
),
-- Of busy-wait the stacks of one line are summed: the callers of a loop do not matter. trace_id is the stack that does it most often.
place AS (
    SELECT run.id AS run_id, max(iif(rank = 1, trace_id, NULL)) AS trace_id,
           sum(yields) AS yields, sum(failed_tries) AS failed_tries, sum(short_sleeps) AS short_sleeps, sum(sleep_ns) AS sleep_ns,
           ',' || group_concat(trace_id) || ',' AS traces
    FROM (SELECT spin_use.*,
                 row_number() OVER (PARTITION BY function, file, line, module, iif(line > 0, 0, trace_id)
                                    ORDER BY yields + failed_tries + short_sleeps DESC, trace_id) AS rank
          FROM spin_use
          WHERE run_id = run.id) AS stack
    GROUP BY function, file, line, module, iif(line > 0, 0, trace_id)
),
spinning AS (
    SELECT
        spin_use.*,
        CAST((yields + failed_tries) * rule.busy_call_ns + short_sleeps * rule.switch_ns AS INTEGER) AS cost_ns,
        CAST(round(100.0 * ((yields + failed_tries) * rule.busy_call_ns + short_sleeps * rule.switch_ns)
                   / nullif(runs.duration_ns, 0)) AS INTEGER) AS cost_percent,
        coalesce(round(100.0 * (yields + failed_tries) * rule.busy_call_ns / nullif(runs.duration_ns, 0))
                 >= rule.busy_percent, false) AS is_costly
    FROM place AS spin_use
    JOIN runs ON runs.id = spin_use.run_id
    CROSS JOIN rule
    WHERE yields + failed_tries >= rule.busy_count OR short_sleeps >= rule.busy_sleeps
),
-- The functions that read a clock: of C, of the kernel's page [vdso], and what C++ and Rust put around them. Not made as a whole: there may be
-- very many functions.
clock AS NOT MATERIALIZED (
    SELECT id AS function_id
    FROM functions
    WHERE name LIKE 'clock_gettime%' OR name LIKE '__clock_gettime%' OR name LIKE '__vdso_%' OR name LIKE 'gettimeofday%'
       OR name LIKE 'std::chrono::%' OR name LIKE 'bool std::chrono::%'
       OR name LIKE '%std::time::%' OR name LIKE '<std::sys::%time::%' OR name LIKE '<core::time::%'
),
-- The samples by thread (its labels have its id) and stack.
ticked AS MATERIALIZED (
    SELECT profiles.process_id, cpu.label_set_id, cpu.trace_id, sum(cpu.samples) AS samples, sum(cpu.cpu_ns) AS cpu_ns,
           max(iif(clock.function_id IS NULL, 0, 1)) AS is_clock
    FROM profiles
    JOIN cpu ON cpu.profile_id = profiles.id
    JOIN traces ON traces.id = cpu.trace_id
    LEFT JOIN location_lines ON location_lines.location_id = nullif(CAST(substr(traces.stack, 2) AS INTEGER), 0)
                            AND location_lines.position = 0
    LEFT JOIN clock ON clock.function_id = location_lines.function_id
    WHERE profiles.run_id = run.id AND profiles.kind = 'cpu'
    GROUP BY profiles.process_id, cpu.label_set_id, cpu.trace_id
),
clock_reader AS (
    SELECT process_id, label_set_id
    FROM ticked
    CROSS JOIN rule
    GROUP BY process_id, label_set_id
    HAVING sum(samples * is_clock) >= max(rule.clock_samples)
       AND 100.0 * sum(cpu_ns * is_clock) >= max(rule.clock_percent) * sum(cpu_ns)
       AND 100.0 * sum(cpu_ns * is_clock) >= max(rule.clock_run_percent) * (SELECT sum(cpu_ns) FROM ticked)
),
-- Who reads it: the first function that is none of the clock.
clock_read AS (
    SELECT ticked.trace_id, ticked.cpu_ns, frame.function_id, frame.line,
           row_number() OVER (PARTITION BY ticked.process_id, ticked.label_set_id, ticked.trace_id
                              ORDER BY CAST(step.key AS INTEGER), frame.position) AS place
    FROM clock_reader
    JOIN ticked ON ticked.process_id IS clock_reader.process_id AND ticked.label_set_id = clock_reader.label_set_id AND ticked.is_clock = 1
    JOIN traces ON traces.id = ticked.trace_id
    JOIN json_each(traces.stack) AS step
    JOIN location_lines AS frame ON frame.location_id = step.value
    WHERE NOT EXISTS (SELECT 1 FROM clock WHERE clock.function_id = frame.function_id)
),
clock_loop AS (
    SELECT run.id AS run_id, function_id, max(iif(rank = 1, line, NULL)) AS line, max(iif(rank = 1, trace_id, NULL)) AS trace_id,
           sum(cpu_ns) AS clock_ns, ',' || group_concat(trace_id) || ',' AS traces
    FROM (SELECT function_id, line, trace_id, sum(cpu_ns) AS cpu_ns,
                 row_number() OVER (PARTITION BY function_id ORDER BY sum(cpu_ns) DESC, trace_id) AS rank
          FROM clock_read
          WHERE place = 1
          GROUP BY function_id, line, trace_id) AS reads
    GROUP BY function_id
)
SELECT
    '{' || group_concat(printf('"%-20s%-10s%20d%20d%20d%20d%s":', code, severity, trace_id, cost_ns, function_id, line, trace_ids)
    || evidence) || '}'
FROM (SELECT 'thread-churn' AS code, iif(figure.cost_percent < rule.cost_percent, 'note', advice.severity) AS severity,
             figure.trace_id, cost_ns, 0 AS function_id, 0 AS line, '[' || figure.trace_id || ']' AS trace_ids,
             printf('{"started":%d,"ended":%d,"life_ns":%d,"mean_life_ns":%s,"short_count":%d,"short_percent":%s,"cost_ns":%d,'
                    || '"cost_percent":%s}',
                    started, ended, life_ns, coalesce(mean_life_ns, 'null'), short_count, coalesce(short_percent, 'null'), cost_ns,
                    coalesce(figure.cost_percent, 'null')) AS evidence
      FROM figure
      CROSS JOIN rule
      LEFT JOIN advice ON advice.code = 'thread-thread-churn'
      WHERE started >= rule.churn_count
        AND (short_percent >= rule.churn_percent OR mean_life_ns < rule.churn_life_ns)
      UNION ALL
      SELECT 'busy-wait', iif(is_costly, advice.severity, 'note'), spinning.trace_id, cost_ns, 0, 0,
             '[' || spinning.trace_id || rtrim(replace(traces, printf(',%d,', spinning.trace_id), ','), ',') || ']',
             printf('{"yields":%d,"failed_tries":%d,"short_sleeps":%d,"sleep_ns":%d,"cost_ns":%d,"cost_percent":%s}',
                    yields, failed_tries, short_sleeps, sleep_ns, cost_ns, coalesce(spinning.cost_percent, 'null'))
      FROM spinning
      LEFT JOIN advice ON advice.code = 'thread-busy-wait'
      UNION ALL
      SELECT 'busy-wait', advice.severity, clock_loop.trace_id, clock_ns, function_id, line,
             '[' || clock_loop.trace_id || rtrim(replace(traces, printf(',%d,', clock_loop.trace_id), ','), ',') || ']',
             printf('{"clock_ns":%d,"cost_ns":%d,"cost_percent":%s}', clock_ns, clock_ns,
                    coalesce(CAST(round(100.0 * clock_ns / nullif(runs.duration_ns, 0)) AS INTEGER), 'null'))
      FROM clock_loop
      JOIN runs ON runs.id = clock_loop.run_id
      LEFT JOIN advice ON advice.code = 'thread-busy-wait')
)) AS finding
JOIN places ON places.trace_id = CAST(substr(finding.key, 31, 20) AS INTEGER)
LEFT JOIN functions AS reader ON reader.id = nullif(CAST(substr(finding.key, 71, 20) AS INTEGER), 0)
LEFT JOIN advice ON advice.code = 'thread-' || trim(substr(finding.key, 1, 20));
