-- The innermost frame of the program's own code in the stack :trace, whose locations are in call_locations, where the function that stands for the stack (view
-- places) is :subject, NULL: any, and not the program's own; with the library and the name of that. No row: it is its own, or nothing in the stack is. What has no
-- name in a binary of the program may be its own.
SELECT functions.name, functions.filename, own_line.line, CASE WHEN called.mapping_id = own.mapping_id THEN '' ELSE places.module END, places.function
FROM traces
JOIN places ON places.trace_id = traces.id AND places.function = coalesce(:subject, places.function)
JOIN json_each(traces.stack) AS step ON true
JOIN temp.call_locations AS own ON own.location_id = CAST(step.value AS INTEGER) AND own.own IS NOT NULL
JOIN location_lines AS own_line ON own_line.location_id = own.location_id AND own_line.position = own.own
JOIN functions ON functions.id = own_line.function_id
LEFT JOIN locations AS called ON called.id = traces.location_id
WHERE traces.id = :trace AND own_line.function_id IS NOT traces.function_id
  AND (traces.function_id IS NOT NULL OR called.mapping_id NOT IN (SELECT mapping_id FROM temp.call_mappings))
  AND NOT EXISTS (SELECT 1
                  FROM json_each(traces.stack) AS nearer
                  JOIN temp.call_locations AS other ON other.location_id = CAST(nearer.value AS INTEGER) AND other.own IS NOT NULL
                  WHERE CAST(nearer.key AS INTEGER) < CAST(step.key AS INTEGER))
