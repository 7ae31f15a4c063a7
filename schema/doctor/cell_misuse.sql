DROP VIEW IF EXISTS doctor_cell_misuse;
CREATE VIEW doctor_cell_misuse AS
-- Question: which cells are written more often than they are read?
-- The rows of doctor_cell with this code: its condition, figures, severity and known false positives stand there.
SELECT *
FROM doctor_cell
WHERE code = 'misuse';
