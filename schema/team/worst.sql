-- What the doctor found in the $2 newest runs (NULL: all) of project $1 (NULL: of each project) when they were pushed: each diagnosis of a subject
-- once, the worst first, then what most runs have; at most $3 rows (NULL: all): project, section, code, severity (the worst), subject, runs that have
-- it, the newest of them and its start.
WITH newest AS (
    SELECT
        projects.project,
        projects.name,
        latest.month,
        latest.run,
        latest.started_ns
    FROM clear.projects
    CROSS JOIN LATERAL (
        SELECT month, run, started_ns
        FROM clear.runs
        WHERE runs.project = projects.project
        ORDER BY started_ns DESC, run DESC
        LIMIT $2::bigint) AS latest
    WHERE $1::bigint IS NULL OR projects.project = $1::bigint
)
SELECT
    name,
    section,
    code,
    (ARRAY['critical', 'warning', 'note', 'ok'])[min(array_position(ARRAY['critical', 'warning', 'note', 'ok'], severity))],
    subject,
    count(DISTINCT run),
    (array_agg(run ORDER BY started_ns DESC, run DESC))[1],
    max(started_ns)
FROM newest
JOIN clear.findings USING (project, month, run)
GROUP BY name, section, code, subject
ORDER BY min(array_position(ARRAY['critical', 'warning', 'note', 'ok'], severity)), count(DISTINCT run) DESC, max(started_ns) DESC,
    name, section, code, subject
LIMIT $3::bigint
