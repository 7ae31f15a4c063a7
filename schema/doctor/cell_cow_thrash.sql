DROP VIEW IF EXISTS doctor_cell_cow_thrash;
CREATE VIEW doctor_cell_cow_thrash AS
-- Question: which cells spend their time copying a large value?
-- Rows: those of doctor_cell with the code cow-thrash; the severity is explained there.
-- Columns: those of doctor_cell.
-- Thresholds: commits >= cell_thrash_commits (10,000), struct_size >= cell_thrash_size_bytes (256 B), cow_bytes >=
--   cell_thrash_cow_bytes (100 MB).
-- Known false positives: a program that pays for the copies on purpose, so that readers never wait.
SELECT *
FROM doctor_cell
WHERE code = 'cow-thrash';
