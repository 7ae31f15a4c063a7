-- The samples of CPU time of a run, and the locations of their stacks, for own.sql and call.sql.

-- Fill
CREATE TEMP TABLE IF NOT EXISTS call_samples (trace_id INTEGER PRIMARY KEY, samples INTEGER, cpu_ns INTEGER);

DELETE FROM call_samples;

INSERT INTO call_samples
SELECT trace_id, sum(samples), sum(cpu_ns)
FROM profiles
JOIN cpu ON cpu.profile_id = profiles.id
WHERE profiles.run_id = :run AND profiles.kind = 'cpu'
GROUP BY trace_id;

-- The locations of their stacks.
CREATE TEMP TABLE IF NOT EXISTS call_locations (location_id INTEGER PRIMARY KEY, mapping_id INTEGER, own INTEGER, last INTEGER, raises INTEGER);

DELETE FROM call_locations;

INSERT INTO call_locations(location_id, mapping_id)
SELECT locations.id, locations.mapping_id
FROM (SELECT DISTINCT CAST(step.value AS INTEGER) AS location_id
      FROM call_samples
      CROSS JOIN traces ON traces.id = call_samples.trace_id
      CROSS JOIN json_each(traces.stack) AS step) AS met
CROSS JOIN locations ON locations.id = met.location_id;
