-- The statements of ingest/record/recorded_fibers.c.

-- @row: The fibers of a recorded window, profile :profile, in all.
INSERT INTO fibers(profile_id, total_fibers, short_fibers, very_short_fibers, total_lifetime_ns, max_lifetime_ns)
VALUES (:profile, :fibers, :under_1ms, :under_10us, :lifetime, :lifetime_max);

-- @schedulers_row: What one scheduler ran of one task site in a recorded window, profile :profile. A scheduler's row is the sum over its sites.
INSERT INTO schedulers(profile_id, scheduler, fibers)
VALUES (:profile, :scheduler, :runs)
ON CONFLICT (profile_id, scheduler) DO UPDATE
SET fibers = fibers + excluded.fibers;

-- @task_sites_row: One task site of a recorded window, profile :profile.
INSERT INTO task_sites(profile_id, site, spawns, runs, exits, total_lifetime_ns, max_lifetime_ns, schedulers)
VALUES (:profile, :site, :spawns, :runs, :exits, :lifetime, :lifetime_max, :schedulers);
