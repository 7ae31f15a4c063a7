DROP VIEW IF EXISTS doctor_saturation_warning;
CREATE VIEW doctor_saturation_warning AS
-- Question: which ingested files say themselves that they are incomplete?
-- Rows: those of doctor_saturation with the code warning; the severity is explained there.
-- Columns: those of doctor_saturation.
-- Thresholds: a comment of the profile begins with WARNING:.
-- Known false positives: a warning about something else.
SELECT *
FROM doctor_saturation
WHERE code = 'warning';
