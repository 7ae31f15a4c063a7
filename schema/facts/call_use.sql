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

-- The locations of their stacks (locations_met, first_step and step_at: schema/stack_steps.h).
CREATE TEMP TABLE IF NOT EXISTS call_locations (location_id INTEGER PRIMARY KEY, mapping_id INTEGER, own INTEGER, last INTEGER, raises INTEGER);

DELETE FROM call_locations;

-- Needs call_samples
INSERT INTO call_locations(location_id, mapping_id)
SELECT locations.id, locations.mapping_id
FROM json_each((SELECT locations_met(traces.stack)
                FROM call_samples
                CROSS JOIN traces ON traces.id = call_samples.trace_id)) AS met
CROSS JOIN locations ON locations.id = met.value;

-- Where CPU time went into throwing, the stacks that allocated what is thrown, which C++ and Rust do once for each throw.
CREATE TEMP TABLE IF NOT EXISTS call_throws (trace_id INTEGER PRIMARY KEY, throws INTEGER);

DELETE FROM call_throws;

-- Needs call_locations
INSERT INTO call_throws
SELECT site.trace_id, allocs
FROM (SELECT sites.trace_id, sum(alloc_count) AS allocs
      FROM profiles
      JOIN sites ON sites.profile_id = profiles.id
      WHERE profiles.run_id = :run AND profiles.kind = 'heap'
        AND EXISTS (SELECT 1
                    FROM call_locations
                    CROSS JOIN location_lines ON location_lines.location_id = call_locations.location_id
                    CROSS JOIN functions ON functions.id = location_lines.function_id
                    WHERE functions.name IN ('_Unwind_RaiseException', '__cxa_throw'))
      GROUP BY sites.trace_id) AS site
CROSS JOIN traces ON traces.id = site.trace_id
WHERE EXISTS (SELECT 1
              FROM location_lines
              CROSS JOIN functions ON functions.id = location_lines.function_id
              WHERE location_lines.location_id = CAST(substr(traces.stack, 2) AS INTEGER)
                AND (functions.name = '__cxa_allocate_exception' OR functions.name GLOB 'panic_unwind::*panic'));

-- Needs call_throws
INSERT OR IGNORE INTO call_locations(location_id, mapping_id)
SELECT locations.id, locations.mapping_id
FROM json_each((SELECT locations_met(traces.stack)
                FROM call_throws
                CROSS JOIN traces ON traces.id = call_throws.trace_id)) AS met
CROSS JOIN locations ON locations.id = met.value;
