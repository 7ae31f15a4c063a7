-- The places of stacks and label sets of run :run in exports, where they are not their ids.
SELECT
    thing,
    id,
    place
FROM run_places
WHERE run_id = :run
