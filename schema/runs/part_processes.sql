INSERT INTO temp.processes
SELECT *
FROM main.processes
WHERE run_id = :run AND started_ns <= :to AND coalesce(ended_ns, :to) > :from
