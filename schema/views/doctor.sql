DROP VIEW IF EXISTS doctor;
CREATE VIEW doctor AS
-- Question: what is wrong with a run, and which rows prove it?
-- Rows: one per finding: a diagnosis of one subject. The view is the union of the views doctor_SECTION, which also have their
--   figures as columns. Order: the newest run first; in it what was not recorded (section saturation); then by severity; then by
--   weight (bytes or nanoseconds; of a user's diagnosis its column weight). Thresholds are rows of the table rules, and may be
--   changed there. A view doctor_* that a user made in this file is part of it: clear makes this view again when one was added,
--   changed or removed. A view that lacks a column, or that fails, is left out, and clear prints its name. A condition on run_id, also
--   by a join or a subquery, diagnoses those runs only; in a file with diagnoses of a user, a constant or a parameter does.
-- Columns:
--   run_id [id]: the run
--   section [text]: saturation, heap, line, lock, wait, thread, spin, call, polling, queue, map, io, channel, cell, fibers, freeze, sharing, hardware, processors, or a user's own
--   code [text]: what the diagnosis is, such as leak or hot-long
--   severity [text]: critical, warning, note, ok
--   subject [text]: what it is about, for people: a function, the name of a lock, an address
--   evidence [JSON]: an object with the figures that prove it
--   trace_ids [JSON]: an array of the stacks to look at or to export, the most important first
--   advice [text]: what to do, and when not to: the text of the row SECTION-CODE of the table advice
SELECT run_id, section, code, severity, subject, evidence, trace_ids, advice
FROM (
    SELECT
        run.id AS run_id, finding.value ->> 0 AS section, finding.value ->> 1 AS code, finding.value ->> 2 AS severity,
        finding.value ->> 3 AS subject, json(finding.value ->> 4) AS evidence, json(finding.value ->> 5) AS trace_ids,
        coalesce(finding.value ->> 6,
                 (SELECT text FROM advice WHERE advice.code = (finding.value ->> 0) || '-' || (finding.value ->> 1))) AS advice,
        CASE WHEN finding.value ->> 0 = 'saturation' THEN 0 ELSE 1 END AS place, finding.value ->> 7 AS weight
    FROM runs AS run
    -- The findings of one run, in order, as an array of arrays. So any condition on the run arrives here: SQLite 3.40 takes none but constants
    -- into a union that is joined or counted, and no condition at all into a view with an ORDER BY that is counted. Advice that is a text
    -- for a code is looked up behind it: it is longer than all the rest. NULL stands for it. Evidence and stacks are texts in the
    -- array, not JSON of its own, which would be parsed and written again with each step: 18,000 findings take two thirds of the instructions.
    -- A section needs rows of the run in the tables that its line names: clear leaves it out where there are none (schema/diagnoses.h).
    JOIN json_each((
        SELECT '[' || group_concat(finding) || ']'
        FROM (SELECT json_array(section, code, severity, subject, evidence || '', trace_ids || '', advice, weight) AS finding
              FROM (
              SELECT section, code, severity, subject, evidence, trace_ids, CAST(NULL AS TEXT) AS advice, 0 AS place, count AS weight
              FROM doctor_saturation WHERE run_id = run.id
              UNION ALL
              -- Needs site_facts or heap_profile_facts
              SELECT section, code, severity, subject, evidence, trace_ids, NULL, 1, CASE WHEN code = 'quadratic-growth' THEN step_bytes ELSE inuse_bytes END
              FROM doctor_heap WHERE run_id = run.id
              UNION ALL
              -- Needs lock_facts
              SELECT section, code, severity, subject, evidence, trace_ids, advice, 1, wait_ns
              FROM doctor_lock WHERE run_id = run.id
              UNION ALL
              -- Needs thread_facts or busy_facts
              SELECT section, code, severity, subject, evidence, trace_ids, NULL, 1, cost_ns
              FROM doctor_thread WHERE run_id = run.id
              UNION ALL
              -- Needs polling_facts
              SELECT section, code, severity, subject, evidence, trace_ids, NULL, 1, nap_ns
              FROM doctor_polling WHERE run_id = run.id
              UNION ALL
              -- Needs line_facts
              SELECT section, code, severity, subject, evidence, trace_ids, NULL, 1, CASE code WHEN 'leak' THEN lost_bytes ELSE cost_ns END
              FROM doctor_line WHERE run_id = run.id
              UNION ALL
              -- Needs map_facts
              SELECT section, code, severity, subject, evidence, trace_ids, NULL, 1, cost_ns
              FROM doctor_map WHERE run_id = run.id
              UNION ALL
              -- Needs spin_facts
              SELECT section, code, severity, subject, evidence, trace_ids, NULL, 1, cpu_ns
              FROM doctor_spin WHERE run_id = run.id
              UNION ALL
              -- Needs call_facts
              SELECT section, code, severity, subject, evidence, trace_ids, advice, 1, cpu_ns
              FROM doctor_call WHERE run_id = run.id
              UNION ALL
              -- Needs queue_facts
              SELECT section, code, severity, subject, evidence, trace_ids, advice, 1, peak_bytes
              FROM doctor_queue WHERE run_id = run.id
              UNION ALL
              -- Needs io_facts
              SELECT section, code, severity, subject, evidence, trace_ids, NULL, 1, time_ns
              FROM doctor_io WHERE run_id = run.id
              UNION ALL
              -- Needs wait_facts
              SELECT section, code, severity, subject, evidence, trace_ids, advice, 1, CASE WHEN code = 'herd' THEN switch_ns ELSE wait_ns END
              FROM doctor_wait WHERE run_id = run.id
              UNION ALL
              -- Needs convoy_facts or lock_order_facts or blocked_lock_facts or region_facts
              SELECT section, code, severity, subject, evidence, trace_ids, advice, 1, time_ns
              FROM doctor_trace WHERE run_id = run.id
              UNION ALL
              -- Needs channel_facts
              SELECT section, code, severity, subject, evidence, trace_ids, NULL, 1, wait_ns
              FROM doctor_channel WHERE run_id = run.id
              UNION ALL
              -- Needs cell_facts
              SELECT section, code, severity, subject, evidence, trace_ids, NULL, 1, cow_bytes
              FROM doctor_cell WHERE run_id = run.id
              UNION ALL
              -- Needs fiber_facts
              SELECT section, code, severity, subject, evidence, trace_ids, NULL, 1, coalesce(total_lifetime_ns, 0)
              FROM doctor_fibers WHERE run_id = run.id
              UNION ALL
              -- Needs freeze_facts
              SELECT section, code, severity, subject, evidence, trace_ids, NULL, 1, alloc_bytes
              FROM doctor_freeze WHERE run_id = run.id
              UNION ALL
              -- Needs sharing_facts
              SELECT section, code, severity, subject, evidence, trace_ids, NULL, 1, hitm
              FROM doctor_sharing WHERE run_id = run.id
              UNION ALL
              -- Needs hardware_facts
              SELECT section, code, severity, subject, evidence, trace_ids, NULL, 1, 0
              FROM doctor_hardware WHERE run_id = run.id
              UNION ALL
              SELECT section, code, severity, subject, evidence, trace_ids, NULL, 1, run_delay_ns
              FROM doctor_processors WHERE run_id = run.id
              UNION ALL
              -- Needs memory_facts
              SELECT section, code, severity, subject, evidence, trace_ids, advice, 1, unused_bytes
              FROM doctor_memory WHERE run_id = run.id
              )
              ORDER BY place, CASE severity WHEN 'critical' THEN 0 WHEN 'warning' THEN 1 WHEN 'note' THEN 2 ELSE 3 END,
                       weight DESC, section, code, subject)
    )) AS finding
    -- views of users
)
-- with views of users
ORDER BY run_id DESC, place,
         CASE severity WHEN 'critical' THEN 0 WHEN 'warning' THEN 1 WHEN 'note' THEN 2 ELSE 3 END,
         weight DESC, section, code, subject;
