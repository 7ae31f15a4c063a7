-- Adds the schedulers of profile :from to those of profile :into.
INSERT INTO schedulers(profile_id, scheduler, fibers)
SELECT :into, scheduler, fibers
FROM schedulers
WHERE profile_id = :from
ON CONFLICT (profile_id, scheduler) DO UPDATE
SET fibers = fibers + excluded.fibers;
