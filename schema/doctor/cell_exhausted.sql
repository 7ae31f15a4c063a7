DROP VIEW IF EXISTS doctor_cell_exhausted;
CREATE VIEW doctor_cell_exhausted AS
-- Question: which cells had updates that gave up?
-- Rows: those of doctor_cell with the code exhausted; the severity is explained there.
-- Columns: those of doctor_cell.
-- Thresholds: update_failures > 0; none of the codes before it.
-- Known false positives: a caller that only tries, such as a statistic that may miss an update.
SELECT *
FROM doctor_cell
WHERE code = 'exhausted';
