-- Run :run met code of mapping :mapping that an earlier run resolved: the texts of the latest run that has that mapping and a
-- file of its code. Driven by `sources`, which few warehouses have rows in, so that it costs nothing there.
INSERT OR IGNORE INTO sources(run_id, path, role, text_id)
SELECT :run, known.path, known.role, known.text_id
FROM sources AS known
WHERE known.run_id = (
    SELECT max(earlier.run_id)
    FROM (SELECT DISTINCT run_id FROM sources WHERE run_id <> :run) AS earlier
    WHERE EXISTS (SELECT 1
                  FROM profiles
                  JOIN json_each(profiles.mappings) AS met
                  WHERE profiles.run_id = earlier.run_id AND met.value = :mapping)
      AND EXISTS (SELECT 1
                  FROM locations
                  JOIN location_lines ON location_lines.location_id = locations.id
                  JOIN functions ON functions.id = location_lines.function_id
                  JOIN sources ON sources.run_id = earlier.run_id AND sources.path = functions.filename
                  WHERE locations.mapping_id = :mapping));
