DROP VIEW IF EXISTS doctor_map_map_churn;
CREATE VIEW doctor_map_map_churn AS
-- Question: which line maps memory and unmaps it again?
-- Rows: those of doctor_map with the code map-churn; the severity is explained there.
-- Columns: those of doctor_map.
-- Thresholds: unmaps >= map_churn_count (2,000), and unmapped_percent >= map_churn_percent (90 %).
-- Known false positives: memory that is unmapped on purpose at once, because it held secrets.
SELECT *
FROM doctor_map
WHERE code = 'map-churn';
