-- The functions and lines at :address of the file with the build id :build, innermost first, as a run resolved them that had its debug
-- information: this copy of the file was stripped. CROSS JOIN: the mappings first, or SQLite 3.40 looks through all locations, which took half of the
-- recorder's time where g++ was recorded.
SELECT function_id, line, column
FROM location_lines
WHERE location_id = (SELECT min(locations.id)
                     FROM mappings
                     CROSS JOIN locations ON locations.mapping_id = mappings.id
                     WHERE mappings.build_id = :build AND mappings.has_line_numbers = 1
                       AND locations.address = :address AND locations.lines_hash <> 0)
ORDER BY position
