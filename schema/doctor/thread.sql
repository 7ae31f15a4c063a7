DROP VIEW IF EXISTS doctor_thread;
CREATE VIEW doctor_thread AS
-- Question: which stack starts threads that live too short to pay for their start?
-- Rows: one per run and stack with a finding; processes and windows of the run are summed.
-- Columns: those of doctor, and
--   trace_id [id]: the stack that started the threads
--   function [text]: as in the view places
--   file [text]: as in the view places
--   line [line]: as in the view places
--   module [text]: as in the view places
--   started [count]: threads that it started
--   ended [count]: threads of it that ended
--   life_ns [ns]: sum of the lives of those
--   mean_life_ns [ns]: their mean
--   short_count [count]: those that ended by themselves and lived less than 1 ms
--   short_percent [percent]: that, of ended, a whole number
--   cost_ns [ns]: what the starts and ends of the threads cost, at thread_start_ns each
--   cost_percent [percent]: that, of the run's duration, a whole number; NULL: the duration is not known
-- Thresholds (names are rows of the table rules):
--   thread-churn: started >= thread_churn_count (200), and either short_percent >= thread_churn_percent (25 %), or mean_life_ns <
--     thread_churn_life_ns (1,000,000 ns).
-- Severity: that of the advice, but a note if cost_percent < thread_churn_cost_percent (1 %).
-- Measured: pthread_create, a thread that does nothing, and pthread_join take 20 to 40 us on a machine that does nothing else; a thread of
--   1 ms therefore costs 2 to 4 % more than its work. On a busy machine a thread waits for a processor before it begins, so that the
--   mean of lives says less than how many are short.
-- Known false positives: threads that are started once for each of many long phases, and end at once where there is nothing to do.
WITH
rule AS (
    SELECT
        max(value) FILTER (WHERE name = 'thread_churn_count') AS churn_count,
        max(value) FILTER (WHERE name = 'thread_churn_percent') AS churn_percent,
        max(value) FILTER (WHERE name = 'thread_churn_life_ns') AS churn_life_ns,
        max(value) FILTER (WHERE name = 'thread_churn_cost_percent') AS cost_percent,
        max(value) FILTER (WHERE name = 'thread_start_ns') AS start_ns
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
)
SELECT
    figure.run_id,
    'thread' AS section,
    'thread-churn' AS code,
    iif(figure.cost_percent < rule.cost_percent, 'note', advice.severity) AS severity,
    iif(figure.function = '', '(no stack)', figure.function) AS subject,
    printf('{"started":%d,"ended":%d,"life_ns":%d,"mean_life_ns":%s,"short_count":%d,"short_percent":%s,"cost_ns":%d,'
           || '"cost_percent":%s}',
           started, ended, life_ns, coalesce(mean_life_ns, 'null'), short_count, coalesce(short_percent, 'null'), cost_ns,
           coalesce(figure.cost_percent, 'null')) AS evidence,
    '[' || figure.trace_id || ']' AS trace_ids,
    advice.text AS advice,
    figure.trace_id,
    figure.function,
    figure.file,
    figure.line,
    figure.module,
    started,
    ended,
    life_ns,
    mean_life_ns,
    short_count,
    short_percent,
    cost_ns,
    figure.cost_percent
FROM figure
CROSS JOIN rule
LEFT JOIN advice ON advice.code = 'thread-thread-churn'
WHERE started >= rule.churn_count
  AND (short_percent >= rule.churn_percent OR mean_life_ns < rule.churn_life_ns);
