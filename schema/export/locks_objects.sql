-- What the locks of run :run are, where more than their address is known: one row an address. An address that two
-- processes had for different locks has none.
SELECT
    printf('0x%x', locks.address),
    max(locks.kind),
    max(objects.identity),
    max(objects.name)
FROM locks
JOIN profiles ON profiles.id = locks.profile_id
JOIN objects ON objects.id = locks.object_id
WHERE profiles.run_id = :run AND profiles.kind = 'lock'
GROUP BY locks.address
HAVING count(DISTINCT locks.object_id) = 1 AND max(objects.identity) NOT GLOB 'address:*'
ORDER BY locks.address;
