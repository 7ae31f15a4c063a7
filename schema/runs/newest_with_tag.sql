-- The newest run with the tag :key=:value.
SELECT run_order.run_id
FROM tags
JOIN run_order ON run_order.run_id = tags.run_id
WHERE tags.key = :key AND tags.value = :value
ORDER BY place
LIMIT 1
