-- The statements of ingest/record/names/resolve.c.

-- @lines_of_build: The functions and lines at :address of the file with the build id :build, innermost first, as a run resolved them that had its debug
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

-- @stored_mapping: The mapping that an earlier run stored for address :address (as in the file) of file :path with build id :build; of several, the
-- one with the best names.
SELECT id, memory_start, memory_limit
FROM mappings
WHERE filename = :path AND build_id = :build AND memory_start <= :address AND memory_limit > :address
ORDER BY has_line_numbers DESC, has_functions DESC, id DESC
LIMIT 1;

-- @trace_signature: The signature of trace :trace, and the function that it is attributed to.
SELECT traces.signature, functions.name
FROM traces
LEFT JOIN functions ON functions.id = traces.function_id
WHERE traces.id = :trace;
