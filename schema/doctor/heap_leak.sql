DROP VIEW IF EXISTS doctor_heap_leak;
CREATE VIEW doctor_heap_leak AS
-- Question: which sites leave blocks behind, and how much?
-- The rows of doctor_heap with this code: its condition, figures, severity and known false positives stand there.
SELECT *
FROM doctor_heap
WHERE code = 'leak';
