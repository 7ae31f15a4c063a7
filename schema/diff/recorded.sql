-- Which of the kinds that are always there when they are recorded one run has, and whether recording was paused all the time.
SELECT
    EXISTS (SELECT 1 FROM profiles WHERE run_id = :run AND kind = 'heap') AS heap,
    EXISTS (SELECT 1 FROM profiles WHERE run_id = :run AND kind = 'lock') AS lock,
    EXISTS (SELECT 1 FROM profiles WHERE run_id = :run AND kind = 'cpu') AS cpu,
    EXISTS (SELECT 1
            FROM runs
            JOIN profiles ON profiles.run_id = runs.id
            JOIN counters ON counters.profile_id = profiles.id
            WHERE runs.id = :run AND counters.name = 'recorder.paused_ms' AND counters.value * 1e6 >= 0.99 * runs.duration_ns) AS is_paused
