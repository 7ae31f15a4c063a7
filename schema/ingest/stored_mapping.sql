-- The mapping that an earlier run stored for address :address (as in the file) of file :path with build id :build; of several, the
-- one with the best names.
SELECT id, memory_start, memory_limit
FROM mappings
WHERE filename = :path AND build_id = :build AND memory_start <= :address AND memory_limit > :address
ORDER BY has_line_numbers DESC, has_functions DESC, id DESC
LIMIT 1;
