DROP VIEW IF EXISTS doctor_fibers_imbalance;
CREATE VIEW doctor_fibers_imbalance AS
-- Question: does one scheduler run nearly all fibers, and which task sites send them there?
-- The rows of doctor_fibers with this code: its condition, figures, severity and known false positives stand there.
SELECT *
FROM doctor_fibers
WHERE code = 'imbalance';
