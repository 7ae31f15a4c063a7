DROP VIEW IF EXISTS doctor_call_hot_call;
CREATE VIEW doctor_call_hot_call AS
-- Question: which line of the program's own code spends much of the CPU time in a call that can usually be made less often?
-- Rows: those of doctor_call with the code hot-call; the severity is explained there.
-- Columns: those of doctor_call.
-- Thresholds: cpu_percent >= call_percent (30 %), samples >= call_samples (10), and more.
-- Known false positives: a program whose work is this call, with other arguments each time.
SELECT *
FROM doctor_call
WHERE code = 'hot-call';
