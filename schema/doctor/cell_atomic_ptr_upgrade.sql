DROP VIEW IF EXISTS doctor_cell_atomic_ptr_upgrade;
CREATE VIEW doctor_cell_atomic_ptr_upgrade AS
-- Question: which busy cells are always committed alone, so that an atomic pointer would do?
-- The rows of doctor_cell with this code: its condition, figures, severity and known false positives stand there.
SELECT *
FROM doctor_cell
WHERE code = 'atomic-ptr-upgrade';
