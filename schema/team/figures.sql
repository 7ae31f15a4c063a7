-- The figures of run :run of a file: of the whole run, and of locks, waits, cells, channels, calls and counters. Those of functions and
-- sites are many more: they are in the lists of the store.
SELECT
    figure,
    subject,
    value
FROM series
WHERE run_id = :run AND scope NOT IN ('function', 'site', 'finding')
