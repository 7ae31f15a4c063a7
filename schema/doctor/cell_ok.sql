DROP VIEW IF EXISTS doctor_cell_ok;
CREATE VIEW doctor_cell_ok AS
-- Question: which cells cost nothing worth a change?
-- The rows of doctor_cell with this code: its condition, figures, severity and known false positives stand there.
SELECT *
FROM doctor_cell
WHERE code = 'ok';
