-- The kinds of profile that all the runs in the JSON array :runs have, the one that people look at first on top. What clear
-- says of a run itself is no kind to report on.
SELECT profiles.kind
FROM profiles
JOIN json_each(:runs) AS run ON run.value = profiles.run_id
WHERE profiles.kind <> 'counters'
GROUP BY profiles.kind
HAVING count(DISTINCT profiles.run_id) = json_array_length(:runs)
ORDER BY
    CASE profiles.kind
        WHEN 'heap' THEN 0
        WHEN 'cpu' THEN 1
        WHEN 'lock' THEN 2
        WHEN 'mvcc' THEN 3
        WHEN 'channels' THEN 4
        WHEN 'fibers' THEN 5
        WHEN 'syscalls' THEN 6
        ELSE 7
    END,
    profiles.kind;
