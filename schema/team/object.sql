-- Lock, cell or channel :id of a file.
SELECT
    kind,
    identity,
    name,
    trace_id,
    "offset"
FROM main.objects
WHERE id = :id
