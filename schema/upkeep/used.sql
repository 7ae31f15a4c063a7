-- The ids of one table of names that other tables need, for one connection.
CREATE TEMP TABLE IF NOT EXISTS used(id INTEGER PRIMARY KEY) STRICT;
DELETE FROM temp.used;
