DROP VIEW IF EXISTS doctor_channel_slow_producer;
CREATE VIEW doctor_channel_slow_producer AS
-- Question: which channels are empty, so that receivers wait?
-- The rows of doctor_channel with this code: its condition, figures, severity and known false positives stand there.
SELECT *
FROM doctor_channel
WHERE code = 'slow-producer';
