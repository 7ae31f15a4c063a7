DROP VIEW IF EXISTS doctor_saturation_slow_flush;
CREATE VIEW doctor_saturation_slow_flush AS
-- Question: did the recorder take much time beside the program?
-- The rows of doctor_saturation with this code: its condition, figures, severity and known false positives stand there.
SELECT *
FROM doctor_saturation
WHERE code = 'slow-flush';
