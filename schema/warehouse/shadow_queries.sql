-- A temporary table that hides the file's saved queries from this connection.
CREATE TEMP TABLE queries(
    name TEXT PRIMARY KEY,
    description TEXT,
    params TEXT,
    sql TEXT,
    export TEXT
)
