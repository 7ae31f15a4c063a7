-- The statements of query/doctor/why.c.

-- @view: The text of the view :name; no row where there is none.
SELECT sql
FROM main.sqlite_schema
WHERE type = 'view' AND name = :name;

-- @finding: The finding of run :run that stands behind :skipped others, as the file has it.
SELECT section, code, subject, trace_ids
FROM doctor
WHERE run_id = :run
LIMIT 1 OFFSET :skipped;

-- @facts: The tables of facts that the view :view reads, by itself or by views that it reads; what the run is measured against comes last.
WITH RECURSIVE reads(name, sql) AS (
    SELECT name, sql
    FROM main.sqlite_schema
    WHERE type = 'view' AND name = :view
    UNION
    SELECT other.name, other.sql
    FROM reads
    JOIN main.sqlite_schema AS other
        ON other.type = 'view' AND (reads.sql GLOB '*FROM ' || other.name || '[^a-z_]*' OR reads.sql GLOB '*JOIN ' || other.name || '[^a-z_]*')
)
SELECT facts.name
FROM main.sqlite_schema AS facts
WHERE facts.type = 'table' AND facts.name GLOB '*_facts'
  AND EXISTS (SELECT 1
              FROM reads
              WHERE reads.sql GLOB '*FROM ' || facts.name || '[^a-z_]*' OR reads.sql GLOB '*JOIN ' || facts.name || '[^a-z_]*')
ORDER BY facts.name = 'run_facts', facts.name;

-- @key: The columns of the key of the table :table.
SELECT name
FROM pragma_table_info(:table)
WHERE pk > 0
ORDER BY pk;

-- @rule: The threshold :name, as a whole number where it is one, and as it is.
SELECT iif(value = CAST(value AS INTEGER), CAST(value AS INTEGER), value), value, unit, meaning
FROM rules
WHERE name = :name
