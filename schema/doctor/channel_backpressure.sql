DROP VIEW IF EXISTS doctor_channel_backpressure;
CREATE VIEW doctor_channel_backpressure AS
-- Question: which channels make somebody wait now and then, being neither full nor empty for good?
-- The rows of doctor_channel with this code: its condition, figures, severity and known false positives stand there.
SELECT *
FROM doctor_channel
WHERE code = 'backpressure';
