DROP VIEW IF EXISTS doctor_cell_atomic_ptr_upgrade;
CREATE VIEW doctor_cell_atomic_ptr_upgrade AS
-- Question: which busy cells are always committed alone, so that an atomic pointer would do?
-- Rows: those of doctor_cell with the code atomic-ptr-upgrade; the severity is explained there.
-- Columns: those of doctor_cell.
-- Thresholds: multi_commits = 0, and commits or reads >= cell_upgrade_operations (1,000); none of the codes before it.
-- Known false positives: a cell that a transaction over several cells uses in other runs.
SELECT *
FROM doctor_cell
WHERE code = 'atomic-ptr-upgrade';
