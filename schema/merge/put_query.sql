-- A saved query of a user, unless there is one of that name.
INSERT OR IGNORE INTO main.queries(name, description, params, sql, export)
VALUES (:name, :description, :params, :sql, :export)
