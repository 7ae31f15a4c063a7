-- The runs of :runs (a JSON array of ids; NULL: those of the command of the latest run), oldest first: id, uuid, start, label, commit,
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
