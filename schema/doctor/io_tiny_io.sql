DROP VIEW IF EXISTS doctor_io_tiny_io;
CREATE VIEW doctor_io_tiny_io AS
-- Question: which stack reads or writes a few bytes at a time, very often?
-- Rows: those of doctor_io with the code tiny-io; the severity is explained there.
-- Columns: those of doctor_io.
-- Thresholds: small_calls >= io_tiny_count (10,000), small_percent >= io_tiny_percent (80 %), mean_bytes <= io_tiny_bytes (64 B).
-- Known false positives: a log that must be on disk line by line; a client that sends many small requests without reading the answers.
SELECT *
FROM doctor_io
WHERE code = 'tiny-io';
