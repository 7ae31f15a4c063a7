-- The findings of run :run of a file, in order.
SELECT
    section,
    code,
    severity,
    subject,
    evidence,
    advice
FROM doctor
WHERE run_id = :run
