-- What the runs in the JSON array :runs did with their time, summed: figures of query/runs/telling_kind.h. The bytes are those of recorded runs:
-- a file that was ingested opens as its own program opens it.
SELECT
    coalesce(sum(run_facts.duration_ns), 0) AS duration_ns,
    coalesce(sum(run_facts.cpu_ns), 0) AS cpu_ns,
    coalesce(sum(run_totals.alloc_count), 0) AS alloc_count,
    coalesce(sum(run_totals.lock_wait_ns), 0) AS lock_wait_ns,
    coalesce(sum(run_totals.lock_contended), 0) AS lock_contended,
    coalesce(sum((SELECT sum(wait_ns) FROM wait_facts WHERE wait_facts.run_id = run_facts.run_id)), 0) AS wait_ns,
    coalesce(sum((SELECT sum(waits) FROM wait_facts WHERE wait_facts.run_id = run_facts.run_id)), 0) AS waits,
    coalesce(sum(CASE WHEN runs.source = 'profile' THEN run_totals.alloc_bytes END), 0) AS alloc_bytes,
    coalesce(sum(CASE WHEN runs.source = 'profile' THEN run_totals.inuse_bytes END), 0) AS live_bytes
FROM json_each(:runs) AS run
JOIN run_facts ON run_facts.run_id = run.value
JOIN runs ON runs.id = run.value
LEFT JOIN run_totals ON run_totals.run_id = run.value;
