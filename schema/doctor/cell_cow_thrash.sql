DROP VIEW IF EXISTS doctor_cell_cow_thrash;
CREATE VIEW doctor_cell_cow_thrash AS
-- Question: which cells spend their time copying a big value?
-- The rows of doctor_cell with this code: its condition, figures, severity and known false positives stand there.
SELECT *
FROM doctor_cell
WHERE code = 'cow-thrash';
