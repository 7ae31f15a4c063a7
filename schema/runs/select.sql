-- The statements of query/runs/select.c.

-- @newest_with_label: The newest run with the label :name.
SELECT run_id
FROM run_order
JOIN runs ON runs.id = run_id
WHERE label = :name
ORDER BY place
LIMIT 1

-- @newest_with_tag: The newest run with the tag :key=:value.
SELECT run_order.run_id
FROM tags
JOIN run_order ON run_order.run_id = tags.run_id
WHERE tags.key = :key AND tags.value = :value
ORDER BY place
LIMIT 1
