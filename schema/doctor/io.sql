DROP VIEW IF EXISTS doctor_io;
CREATE VIEW doctor_io AS
-- Question: which stack reads or writes a few bytes at a time, very often, and which waits for the disk after each record?
-- Rows: one per run, line and direction with a finding; processes, windows and calls of the run are summed.
-- Columns: those of doctor, and
--   trace_id [id]: the stack that called most often
--   function [text]: as in the view places
--   file [text]: as in the view places
--   line [line]: as in the view places
--   module [text]: as in the view places
--   direction [text]: read (read, pread, readv, preadv, recv and its relatives), write (write, fflush and the others) or sync (fsync,
--     fdatasync)
--   calls [count]: calls of the stack that returned
--   bytes [bytes]: moved by them
--   small_calls [count]: those that moved 1 to 511 bytes
--   small_bytes [bytes]: moved by these
--   small_percent [percent]: small_calls of calls, a whole number
--   mean_bytes [bytes]: small_bytes / small_calls; NULL: there are none
--   time_ns [ns]: in all these calls, waiting included
--   time_percent [percent]: that, of the run's duration, a whole number; NULL: the duration is not known
-- Thresholds (names are rows of the table rules):
--   tiny-io: small_calls >= io_tiny_count (10,000), small_percent >= io_tiny_percent (80 %), mean_bytes <= io_tiny_bytes (64 B).
--   frequent-sync: calls of fsync and fdatasync >= io_sync_count (100), and time_percent >= io_sync_percent (10 %).
-- Severity: that of the advice for the stack of the run with most time_ns for its code, of others a note. tiny-io is a note also if the calls, at io_call_ns
--   (300 ns) each, are less than io_tiny_time_percent (2 %) of the run's duration; and for a dialogue: the run's small reads are
--   between half and twice its small writes, of more than io_dialogue_bytes (2 B) in the mean, as a server that answers each request.
-- Measured: a write of one byte to a file takes 320 ns and one of 4 KiB 900 ns, so 4 KiB byte by byte take 1,400 times as long. The time
--   that was measured is no severity, because it includes waiting: a program that waits for its terminal has nothing to mend.
-- Known false positives: a log or journal that must be on disk record by record; a client that sends many small requests without reading the answers.
SELECT
    run.id AS run_id,
    'io' AS section,
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
    (SELECT value FROM json_each(finding.value) WHERE key = 'direction') AS direction,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'calls') AS INTEGER) AS calls,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'bytes') AS INTEGER) AS bytes,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'small_calls') AS INTEGER) AS small_calls,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'small_bytes') AS INTEGER) AS small_bytes,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'small_percent') AS INTEGER) AS small_percent,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'mean_bytes') AS REAL) AS mean_bytes,
    CAST(substr(finding.key, 51, 20) AS INTEGER) AS time_ns,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'time_percent') AS INTEGER) AS time_percent
FROM runs AS run
-- The findings of one run, as in the view doctor_heap: code, severity, numbers of fixed width, and the evidence.
JOIN json_each((
WITH
rule AS (
    SELECT
        max(value) FILTER (WHERE name = 'io_tiny_count') AS tiny_count,
        max(value) FILTER (WHERE name = 'io_tiny_percent') AS tiny_percent,
        max(value) FILTER (WHERE name = 'io_tiny_bytes') AS tiny_bytes,
        max(value) FILTER (WHERE name = 'io_call_ns') AS call_ns,
        max(value) FILTER (WHERE name = 'io_tiny_time_percent') AS time_percent,
        max(value) FILTER (WHERE name = 'io_sync_count') AS sync_count,
        max(value) FILTER (WHERE name = 'io_sync_percent') AS sync_percent,
        max(value) FILTER (WHERE name = 'io_dialogue_bytes') AS dialogue_bytes
    FROM rules
),
stack AS (
    SELECT io.trace_id, CASE WHEN io.call IN ('fsync', 'fdatasync') THEN 'sync'
                             WHEN io.call GLOB '*read*' OR io.call GLOB 'recv*' THEN 'read'
                             ELSE 'write' END AS direction,
           max(iif(io.call IN ('fsync', 'fdatasync'), io.calls, io.small_calls)) AS most, sum(io.calls) AS calls, sum(io.bytes) AS bytes, sum(io.small_calls) AS small_calls,
           sum(io.small_bytes) AS small_bytes, sum(io.time_ns) AS time_ns
    FROM io
    JOIN profiles ON profiles.id = io.profile_id
    WHERE profiles.run_id = run.id AND io.call NOT IN ('open', 'close')
    GROUP BY 1, 2
),
-- The stacks of one line are summed: who calls a function that writes does not matter. trace_id is that of the most small calls, or syncs.
site AS (
    SELECT DISTINCT
           run.id AS run_id, first_value(trace_id) OVER line AS trace_id,
           direction, sum(calls) OVER line AS calls, sum(bytes) OVER line AS bytes, sum(small_calls) OVER line AS small_calls,
           sum(small_bytes) OVER line AS small_bytes, sum(time_ns) OVER line AS time_ns
    FROM (SELECT stack.*, traces.signature, coalesce(traces.function_id, -stack.trace_id) AS function_key,
                 iif(traces.line > 0, traces.line, -stack.trace_id) AS line_key
          FROM stack
          JOIN traces ON traces.id = stack.trace_id) AS stack
    WINDOW line AS (PARTITION BY function_key, line_key, direction ORDER BY most DESC, signature, trace_id
                    ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
),
-- Windows, so that SQLite passes a condition on run_id through them.
share AS (
    SELECT
        site.*,
        CAST(round(100.0 * small_calls / nullif(calls, 0)) AS INTEGER) AS small_percent,
        round(1.0 * small_bytes / nullif(small_calls, 0), 1) AS mean_bytes,
        sum(iif(direction = 'read', small_calls, 0)) OVER run AS small_reads,
        sum(iif(direction = 'write', small_calls, 0)) OVER run AS small_writes,
        1.0 * sum(small_bytes) OVER run / nullif(sum(small_calls) OVER run, 0) AS run_mean_bytes
    FROM site
    WINDOW run AS ()
),
found AS (
    SELECT
        share.*,
        iif(direction = 'sync', 'frequent-sync', 'tiny-io') AS code,
        CAST(round(100.0 * time_ns / nullif(runs.duration_ns, 0)) AS INTEGER) AS time_percent,
        time_ns = max(time_ns) OVER (PARTITION BY direction = 'sync') AS is_worst,
        round(100.0 * calls * rule.call_ns / nullif(runs.duration_ns, 0)) < rule.time_percent AS is_cheap,
        small_reads BETWEEN small_writes / 2 AND 2 * small_writes AND run_mean_bytes > rule.dialogue_bytes AS is_dialogue
    FROM share
    CROSS JOIN rule
    JOIN runs ON runs.id = share.run_id
    WHERE small_calls >= rule.tiny_count AND small_percent >= rule.tiny_percent AND mean_bytes <= rule.tiny_bytes
       OR direction = 'sync' AND calls >= rule.sync_count AND round(100.0 * time_ns / nullif(runs.duration_ns, 0)) >= rule.sync_percent
)
SELECT
    '{' || group_concat(printf('"%-20s%-10s%20d%20d":', found.code,
        iif(found.code = 'tiny-io' AND (coalesce(is_cheap, false) OR is_dialogue) OR NOT is_worst, 'note', advice.severity),
        found.trace_id, time_ns)
    || printf('{"direction":"%s","calls":%d,"bytes":%d,"small_calls":%d,"small_bytes":%d,"small_percent":%d,"mean_bytes":%s,'
           || '"time_ns":%d,"time_percent":%s}',
           direction, calls, bytes, small_calls, small_bytes, small_percent, coalesce(mean_bytes, 'null'), time_ns,
           coalesce(time_percent, 'null'))) || '}'
FROM found
LEFT JOIN advice ON advice.code = 'io-' || found.code
)) AS finding
JOIN places ON places.trace_id = CAST(substr(finding.key, 31, 20) AS INTEGER)
LEFT JOIN advice ON advice.code = 'io-' || trim(substr(finding.key, 1, 20));
