-- The statements of query/profile/load/load.c.

-- @common_kind: The kinds of profile that all the runs in the JSON array :runs have, in the order of the JSON array :order, others after them by name.
-- What clear says of a run itself is no kind to report on.
SELECT profiles.kind
FROM profiles
JOIN json_each(:runs) AS run ON run.value = profiles.run_id
WHERE profiles.kind <> 'counters'
GROUP BY profiles.kind
HAVING count(DISTINCT profiles.run_id) = json_array_length(:runs)
ORDER BY
    (SELECT key FROM json_each(:order) WHERE value = profiles.kind) NULLS LAST,
    profiles.kind;

-- @run_kinds: The kinds of profile that run :run has, and whether :kind (or :also or :further, NULL for none) is one of them. Counters are a table, and no profile.
SELECT
    (SELECT group_concat(kind, ', ')
     FROM (SELECT DISTINCT kind FROM profiles WHERE run_id = :run AND kind <> 'counters')),
    EXISTS (SELECT 1 FROM profiles WHERE run_id = :run AND kind IN (:kind, :also, :further));
