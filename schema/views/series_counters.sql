DROP VIEW IF EXISTS series_counters;
CREATE VIEW series_counters AS
-- Question: what were the counters of perf stat, the memory of the processes, and the values of other kinds of profile, in each run?
-- Rows: one per run, figure and name. Counters and values have different units, so there is no row for the whole run
-- Columns: as those of the view series
--   run_id [id]: the run
--   started_ns [ns since epoch]: start of the run
--   figure [text]: counter: as perf stat prints it, or process.rss_bytes and process.heap_bytes, the most of each process, in all, or process.run_delay_ns; sample: the sum of the values of one type (the first eight)
--   subject [text]: 'counter ' or 'sample ' and the name; of a sample KIND TYPE/UNIT
--   value [unit of the figure]: the figure, not 0
--   scope [text]: the first word of the subject
SELECT
    runs.id AS run_id,
    runs.started_ns,
    CAST('counter' AS TEXT) AS figure,
    CAST('counter ' || counters.name AS TEXT) AS subject,
    CASE WHEN glob('process.*_bytes', counters.name)
         THEN (SELECT sum(process.most)
               FROM (SELECT max(again.value) AS most
                     FROM profiles AS other
                     JOIN counters AS again ON again.profile_id = other.id AND again.name = counters.name
                     WHERE other.run_id = runs.id
                     GROUP BY other.process_id) AS process)
         ELSE (SELECT sum(again.value)
               FROM profiles AS other
               JOIN counters AS again ON again.profile_id = other.id AND again.name = counters.name
               WHERE other.run_id = runs.id) END AS value,
    CAST('counter' AS TEXT) AS scope
FROM runs
JOIN profiles ON profiles.run_id = runs.id
JOIN counters ON counters.profile_id = profiles.id
WHERE counters.value IS NOT NULL AND NOT glob('recorder.*', counters.name)
  AND NOT EXISTS (SELECT 1
                  FROM profiles AS other
                  JOIN counters AS again ON again.profile_id = other.id AND again.name = counters.name AND again.value IS NOT NULL
                  WHERE other.run_id = runs.id AND other.id < profiles.id)
UNION ALL
SELECT
    runs.id,
    runs.started_ns,
    CAST('sample' AS TEXT),
    CAST('sample ' || profiles.kind || ' ' || (SELECT group_concat(value, '/') FROM json_each(type.value)) AS TEXT),
    (SELECT sum(CASE type.key WHEN 0 THEN v0 WHEN 1 THEN v1 WHEN 2 THEN v2 WHEN 3 THEN v3 WHEN 4 THEN v4 WHEN 5 THEN v5 WHEN 6 THEN v6
                              ELSE v7 END)
     FROM profiles AS other
     JOIN samples ON samples.profile_id = other.id
     WHERE other.run_id = runs.id AND other.kind = profiles.kind AND other.sample_types = profiles.sample_types),
    CAST('sample' AS TEXT)
FROM runs
JOIN profiles ON profiles.run_id = runs.id
JOIN json_each(profiles.sample_types) AS type ON CAST(type.key AS INTEGER) < 8
WHERE EXISTS (SELECT 1 FROM samples WHERE samples.profile_id = profiles.id)
  AND NOT EXISTS (SELECT 1
                  FROM profiles AS other
                  WHERE other.run_id = runs.id AND other.kind = profiles.kind AND other.sample_types = profiles.sample_types
                    AND other.id < profiles.id);
