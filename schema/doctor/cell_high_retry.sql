DROP VIEW IF EXISTS doctor_cell_high_retry;
CREATE VIEW doctor_cell_high_retry AS
-- Question: which cells repeat their updates?
-- Rows: those of doctor_cell with the code high-retry; the severity is explained there.
-- Columns: those of doctor_cell.
-- Thresholds: retries_per_commit >= cell_retry_ratio (1.0); none of the codes before it.
-- Known false positives: a cell with few commits: then it is a note.
SELECT *
FROM doctor_cell
WHERE code = 'high-retry';
