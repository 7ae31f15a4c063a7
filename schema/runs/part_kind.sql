-- The kind of which a run has most windows: they are counted by it where no kind is named.
SELECT kind
FROM main.profiles
WHERE run_id = :run
GROUP BY kind
ORDER BY count(DISTINCT time_ns) DESC, kind
LIMIT 1
