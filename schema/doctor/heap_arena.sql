DROP VIEW IF EXISTS doctor_heap_arena;
CREATE VIEW doctor_heap_arena AS
-- Question: which sites make many tiny blocks, all of one life?
-- The rows of doctor_heap with this code: its condition, figures, severity and known false positives stand there.
SELECT *
FROM doctor_heap
WHERE code = 'arena';
