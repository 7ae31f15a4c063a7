-- What the wanted run uses of one table of names, in the order in which exports list it: its id and its place. :run: the wanted run.
SELECT
    used.id,
    coalesce((SELECT place FROM main.run_places WHERE run_id = :run AND thing = :thing AND run_places.id = used.id), used.id)
FROM temp.used
WHERE used.id <> 0
ORDER BY 2
