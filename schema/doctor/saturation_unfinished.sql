DROP VIEW IF EXISTS doctor_saturation_unfinished;
CREATE VIEW doctor_saturation_unfinished AS
-- Question: which runs ended without the recorder seeing it?
-- The rows of doctor_saturation with this code: its condition, figures, severity and known false positives stand there.
SELECT *
FROM doctor_saturation
WHERE code = 'unfinished';
