-- The kinds of profile of the run :run that have stacks of functions: heap first, then cpu. :all 0: only kinds that no diagnosis
-- reads.
SELECT DISTINCT kind
FROM profiles
WHERE run_id = :run
  AND kind NOT IN ('channels', 'mvcc', 'fibers', 'syscalls', 'counters', 'recorder')
  AND (:all OR kind NOT IN ('heap', 'heap-peak', 'leak', 'lock'))
ORDER BY kind <> 'heap', kind <> 'cpu', kind
