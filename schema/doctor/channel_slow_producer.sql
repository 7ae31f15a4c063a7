DROP VIEW IF EXISTS doctor_channel_slow_producer;
CREATE VIEW doctor_channel_slow_producer AS
-- Question: which channels are empty, so that receivers wait?
-- Rows: those of doctor_channel with the code slow-producer; the severity is explained there.
-- Columns: those of doctor_channel.
-- Thresholds: pop_blocked_percent >= channel_blocked_percent (20 %), depth_percent < channel_empty_percent (50 %) or unknown.
-- Known false positives: workers that wait for requests.
SELECT *
FROM doctor_channel
WHERE code = 'slow-producer';
