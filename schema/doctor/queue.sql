DROP VIEW IF EXISTS doctor_queue;
CREATE VIEW doctor_queue AS
-- Question: into which queues without a bound does more go than is taken out, and what waits there?
-- Rows: one per row of queue_facts with a finding.
-- Columns: those of doctor, those of queue_facts, and
--   function [text]: as in the view places
--   file [text]: as in the view places
--   line [line]: as in the view places
--   module [text]: as in the view places
-- Thresholds (names are rows of the table rules):
--   unbounded: peak_bytes >= queue_unbounded_bytes (4 MiB) in queue_unbounded_count (100) blocks, peak_percent >= queue_unbounded_peak_percent
--     (20 %), and queued_percent >= queue_unbounded_queued_percent (25 %).
-- Severity: that of the advice; a note if filled_percent < queue_unbounded_filled_percent (10 %), or is not known: all jobs were made first, and then done.
-- Known false positives: a list of jobs that is made slowly, while threads already work on it, and is meant to be held as a whole. Blocks of the
--   function that puts things into the queue, but are none of it.
SELECT
    queue.run_id, 'queue' AS section, 'unbounded' AS code,
    CASE WHEN coalesce(filled_percent, 0) < (SELECT value FROM rules WHERE name = 'queue_unbounded_filled_percent') THEN 'note'
         ELSE advice.severity END AS severity,
    CASE WHEN places.function = '' THEN '(no stack)' ELSE places.function END AS subject,
    json_object('peak_count', peak_count, 'peak_bytes', peak_bytes, 'peak_percent', peak_percent, 'queued_percent', queued_percent,
                'filled_percent', filled_percent, 'pushes', pushes, 'waits', waits, 'wait_ns', wait_ns) AS evidence,
    '[' || queue.trace_id || CASE WHEN waiter_trace_id <> 0 THEN ',' || waiter_trace_id ELSE '' END || ']' AS trace_ids,
    advice.text || coalesce((SELECT ' Here ' || name || ' takes.' FROM place_names WHERE trace_id = waiter_trace_id AND trace_id <> 0), '') AS advice,
    queue.trace_id, object_id, pushes, waits, wait_ns, waker_trace_id, waiter_trace_id, peak_count, peak_bytes, peak_percent, queued_percent,
    filled_percent, places.function, places.file, places.line, places.module
FROM queue_facts AS queue
JOIN advice ON advice.code = 'queue-unbounded'
JOIN places ON places.trace_id = queue.trace_id
WHERE peak_bytes >= (SELECT value FROM rules WHERE name = 'queue_unbounded_bytes')
  AND peak_count >= (SELECT value FROM rules WHERE name = 'queue_unbounded_count')
  AND peak_percent >= (SELECT value FROM rules WHERE name = 'queue_unbounded_peak_percent')
  AND queued_percent >= (SELECT value FROM rules WHERE name = 'queue_unbounded_queued_percent');
