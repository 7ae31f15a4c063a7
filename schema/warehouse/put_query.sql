INSERT OR REPLACE INTO queries(name, description, params, sql, export)
VALUES (:name, :description, :params, :sql, :export)
