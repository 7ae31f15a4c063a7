DROP VIEW IF EXISTS doctor_heap_rc;
CREATE VIEW doctor_heap_rc AS
-- Question: which sites of a dump allocate and never free?
-- The rows of doctor_heap with this code: its condition, figures, severity and known false positives stand there.
SELECT *
FROM doctor_heap
WHERE code = 'rc';
