DROP VIEW IF EXISTS doctor_channel_balanced;
CREATE VIEW doctor_channel_balanced AS
-- Question: which channels let messages through without waiting?
-- The rows of doctor_channel with this code: its condition, figures, severity and known false positives stand there.
SELECT *
FROM doctor_channel
WHERE code = 'balanced';
