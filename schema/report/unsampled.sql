-- Of run :run the processes, the threads that they had in all, and the interval of its CPU samples: why CPU time was met by no sample.
SELECT
    count(*) AS processes,
    coalesce(sum(threads_started), 0) AS threads,
    (SELECT max(period)
     FROM profiles
     WHERE run_id = :run AND kind = 'cpu' AND period_type = 'cpu') AS period_ns
FROM main.processes
WHERE run_id = :run
