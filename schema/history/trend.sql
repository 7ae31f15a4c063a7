-- The statements of query/history/trend.c.

-- @findings: The findings of the run :run whose subject :of (GLOB) matches: run, figure, subject, number.
SELECT run_id, figure, subject, value
FROM series
WHERE figure = 'findings' AND scope = 'finding' AND subject GLOB :of AND run_id = :run;

-- @runs: The runs of :runs (a JSON array of ids; NULL: those of the command of the latest run), oldest first: id, uuid, start, label, commit,
-- whether they are over, and whether figures of the heap are estimates. Those that clear bisect took, in an order of its own, only where
-- :bisected.
SELECT
    run_id,
    uuid,
    started_ns,
    label,
    (SELECT value
     FROM tags
     WHERE tags.run_id = run_summary.run_id AND key IN ('git_commit', 'commit', 'git.commit')
     ORDER BY key = 'git_commit' DESC, key
     LIMIT 1),
    (' ' || flags || ' ') NOT GLOB '* unfinished *',
    sample_n > 1 OR sample_bytes > 1 OR dropped > 0
FROM run_summary
WHERE (run_id IN (SELECT value FROM json_each(:runs))
       OR (:runs IS NULL
           AND command = (SELECT command FROM runs WHERE id = (SELECT run_id FROM run_order WHERE place = 1))))
  AND (:bisected OR NOT EXISTS (SELECT 1 FROM tags WHERE tags.run_id = run_summary.run_id AND key = 'bisect'))
ORDER BY started_ns, run_id;

-- @sites: As history/trend_subjects for what sites allocated, with the scope site (NULL: and function), without the sums of runs that the view makes:
-- a stack is matched once in the file and not once a run, and rows of one subject are left to the caller to add.
WITH wanted AS MATERIALIZED (
    SELECT trace_id, 'function ' || function AS subject
    FROM place_subjects
    WHERE :scope IS NULL AND 'function ' || function GLOB :of
    UNION ALL
    SELECT trace_id, 'site ' || site
    FROM place_subjects
    WHERE 'site ' || site GLOB :of
)
SELECT profiles.run_id, :figure, wanted.subject,
       CASE :figure WHEN 'alloc_count' THEN alloc_count
                    WHEN 'alloc_bytes' THEN alloc_bytes
                    WHEN 'inuse_count' THEN alloc_count - free_count
                    WHEN 'inuse_bytes' THEN alloc_bytes - free_bytes END AS value
FROM profiles
CROSS JOIN sites ON sites.profile_id = profiles.id
CROSS JOIN wanted ON wanted.trace_id = sites.trace_id
WHERE profiles.run_id IN (SELECT value FROM json_each(:runs)) AND value <> 0;

-- @subjects: The figure :figure of the subjects that :of (GLOB) matches, in the runs :runs (a JSON array of ids), but no findings: run, figure,
-- subject, value. :scope is the first word of :of, or NULL where that is a pattern.
SELECT run_id, figure, subject, value
FROM (SELECT run_id, figure, subject, value, scope FROM series_functions
      UNION ALL
      SELECT run_id, figure, subject, value, scope FROM series_sites
      UNION ALL
      SELECT run_id, figure, subject, value, scope FROM series_objects
      UNION ALL
      SELECT run_id, figure, subject, value, scope FROM series_counters) AS series -- the view has doctor, too, which takes 20 ms to compile
WHERE figure = :figure AND (:scope IS NULL OR scope = :scope) AND value IS NOT NULL
  AND subject GLOB :of AND run_id IN (SELECT value FROM json_each(:runs));

-- @totals: The totals of the runs :runs (a JSON array of ids), those of :figure or, where it is NULL, all: run, figure, subject, value; in the order of
-- the catalogue.
SELECT run_id, series_runs.figure, subject, value
FROM series_runs
LEFT JOIN figure_kinds ON figure_kinds.figure = series_runs.figure
WHERE (:figure IS NULL OR series_runs.figure = :figure) AND value IS NOT NULL
  AND run_id IN (SELECT value FROM json_each(:runs))
ORDER BY place;
