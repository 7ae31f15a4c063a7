DROP VIEW IF EXISTS doctor_cell_misuse;
CREATE VIEW doctor_cell_misuse AS
-- Question: which cells are written more often than read?
-- Rows: those of doctor_cell with the code misuse; the severity is explained there.
-- Columns: those of doctor_cell.
-- Thresholds: commits >= cell_misuse_commits (1,000), reads < commits; none of the codes before it.
-- Known false positives: a cell that is filled once at the start and only read after that, in a short run.
SELECT *
FROM doctor_cell
WHERE code = 'misuse';
