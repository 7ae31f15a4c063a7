DROP VIEW IF EXISTS doctor_channel_balanced;
CREATE VIEW doctor_channel_balanced AS
-- Question: which channels need no change?
-- Rows: those of doctor_channel with the code balanced; the severity is explained there.
-- Columns: those of doctor_channel.
-- Thresholds: none of the other codes.
-- Known false positives: none: nothing is reported.
SELECT *
FROM doctor_channel
WHERE code = 'balanced';
