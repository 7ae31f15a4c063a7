-- Adds the totals of the fibers of profile :from to those of profile :into.
INSERT INTO fibers(profile_id, total_fibers, short_fibers, very_short_fibers, total_lifetime_ns, max_lifetime_ns)
SELECT :into, total_fibers, short_fibers, very_short_fibers, total_lifetime_ns, max_lifetime_ns
FROM fibers
WHERE profile_id = :from
ON CONFLICT (profile_id) DO UPDATE
SET total_fibers = total_fibers + excluded.total_fibers,
    short_fibers = short_fibers + excluded.short_fibers,
    very_short_fibers = very_short_fibers + excluded.very_short_fibers,
    total_lifetime_ns = total_lifetime_ns + excluded.total_lifetime_ns,
    max_lifetime_ns = max(max_lifetime_ns, excluded.max_lifetime_ns);
