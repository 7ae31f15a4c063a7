DROP VIEW IF EXISTS doctor;
CREATE VIEW doctor AS
-- Question: what is wrong with a run, and which rows prove it? One row a diagnosis of one subject; the diagnoses are the
--   views doctor_SECTION, which also have their figures in columns. Sorted: newest run first; in it what was not recorded
--   (section saturation), then by severity, then by weight (bytes or nanoseconds, a user's own column weight).
-- severity: critical, warning, note, ok. evidence: JSON, the figures. trace_ids: JSON, the stacks to look at or export.
-- advice: text of the table advice for 'SECTION-CODE'. Thresholds are rows of the table rules and may be changed there.
-- Views doctor_* that a user made in this file are part of it: clear makes it anew when it meets one that is new, changed or
--   gone, and leaves out (and names) one that lacks a column or cannot run.
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
