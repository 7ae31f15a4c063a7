DROP VIEW IF EXISTS doctor_channel_slow_consumer;
CREATE VIEW doctor_channel_slow_consumer AS
-- Question: which channels are full, so that senders wait?
-- The rows of doctor_channel with this code: its condition, figures, severity and known false positives stand there.
SELECT *
FROM doctor_channel
WHERE code = 'slow-consumer';
