-- A run on its way into a store.

-- @run: Run :run of a file: what a store knows it by, when it began, whether its end is missing.
SELECT uuid, content_hash, started_ns, ' ' || flags || ' ' LIKE '% unfinished %'
FROM main.runs
WHERE id = :run

-- @begin: Begins to push a run. clear store gc waits until the transaction ends, and we for it. A statement takes no longer than ten minutes,
-- unless the role or the address has another limit.
BEGIN;
SELECT set_config('statement_timeout', '10min', true)
WHERE current_setting('statement_timeout') = '0';
SELECT pg_advisory_xact_lock_shared(4998189, 2)

-- @known: Has the store ($1: project) the run with month $2 and uuid $3, or one that was read from the file with hash $4? Of a run that its
-- owner removed the answer is the same. The column says whether the store lacks names of it.
SELECT EXISTS (SELECT 1
               FROM clear.wanting
               WHERE wanting.project = run_names.project AND wanting.month = run_names.month AND wanting.run = run_names.run)
FROM clear.run_names
WHERE project = $1 AND month = $2 AND run = $3
UNION ALL
SELECT false
FROM clear.runs
WHERE project = $1 AND content_hash = $4
UNION ALL
SELECT false
FROM clear.removed
WHERE project = $1 AND (run = $3 OR content_hash = $4)
LIMIT 1

-- @has_month: Is there a partition of every table for the month that begins on $1?
SELECT 1
WHERE NOT EXISTS (
    SELECT 1
    FROM pg_class AS parent
    WHERE parent.relnamespace = 'clear'::regnamespace AND parent.relkind = 'p'
      AND to_regclass(format('clear.%I', parent.relname || '_' || to_char($1::date, 'YYYYMM'))) IS NULL)

-- @claim: A new run: $1 project, $2 month, $3 uuid, $4 stacks, $5 label sets, $6 objects. No row where it is there.
INSERT INTO clear.run_names(project, month, run, traces, label_sets, objects)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT DO NOTHING

-- @put_project: Project $1 has the name $2.
INSERT INTO clear.projects(project, name) VALUES ($1, $2)
ON CONFLICT DO NOTHING

-- @findings: The findings of run :run of a file, in order.
SELECT section, code, severity, subject, evidence
FROM doctor
WHERE run_id = :run

-- @copy_findings: Findings of a run.
COPY clear.findings(project, month, run, place, section, code, severity, subject, evidence) FROM STDIN

-- @copy_finding_counts: How many findings a run has, of each code and severity.
COPY clear.finding_counts(project, month, run, place, section, code, severity, count, kept) FROM STDIN

-- @totals: The totals of run :run, also of one that is not over, of which a file keeps none.
SELECT run_id, alloc_count, alloc_bytes, inuse_count, inuse_bytes, peak_bytes, lock_acquires, lock_contended, lock_wait_ns, cpu_ns,
       recorder_cpu_ns, dropped, truncated, sample_n, sample_bytes
FROM run_summary
WHERE run_id = :run
