-- Is the saved query here the same?
SELECT
    description = :description AND params = :params AND sql = :sql AND export = :export
FROM main.queries
WHERE name = :name
