-- The rules of clear gate in the order in which they were given.
SELECT name, figure, query, subject, direction, limit_percent, limit_value, runs, is_timed, action, is_own, base
FROM gates
ORDER BY place, name
