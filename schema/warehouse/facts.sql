-- The statements of schema/facts.c.

-- @count_unsealed: Runs whose facts are missing, or were made by another definition.
SELECT (SELECT count(*) FROM main.runs) - (SELECT count(*) FROM main.seals WHERE definition = :definition)

-- @former_facts: The quoted names of the tables of facts in the file, of the clear that made them (meta, key own_facts).
SELECT quote(former.value)
FROM main.meta
JOIN json_each(meta.value) AS former
JOIN main.sqlite_schema AS own ON own.name = former.value
WHERE meta.key = 'own_facts' AND own.type = 'table' AND (own.name GLOB '*_facts' OR own.name = 'subjects')

-- @next_unsealed: The oldest run behind :above whose facts are missing, or were made by another definition.
SELECT runs.id
FROM main.runs AS runs
WHERE runs.id > :above
  AND NOT EXISTS (SELECT 1 FROM main.seals WHERE seals.run_id = runs.id AND seals.definition = :definition)
ORDER BY runs.id
LIMIT 1

-- @summed_profiles: The greatest id, the number, and the sums of ids, times and durations of the profiles of a run above :after and up to :last
-- that have rows of locks. The times as remainders, because the sum of ten would exceed 64 bits.
SELECT coalesce(max(id), :after), count(*), coalesce(sum(id), 0), coalesce(sum(time_ns % 1000000007), 0), coalesce(sum(duration_ns % 1000000007), 0)
FROM main.profiles AS profiles
WHERE run_id = :run AND id > :after AND id <= :last AND EXISTS (SELECT 1 FROM locks WHERE locks.profile_id = profiles.id)

-- @add_locations: The locations of the stacks of the JSON array :traces.
INSERT INTO temp.call_locations(location_id, mapping_id)
SELECT locations.id, locations.mapping_id
FROM json_each((SELECT locations_met(traces.stack)
                FROM json_each(:traces) AS wanted
                CROSS JOIN traces ON traces.id = wanted.value)) AS met
CROSS JOIN locations ON locations.id = met.value

-- @own_locations: The locations with a function of the program's own code, in ascending order (facts/own.sql).
SELECT location_id FROM temp.call_locations WHERE own IS NOT NULL ORDER BY location_id

-- @raising_locations: The locations with a step of throwing an exception, in ascending order.
SELECT location_id FROM temp.call_locations WHERE raises = 1 ORDER BY location_id
