DROP VIEW IF EXISTS doctor_heap_leak;
CREATE VIEW doctor_heap_leak AS
-- Question: which sites leave blocks behind, and how many?
-- Rows: those of doctor_heap with the code leak; the severity is explained there.
-- Columns: those of doctor_heap.
-- Thresholds: recorded: blocks are live at exit. Ingested: some blocks freed, some not.
-- Known false positives: tables and caches that a program keeps to its end on purpose; a program that ends by _exit or by a
--   signal other than 2 and 15; a short run of a program that keeps all it made until its end.
SELECT *
FROM doctor_heap
WHERE code = 'leak';
