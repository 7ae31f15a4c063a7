DROP VIEW IF EXISTS doctor_saturation_unfinished;
CREATE VIEW doctor_saturation_unfinished AS
-- Question: of which runs did the recorder not see the end?
-- Rows: those of doctor_saturation with the code unfinished; the severity is explained there.
-- Columns: those of doctor_saturation.
-- Thresholds: the run has the flag unfinished.
-- Known false positives: a run that is still being recorded.
SELECT *
FROM doctor_saturation
WHERE code = 'unfinished';
