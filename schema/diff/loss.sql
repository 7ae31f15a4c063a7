-- Losses and sampling of one run.
SELECT code, severity, subject, count
FROM doctor_saturation
WHERE run_id = :run
