DROP VIEW IF EXISTS doctor_thread_thread_churn;
CREATE VIEW doctor_thread_thread_churn AS
-- Question: which stack starts threads that live too short to pay for their start?
-- Rows: those of doctor_thread with the code thread-churn; the severity is explained there.
-- Columns: those of doctor_thread.
-- Thresholds: started >= thread_churn_count (200), and either short_percent >= thread_churn_percent (25 %), or mean_life_ns <
--   thread_churn_life_ns (1,000,000 ns).
-- Known false positives: threads that are started once for each of many long phases, and end at once where there is nothing to do.
SELECT *
FROM doctor_thread
WHERE code = 'thread-churn';
