-- The fibers of a recorded window, profile :profile, in all.
INSERT INTO fibers(profile_id, total_fibers, short_fibers, very_short_fibers, total_lifetime_ns, max_lifetime_ns)
VALUES (:profile, :fibers, :under_1ms, :under_10us, :lifetime, :lifetime_max);
