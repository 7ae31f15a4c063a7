DROP VIEW IF EXISTS doctor_channel_slow_consumer;
CREATE VIEW doctor_channel_slow_consumer AS
-- Question: which channels are full, so that senders wait?
-- Rows: those of doctor_channel with the code slow-consumer; the severity is explained there.
-- Columns: those of doctor_channel.
-- Thresholds: push_blocked_percent >= channel_blocked_percent (20 %), depth_percent >= channel_full_percent (80 %).
-- Known false positives: a channel that is meant to hold senders back; a receiver that is a disk or a network at its limit.
SELECT *
FROM doctor_channel
WHERE code = 'slow-consumer';
