-- The statements of schema/diagnoses.c.

-- @diagnoses: The views of the file that are named as diagnoses are, with their texts.
SELECT name, sql
FROM main.sqlite_schema
WHERE type = 'view' AND name LIKE 'doctor!_%' ESCAPE '!'
ORDER BY name

-- @diagnosis_columns: Which columns of a diagnosis the view :view lacks ("code, advice"; NULL: none), and whether it has the column weight.
WITH have AS (
    SELECT lower(name) AS name
    FROM pragma_table_info(:view)
)
SELECT
    (SELECT group_concat(value, ', ')
     FROM json_each('["run_id", "section", "code", "severity", "subject", "evidence", "trace_ids", "advice"]')
     WHERE value NOT IN (SELECT name FROM have)) AS missing,
    EXISTS (SELECT 1 FROM have WHERE name = 'weight') AS has_weight

-- @diagnosis_rows: What is wrong with each row of a user's diagnosis, NULL where nothing is. schema/diagnoses.c appends the name of the view, and
-- where one run is meant a condition on run_id. The view doctor is read by everybody, so evidence and trace_ids must be JSON.
SELECT
    CASE WHEN coalesce(section, '') = '' THEN 'a row has no section'
         WHEN coalesce(code, '') = '' THEN 'a row has no code'
         WHEN coalesce(severity, '') NOT IN ('critical', 'warning', 'note', 'ok')
         THEN 'a severity is not critical, warning, note or ok: ' || coalesce(severity, 'NULL')
         WHEN NOT coalesce(json_valid(evidence), 0) THEN 'evidence is not a JSON object'
         WHEN json_type(evidence) <> 'object' THEN 'evidence is not a JSON object'
         WHEN NOT coalesce(json_valid(trace_ids), 0) THEN 'trace_ids is not a JSON array'
         WHEN json_type(trace_ids) <> 'array' THEN 'trace_ids is not a JSON array' END AS wrong,
    subject,
    advice
FROM

-- @failing_diagnosis: Why the diagnosis with the text :text failed when it was tried last; no row: it did not. The value of meta is a JSON array of
-- [text of the view, reason]. It is found by its text, so that a view that was changed is tried again.
SELECT failing.value ->> 1
FROM meta
JOIN json_each(meta.value) AS failing
WHERE meta.key = :key AND failing.value ->> 0 = :text
