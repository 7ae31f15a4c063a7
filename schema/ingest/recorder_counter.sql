-- A figure about the recording of run :run itself. It stands with the run's first profile; without one it is dropped.
INSERT OR REPLACE INTO counters(profile_id, name, value, unit)
SELECT min(id), :name, :value, :unit
FROM profiles
WHERE run_id = :run
HAVING min(id) IS NOT NULL;
