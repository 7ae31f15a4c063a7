DROP VIEW IF EXISTS doctor_wait_herd;
CREATE VIEW doctor_wait_herd AS
-- Question: which condition variables wake many threads of which most find nothing?
-- Rows: those of doctor_wait with the code herd; the severity is explained there.
-- Columns: those of doctor_wait.
-- Thresholds: futile_wakes >= wait_herd_count (500), futile_percent >= wait_herd_percent (50 %), and broadcasts.
-- Known false positives: none known.
SELECT *
FROM doctor_wait
WHERE code = 'herd';
