-- What was not recorded of one run, or only sampled.
SELECT code, severity, subject, count
FROM doctor_saturation
WHERE run_id = :run
