-- The figures of run :run of a file: of the whole run, of locks, waits, cells, channels, calls and counters, and of the five functions that have
-- most of a figure. Those of other functions, and of sites, are many more: they are in the lists of the store.
SELECT
    figure,
    subject,
    value
FROM series
WHERE run_id = :run AND scope NOT IN ('function', 'site', 'finding')
UNION ALL
SELECT
    figure,
    'function ' || function,
    value
FROM (
    SELECT figure, function, value, row_number() OVER (PARTITION BY figure ORDER BY value DESC, function) AS place
    FROM (
        SELECT figure.name AS figure, function,
               CASE figure.name WHEN 'alloc_count' THEN allocations WHEN 'alloc_bytes' THEN bytes ELSE live END AS value
        FROM (SELECT place_subjects.function, sum(alloc_count) AS allocations, sum(alloc_bytes) AS bytes,
                     sum(alloc_bytes - free_bytes) AS live
              FROM main.profiles
              JOIN main.sites ON sites.profile_id = profiles.id
              JOIN place_subjects ON place_subjects.trace_id = sites.trace_id
              WHERE profiles.run_id = :run
              GROUP BY place_subjects.function)
        CROSS JOIN (SELECT 'alloc_count' AS name UNION ALL VALUES ('alloc_bytes'), ('inuse_bytes')) AS figure
        UNION ALL
        SELECT 'cpu_ns', leaf_subjects.function, sum(cpu_ns)
        FROM main.profiles
        JOIN main.cpu ON cpu.profile_id = profiles.id
        JOIN leaf_subjects ON leaf_subjects.trace_id = cpu.trace_id
        WHERE profiles.run_id = :run AND profiles.kind <> 'recorder'
        GROUP BY leaf_subjects.function
        UNION ALL
        SELECT 'io_bytes', place_subjects.function, sum(bytes)
        FROM main.profiles
        JOIN main.io ON io.profile_id = profiles.id
        JOIN place_subjects ON place_subjects.trace_id = io.trace_id
        WHERE profiles.run_id = :run
        GROUP BY place_subjects.function)
    WHERE value > 0)
WHERE place <= 5
