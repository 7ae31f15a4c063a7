DROP VIEW IF EXISTS doctor_fibers_imbalance;
CREATE VIEW doctor_fibers_imbalance AS
-- Question: does one scheduler run nearly all fibers, and which task sites send them there?
-- Rows: those of doctor_fibers with the code imbalance; the severity is explained there.
-- Columns: those of doctor_fibers.
-- Thresholds: schedulers >= 2, busiest_percent >= fibers_imbalance_percent (80 %).
-- Known false positives: a program that keeps the other schedulers free on purpose.
SELECT *
FROM doctor_fibers
WHERE code = 'imbalance';
