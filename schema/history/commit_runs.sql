-- The runs of :command that are over, oldest first, with the commit that they are tagged with; git_commit goes before commit.
-- :host NULL: of every host. :search NULL: also those that no `clear bisect` took, or another one. :any 0: only where the program succeeded.
SELECT runs.id, tags.value, max(tags.key) -- the other columns are of the row with that key
FROM runs
JOIN tags ON tags.run_id = runs.id AND tags.key IN ('git_commit', 'commit')
WHERE runs.command = :command
  AND (:host IS NULL OR runs.host = :host)
  AND (:search IS NULL OR EXISTS (SELECT 1
                                  FROM tags AS search
                                  WHERE search.run_id = runs.id AND search.key = 'bisect' AND search.value = :search))
  AND instr(' ' || runs.flags || ' ', ' unfinished ') = 0
  AND (:any OR runs.exit_status = 0)
GROUP BY runs.id
ORDER BY runs.started_ns, runs.id;
