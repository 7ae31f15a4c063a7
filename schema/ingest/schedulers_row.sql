-- What one scheduler ran of one task site in a recorded window, profile :profile. A scheduler's row is the sum over its sites.
INSERT INTO schedulers(profile_id, scheduler, fibers)
VALUES (:profile, :scheduler, :runs)
ON CONFLICT (profile_id, scheduler) DO UPDATE
SET fibers = fibers + excluded.fibers;
