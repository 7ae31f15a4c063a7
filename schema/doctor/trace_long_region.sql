DROP VIEW IF EXISTS doctor_trace_long_region;
CREATE VIEW doctor_trace_long_region AS
-- Question: which regions mostly are quick, and once took very long?
-- Rows: those of doctor_trace with the code long-region; the severity is explained there.
-- Columns: those of doctor_trace.
-- Thresholds: of trace_region_count (100) regions of one name the longest took trace_region_ratio (10) times as long as half of them, and
--   trace_region_ns (10 ms).
-- Known false positives: the first run through, which fills a cache.
SELECT *
FROM doctor_trace
WHERE code = 'long-region';
