DROP VIEW IF EXISTS doctor;
CREATE VIEW doctor AS
-- Question: what is wrong with a run, and which rows prove it?
-- Rows: one per finding: a diagnosis of one subject. The view is the union of the views doctor_SECTION, which also have their
--   figures as columns. Order: the newest run first; in it what was not recorded (section saturation); then by severity; then by
--   weight (bytes or nanoseconds; of a user's diagnosis its column weight). Thresholds are rows of the table rules, and may be
--   changed there. A view doctor_* that a user made in this file is part of it: clear makes this view again when one was added,
--   changed or removed. A view that lacks a column, or that fails, is left out, and clear prints its name.
-- Columns:
--   run_id [id]: the run
--   section [text]: saturation, heap, lock, wait, thread, io, channel, cell, fibers, freeze, hardware, or a user's own
--   code [text]: what the diagnosis is, such as leak or hot-long
--   severity [text]: critical, warning, note, ok
--   subject [text]: what it is about, for people: a function, the name of a lock, an address
--   evidence [JSON]: an object with the figures that prove it
--   trace_ids [JSON]: an array of the stacks to look at or to export, the most important first
--   advice [text]: what to do, and when not to: the text of the row SECTION-CODE of the table advice
SELECT run_id, section, code, severity, subject, evidence, trace_ids, advice
FROM (
    SELECT run_id, section, code, severity, subject, evidence, trace_ids, advice, 0 AS place, count AS weight
    FROM doctor_saturation
    UNION ALL
    SELECT run_id, section, code, severity, subject, evidence, trace_ids, advice, 1, inuse_bytes
    FROM doctor_heap
    UNION ALL
    SELECT run_id, section, code, severity, subject, evidence, trace_ids, advice, 1, wait_ns
    FROM doctor_lock
    UNION ALL
    SELECT run_id, section, code, severity, subject, evidence, trace_ids, advice, 1, cost_ns
    FROM doctor_thread
    UNION ALL
    SELECT run_id, section, code, severity, subject, evidence, trace_ids, advice, 1, time_ns
    FROM doctor_io
    UNION ALL
    SELECT run_id, section, code, severity, subject, evidence, trace_ids, advice, 1, iif(code = 'herd', switch_ns, wait_ns)
    FROM doctor_wait
    UNION ALL
    SELECT run_id, section, code, severity, subject, evidence, trace_ids, advice, 1, wait_ns
    FROM doctor_channel
    UNION ALL
    SELECT run_id, section, code, severity, subject, evidence, trace_ids, advice, 1, cow_bytes
    FROM doctor_cell
    UNION ALL
    SELECT run_id, section, code, severity, subject, evidence, trace_ids, advice, 1, coalesce(total_lifetime_ns, 0)
    FROM doctor_fibers
    UNION ALL
    SELECT run_id, section, code, severity, subject, evidence, trace_ids, advice, 1, alloc_bytes
    FROM doctor_freeze
    UNION ALL
    SELECT run_id, section, code, severity, subject, evidence, trace_ids, advice, 1, 0
    FROM doctor_hardware
    -- views of users
)
ORDER BY run_id DESC, place,
         CASE severity WHEN 'critical' THEN 0 WHEN 'warning' THEN 1 WHEN 'note' THEN 2 ELSE 3 END,
         weight DESC, section, code, subject;
