-- The runs of which a change was accepted, as a JSON array.
SELECT
    json_group_array(id)
FROM runs
WHERE uuid IN (SELECT run_uuid FROM accepted_changes)
