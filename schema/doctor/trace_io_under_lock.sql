DROP VIEW IF EXISTS doctor_trace_io_under_lock;
CREATE VIEW doctor_trace_io_under_lock AS
-- Question: who blocks in a system call, or sleeps, with a lock that others wait for?
-- Rows: those of doctor_trace with the code io-under-lock; the severity is explained there.
-- Columns: those of doctor_trace.
-- Thresholds: others waited meanwhile for trace_io_lock_ns (10 ms) together.
-- Known false positives: a lock that is there to let one thread at a time write to a file.
SELECT *
FROM doctor_trace
WHERE code = 'io-under-lock';
