-- The statements of schema/gates.c.

-- @gates: The rules of clear gate in the order in which they were given.
SELECT name, figure, query, subject, direction, limit_percent, limit_value, runs, is_timed, action, is_own, base
FROM gates
ORDER BY place, name

-- @shadow_gates: A temporary table that hides the file's rules of clear gate from this connection.
CREATE TEMP TABLE gates(
    name TEXT PRIMARY KEY,
    place INTEGER,
    figure TEXT,
    query TEXT,
    subject TEXT,
    base TEXT,
    direction TEXT,
    limit_percent REAL,
    limit_value REAL,
    runs INTEGER,
    is_timed INTEGER,
    action TEXT,
    is_own INTEGER
)
