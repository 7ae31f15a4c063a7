-- Which of the kinds that are always there when they are recorded one run has.
SELECT
    EXISTS (SELECT 1 FROM profiles WHERE run_id = :run AND kind = 'heap') AS heap,
    EXISTS (SELECT 1 FROM profiles WHERE run_id = :run AND kind = 'lock') AS lock,
    EXISTS (SELECT 1 FROM profiles WHERE run_id = :run AND kind = 'cpu') AS cpu
