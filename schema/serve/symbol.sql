-- The name of the function at :address, the innermost of inlined ones. Addresses are unique within a mapping alone: the mappings of the run
-- :run come first, its program before its libraries, then those of the newest other run.
SELECT functions.name
FROM mappings
CROSS JOIN locations ON locations.mapping_id = mappings.id AND locations.address = :address
JOIN location_lines ON location_lines.location_id = locations.id AND location_lines.position = 0
JOIN functions ON functions.id = location_lines.function_id
ORDER BY
    (SELECT min(used.key)
     FROM profiles, json_each(profiles.mappings) AS used
     WHERE profiles.run_id = :run AND used.value = mappings.id) NULLS LAST,
    locations.id DESC
LIMIT 1
