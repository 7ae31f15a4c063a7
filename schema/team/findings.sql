-- The findings of run :run of a file, in order.
SELECT
    section,
    code,
    severity,
    subject,
    evidence
FROM doctor
WHERE run_id = :run
