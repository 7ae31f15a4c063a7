-- The frames of the stack :trace, leaf first, inlined ones too: what tells two calls of one function apart.
SELECT
    functions.name AS function,
    location_lines.line,
    location_lines.column,
    functions.start_line,
    mappings.build_id,
    locations.address
FROM traces
JOIN json_each(traces.stack) AS step
JOIN locations ON locations.id = step.value
JOIN mappings ON mappings.id = locations.mapping_id
LEFT JOIN location_lines ON location_lines.location_id = locations.id
LEFT JOIN functions ON functions.id = location_lines.function_id
WHERE traces.id = :trace
ORDER BY step.key, location_lines.position
