-- The newest run with the label :name.
SELECT run_id
FROM run_order
JOIN runs ON runs.id = run_id
WHERE label = :name
ORDER BY place
LIMIT 1
