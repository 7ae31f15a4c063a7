-- A run of the series that started after the run of :profile; no row where there is none.
SELECT kin.run_id
FROM kin
WHERE started_ns > (SELECT started_ns FROM runs WHERE id = (SELECT run_id FROM profiles WHERE id = :profile))
LIMIT 1;
