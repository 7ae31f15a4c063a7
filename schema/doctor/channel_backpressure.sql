DROP VIEW IF EXISTS doctor_channel_backpressure;
CREATE VIEW doctor_channel_backpressure AS
-- Question: which channels make somebody wait at times, but are neither always full nor always empty?
-- Rows: those of doctor_channel with the code backpressure; the severity is explained there.
-- Columns: those of doctor_channel.
-- Thresholds: push_blocked_percent or pop_blocked_percent >= channel_blocked_percent (20 %); none of the codes before it.
-- Known false positives: a channel where only receivers wait: then it is a note.
SELECT *
FROM doctor_channel
WHERE code = 'backpressure';
