DROP VIEW IF EXISTS series_findings;
CREATE VIEW series_findings AS
-- Question: what did the doctor find in each run?
-- Rows: one per finding: two findings with one subject are two rows. A finding that a run has no row of was not there. A condition
--   WHERE run_id = 3, or = :run, reads that run only; a join or a subquery diagnoses all runs first.
-- Columns: as those of the view series
--   run_id [id]: the run
--   started_ns [ns since epoch]: start of the run
--   figure [text]: findings
--   subject [text]: 'finding ', SECTION-CODE and the subject of the view doctor, without findings whose severity is ok
--   value [count]: 1
--   scope [text]: finding
SELECT
    doctor.run_id,
    runs.started_ns,
    CAST('findings' AS TEXT) AS figure,
    CAST('finding ' || doctor.section || '-' || doctor.code || ' ' || doctor.subject AS TEXT) AS subject,
    1 AS value,
    CAST('finding' AS TEXT) AS scope
FROM doctor
JOIN runs ON runs.id = doctor.run_id
WHERE doctor.severity <> 'ok';
