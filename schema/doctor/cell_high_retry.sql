DROP VIEW IF EXISTS doctor_cell_high_retry;
CREATE VIEW doctor_cell_high_retry AS
-- Question: which cells repeat their updates again and again?
-- The rows of doctor_cell with this code: its condition, figures, severity and known false positives stand there.
SELECT *
FROM doctor_cell
WHERE code = 'high-retry';
