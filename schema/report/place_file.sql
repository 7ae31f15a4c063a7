-- The binary that the function which stands for the stack :trace is in (view places).
SELECT mappings.filename
FROM traces
JOIN locations ON locations.id = traces.location_id
JOIN mappings ON mappings.id = locations.mapping_id
WHERE traces.id = :trace
