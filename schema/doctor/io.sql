DROP VIEW IF EXISTS doctor_io;
CREATE VIEW doctor_io AS
-- Question: which stack reads or writes a few bytes at a time, very often, and which waits for the disk after each record?
-- Rows: one per row of io_facts with a finding: a line and direction of a run.
-- Columns: those of doctor, and
--   trace_id [id]: the stack that called most often
--   function [text]: as in the view places
--   file [text]: as in the view places
--   line [line]: as in the view places
--   module [text]: as in the view places
--   direction [text]: as in io_facts: read, write or sync
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
-- Severity: that of the advice for the stack of the run with most time_ns for its code, of others a note. frequent-sync is a note also if the run
--   wrote io_sync_writes (2) times or more for each of the calls: writes share a sync. tiny-io is a note also if the calls, at
--   io_call_ns (300 ns) each, are less than io_tiny_time_percent (2 %) of the run's duration; if more than half of them are messages, which their
--   socket keeps apart (a port scanner sends 44 bytes to each of 65,535 ports); and for a dialogue: the run's small reads are between
--   half and twice its small writes, of more than io_dialogue_bytes (2 B) in the mean, as a server that answers each request.
-- Measured: a write of one byte to a file takes 320 ns and one of 4 KiB 900 ns, so 4 KiB byte by byte take 1,400 times as long. The time
--   that was measured is no severity, because it includes waiting: a program that waits for its terminal has nothing to mend.
-- Known false positives: a log or journal that must be on disk record by record; a client that sends many small requests without reading the answers.
SELECT
    judged.run_id, 'io' AS section, judged.code,
    CASE WHEN judged.code = 'frequent-sync' AND total_writes >= calls * (SELECT value FROM rules WHERE name = 'io_sync_writes') THEN 'note'
         WHEN judged.code = 'tiny-io'
              AND (round(100.0 * calls * (SELECT value FROM rules WHERE name = 'io_call_ns') / nullif(duration_ns, 0))
                   < (SELECT value FROM rules WHERE name = 'io_tiny_time_percent')
                   OR 2 * messages > small_calls
                   OR small_reads >= small_writes / 2 AND small_reads <= 2 * small_writes
                      AND total_bytes > (small_reads + small_writes) * (SELECT value FROM rules WHERE name = 'io_dialogue_bytes')) THEN 'note'
         -- Another one of the code took longer. The facts of a run are in the order of their time, so that the next one mostly decides.
         WHEN EXISTS (SELECT 1
                      FROM io_facts AS other
                      WHERE other.run_id = judged.run_id AND other.time_ns > judged.time_ns
                        AND (judged.code = 'frequent-sync' AND other.direction = 'sync'
                             AND other.calls >= (SELECT value FROM rules WHERE name = 'io_sync_count')
                             OR judged.code = 'tiny-io' AND other.direction <> 'sync'
                             AND other.small_calls >= (SELECT value FROM rules WHERE name = 'io_tiny_count') AND 2 * other.messages <= other.small_calls
                             AND round(100.0 * other.small_calls / nullif(other.calls, 0)) >= (SELECT value FROM rules WHERE name = 'io_tiny_percent')
                             AND round(1.0 * other.small_bytes / nullif(other.small_calls, 0), 1) <= (SELECT value FROM rules WHERE name = 'io_tiny_bytes')))
         THEN 'note'
         ELSE judged.severity END AS severity,
    CASE WHEN places.function = '' THEN '(no stack)' ELSE places.function END AS subject,
    json_object('direction', direction, 'calls', calls, 'bytes', bytes, 'small_calls', small_calls, 'small_bytes', small_bytes,
                'small_percent', coalesce(small_percent, 0), 'mean_bytes', mean_bytes, 'time_ns', time_ns, 'time_percent', time_percent) AS evidence,
    '[' || judged.trace_id || ']' AS trace_ids, judged.text AS advice,
    judged.trace_id, places.function, places.file, places.line, places.module, direction, calls, bytes, small_calls, small_bytes,
    coalesce(small_percent, 0) AS small_percent, mean_bytes, time_ns, time_percent
FROM (SELECT
          fact.*, small_reads, small_writes, total.small_bytes AS total_bytes, total.writes AS total_writes, substr(advice.code, 4) AS code,
          advice.severity, advice.text
      FROM (SELECT
                io_facts.*, duration_ns, CAST(round(100.0 * small_calls / nullif(calls, 0)) AS BIGINT) AS small_percent,
                round(1.0 * small_bytes / nullif(small_calls, 0), 1) AS mean_bytes,
                CAST(round(100.0 * time_ns / nullif(run_facts.duration_ns, 0)) AS BIGINT) AS time_percent
            FROM io_facts
            JOIN run_facts ON run_facts.run_id = io_facts.run_id) AS fact
      LEFT JOIN io_total_facts AS total ON total.run_id = fact.run_id
      JOIN advice
          ON advice.code = CASE WHEN direction = 'sync' AND calls >= (SELECT value FROM rules WHERE name = 'io_sync_count')
                                     AND time_percent >= (SELECT value FROM rules WHERE name = 'io_sync_percent') THEN 'io-frequent-sync'
                                WHEN small_calls >= (SELECT value FROM rules WHERE name = 'io_tiny_count')
                                     AND small_percent >= (SELECT value FROM rules WHERE name = 'io_tiny_percent')
                                     AND mean_bytes <= (SELECT value FROM rules WHERE name = 'io_tiny_bytes') THEN 'io-tiny-io'
                                ELSE 'io-none' END) AS judged
JOIN places ON places.trace_id = judged.trace_id;
