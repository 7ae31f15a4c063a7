-- Adds the spins of profile :from to those of profile :into.
INSERT INTO spins(profile_id, trace_id, yields, short_sleeps, sleep_ns, failed_tries)
SELECT :into, trace_id, yields, short_sleeps, sleep_ns, failed_tries
FROM spins
WHERE profile_id = :from
ON CONFLICT (profile_id, trace_id) DO UPDATE
SET yields = yields + excluded.yields,
    short_sleeps = short_sleeps + excluded.short_sleeps,
    sleep_ns = sleep_ns + excluded.sleep_ns,
    failed_tries = failed_tries + excluded.failed_tries;
