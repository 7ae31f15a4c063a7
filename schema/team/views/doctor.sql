-- The view doctor of a file, written for PostgreSQL; schema/views/doctor.sql documents its columns. PostgreSQL takes any condition into a union, so
-- the detour by an array of each run's findings is not needed.
CREATE VIEW doctor AS
SELECT run_id, section, code, severity, subject, evidence, trace_ids,
       coalesce(finding.advice,
                (SELECT text FROM advice WHERE advice.code = finding.section || '-' || finding.code)) AS advice
FROM (
    SELECT run_id, section, code, severity, subject, evidence, trace_ids, NULL::text AS advice, 0 AS place, count AS weight
    FROM doctor_saturation
    UNION ALL
    SELECT run_id, section, code, severity, subject, evidence, trace_ids, NULL, 1, CASE WHEN code = 'quadratic-growth' THEN step_bytes ELSE inuse_bytes END
    FROM doctor_heap
    UNION ALL
    SELECT run_id, section, code, severity, subject, evidence, trace_ids, advice, 1, wait_ns
    FROM doctor_lock
    UNION ALL
    SELECT run_id, section, code, severity, subject, evidence, trace_ids, NULL, 1, cost_ns
    FROM doctor_thread
    UNION ALL
    SELECT run_id, section, code, severity, subject, evidence, trace_ids, NULL, 1, time_ns
    FROM doctor_io
    UNION ALL
    SELECT run_id, section, code, severity, subject, evidence, trace_ids, advice, 1, CASE WHEN code = 'herd' THEN switch_ns ELSE wait_ns END
    FROM doctor_wait
    UNION ALL
    SELECT run_id, section, code, severity, subject, evidence, trace_ids, advice, 1, time_ns
    FROM doctor_trace
    UNION ALL
    SELECT run_id, section, code, severity, subject, evidence, trace_ids, NULL, 1, wait_ns
    FROM doctor_channel
    UNION ALL
    SELECT run_id, section, code, severity, subject, evidence, trace_ids, NULL, 1, cow_bytes
    FROM doctor_cell
    UNION ALL
    SELECT run_id, section, code, severity, subject, evidence, trace_ids, NULL, 1, coalesce(total_lifetime_ns, 0)
    FROM doctor_fibers
    UNION ALL
    SELECT run_id, section, code, severity, subject, evidence, trace_ids, NULL, 1, alloc_bytes
    FROM doctor_freeze
    UNION ALL
    SELECT run_id, section, code, severity, subject, evidence, trace_ids, NULL, 1, hitm
    FROM doctor_sharing
    UNION ALL
    SELECT run_id, section, code, severity, subject, evidence, trace_ids, NULL, 1, 0
    FROM doctor_hardware
    UNION ALL
    SELECT run_id, section, code, severity, subject, evidence, trace_ids, NULL, 1, run_delay_ns
    FROM doctor_processors
) AS finding
ORDER BY run_id DESC, place,
         CASE severity WHEN 'critical' THEN 0 WHEN 'warning' THEN 1 WHEN 'note' THEN 2 ELSE 3 END,
         weight DESC, section, code, subject;
