-- The statements of ingest/record/names/spin_loops.c.

-- @loop: The location is in a loop that only asks memory again.
INSERT INTO spin_loops(process_id, location_id, head, instructions, has_pause)
VALUES (:process, :location, :head, :instructions, :has_pause);

-- @sampled: Where run :run was sampled: each instruction of a file that had 2 samples or more, in order of the files. A loop of two instructions has
-- them all in two.
SELECT profiles.process_id, locations.id, mappings.id, mappings.filename, mappings.build_id, locations.address,
       locations.address - mappings.memory_start + mappings.file_offset
FROM profiles
JOIN cpu ON cpu.profile_id = profiles.id
JOIN traces ON traces.id = cpu.trace_id
JOIN locations ON locations.id = CAST(substr(traces.stack, 2) AS INTEGER)
JOIN mappings ON mappings.id = locations.mapping_id
WHERE profiles.run_id = :run AND profiles.kind = 'cpu' AND profiles.process_id IS NOT NULL AND mappings.filename GLOB '/*'
GROUP BY profiles.process_id, locations.id
HAVING sum(cpu.samples) >= 2
ORDER BY mappings.id;
