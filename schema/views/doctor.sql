DROP VIEW IF EXISTS doctor;
CREATE VIEW doctor AS
-- Question: what is wrong with a run, and which rows prove it? One row a diagnosis of one subject; the diagnoses are the
--   views doctor_*, which also have their figures in columns. Sorted: newest run first; in it what was not recorded
--   (section saturation), then by severity, then by weight (bytes or nanoseconds).
-- severity: critical, warning, note, ok. evidence: JSON, the figures. trace_ids: JSON, the stacks to look at or export.
-- advice: text of the table advice for 'SECTION-CODE'. Thresholds are rows of the table rules and may be changed there.
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
)
ORDER BY run_id DESC, place,
         CASE severity WHEN 'critical' THEN 0 WHEN 'warning' THEN 1 WHEN 'note' THEN 2 ELSE 3 END,
         weight DESC, section, code, subject;
