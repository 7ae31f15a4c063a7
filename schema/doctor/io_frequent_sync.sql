DROP VIEW IF EXISTS doctor_io_frequent_sync;
CREATE VIEW doctor_io_frequent_sync AS
-- Question: which stacks wait for the disk after each record?
-- Rows: those of doctor_io with the code frequent-sync; the severity is explained there.
-- Columns: those of doctor_io.
-- Thresholds: of fsync and fdatasync calls >= io_sync_count (100), and time_percent >= io_sync_percent (10 %).
-- Known false positives: a journal that must be on disk record by record.
SELECT *
FROM doctor_io
WHERE code = 'frequent-sync';
