-- What the cells of run :run are, where more than their address is known: one row an address. An address that two
-- processes had for different cells has none.
SELECT
    printf('0x%x', cells.address),
    'cell',
    max(objects.identity),
    max(objects.name)
FROM cells
JOIN profiles ON profiles.id = cells.profile_id
JOIN objects ON objects.id = cells.object_id
WHERE profiles.run_id = :run AND profiles.kind = 'mvcc'
GROUP BY cells.address
HAVING count(DISTINCT cells.object_id) = 1 AND max(objects.identity) NOT GLOB 'address:*'
ORDER BY cells.address;
