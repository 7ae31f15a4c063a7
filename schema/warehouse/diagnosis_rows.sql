-- What is wrong with each row of a user's diagnosis, NULL where nothing is. schema/diagnoses.c appends the name of the view, and
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
