-- The totals of runs that an older clear pushed, from the figures that came with them. A figure that was not recorded is 0.
SELECT clear.make_month(month)
FROM (SELECT DISTINCT month FROM clear.run_names) AS months;
INSERT INTO clear.run_totals(project, month, run, place, alloc_count, alloc_bytes, inuse_count, inuse_bytes, peak_bytes, lock_acquires,
                             lock_contended, lock_wait_ns, cpu_ns, recorder_cpu_ns, dropped, truncated, sample_n, sample_bytes)
SELECT project, month, run, 1, coalesce(alloc_count, 0), coalesce(alloc_bytes, 0), coalesce(inuse_count, 0), coalesce(inuse_bytes, 0),
       coalesce(peak_bytes, 0), coalesce(lock_acquires, 0), coalesce(lock_contended, 0), coalesce(lock_wait_ns, 0), coalesce(cpu_ns, 0),
       coalesce(recorder_cpu_ns, 0), coalesce(dropped, 0), coalesce(truncated, 0), greatest(runs.sample_n, loss.sample_n, 1), greatest(sample_bytes, 1)
FROM clear.runs
LEFT JOIN (SELECT project, month, run, figure.*
           FROM (SELECT project, month, run, jsonb_object_agg(figure, value::bigint) AS list
                 FROM clear.figures
                 WHERE subject = ''
                 GROUP BY project, month, run) AS of_run
           CROSS JOIN LATERAL jsonb_to_record(list) AS figure(
               alloc_count bigint, alloc_bytes bigint, inuse_count bigint, inuse_bytes bigint, peak_bytes bigint, lock_acquires bigint,
               lock_contended bigint, lock_wait_ns bigint, cpu_ns bigint, recorder_cpu_ns bigint)) AS known
    USING (project, month, run)
LEFT JOIN (SELECT project, month, run, sum(dropped) AS dropped, sum(truncated) AS truncated, max(profiles.sample_n) AS sample_n,
                  max(period) FILTER (WHERE kind = 'heap' AND period_type = 'space' AND profiles.sample_n <= 1) AS sample_bytes
           FROM clear.profiles
           GROUP BY project, month, run) AS loss
    USING (project, month, run)
WHERE NOT EXISTS (SELECT 1
                  FROM clear.run_totals AS there
                  WHERE (there.project, there.month, there.run) = (runs.project, runs.month, runs.run))
