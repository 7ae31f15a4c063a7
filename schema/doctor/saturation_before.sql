DROP VIEW IF EXISTS doctor_saturation_before;
CREATE VIEW doctor_saturation_before AS
-- Question: how much had the program allocated when its recording began?
-- Rows: those of doctor_saturation with the code before; the severity is explained there. Of subject heap the figure is that of the
--   allocator, for a process of up to 16 MiB with the C library's own; of subject memory it is the process's own memory
--   that had been written to (RssAnon and VmSwap of /proc/PID/status).
-- Columns: those of doctor_saturation.
-- Thresholds: the recorder attached to it.
-- Known false positives: none.
SELECT *
FROM doctor_saturation
WHERE code = 'before';
