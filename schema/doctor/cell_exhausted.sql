DROP VIEW IF EXISTS doctor_cell_exhausted;
CREATE VIEW doctor_cell_exhausted AS
-- Question: which cells had updates that gave up?
-- The rows of doctor_cell with this code: its condition, figures, severity and known false positives stand there.
SELECT *
FROM doctor_cell
WHERE code = 'exhausted';
