DROP VIEW IF EXISTS finding_codes;
CREATE VIEW finding_codes AS
-- Question: how often did the doctor find what, in all runs?
-- Rows: one per finding, as in the view doctor, without what it costs to show it: severity, subject and evidence. To count 2,935,217 findings
--   of 10,000 runs by code takes 6 s of CPU time here, and 49 s by doctor, which makes an array of the findings of each run. Diagnoses of
--   users are not among them. A condition WHERE run_id = 3, or = :run, reads that run only; a join or a subquery reads all runs first.
-- Columns:
--   run_id [id]: the run
--   section [text]: as in doctor
--   code [text]: as in doctor
SELECT run_id, section, code
FROM doctor_saturation
UNION ALL
SELECT run_id, section, code
FROM doctor_heap
UNION ALL
SELECT run_id, section, code
FROM doctor_lock
UNION ALL
SELECT run_id, section, code
FROM doctor_thread
UNION ALL
SELECT run_id, section, code
FROM doctor_polling
UNION ALL
SELECT run_id, section, code
FROM doctor_line
UNION ALL
SELECT run_id, section, code
FROM doctor_map
UNION ALL
SELECT run_id, section, code
FROM doctor_memory
UNION ALL
SELECT run_id, section, code
FROM doctor_spin
UNION ALL
SELECT run_id, section, code
FROM doctor_call
UNION ALL
SELECT run_id, section, code
FROM doctor_queue
UNION ALL
SELECT run_id, section, code
FROM doctor_io
UNION ALL
SELECT run_id, section, code
FROM doctor_wait
UNION ALL
SELECT run_id, section, code
FROM doctor_trace
UNION ALL
SELECT run_id, section, code
FROM doctor_channel
UNION ALL
SELECT run_id, section, code
FROM doctor_cell
UNION ALL
SELECT run_id, section, code
FROM doctor_fibers
UNION ALL
SELECT run_id, section, code
FROM doctor_freeze
UNION ALL
SELECT run_id, section, code
FROM doctor_sharing
UNION ALL
SELECT run_id, section, code
FROM doctor_hardware
UNION ALL
SELECT run_id, section, code
FROM doctor_processors;
