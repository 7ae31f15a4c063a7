-- One task site of a recorded window, profile :profile.
INSERT INTO task_sites(profile_id, site, spawns, runs, exits, total_lifetime_ns, max_lifetime_ns, schedulers)
VALUES (:profile, :site, :spawns, :runs, :exits, :lifetime, :lifetime_max, :schedulers);
