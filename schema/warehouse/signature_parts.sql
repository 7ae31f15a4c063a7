-- What signs each location: its functions, innermost first, or where it has none its module and the offset in that file.
SELECT
    locations.id AS location_id,
    coalesce(location_lines.function_id, 0) AS function_id,
    mappings.filename AS module,
    locations.address - mappings.memory_start + mappings.file_offset AS offset
FROM locations
JOIN mappings ON mappings.id = locations.mapping_id
LEFT JOIN location_lines ON location_lines.location_id = locations.id
ORDER BY locations.id, location_lines.position
