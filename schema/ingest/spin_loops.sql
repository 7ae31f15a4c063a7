-- The statements of ingest/record/names/spin_loops.c.

-- @loop: The location is in a loop that only asks memory again, or stores to one place.
INSERT OR IGNORE INTO spin_loops(process_id, location_id, head, instructions, has_pause, sleeps, stores, asked, writer)
VALUES (:process, :location, :head, :instructions, :has_pause, :sleeps, :stores, :asked, :writer);

-- @sampled: Where run :run was sampled: each instruction of a file that had 2 samples or more, in order of the files. A loop of two instructions has
-- them all in two.
SELECT profiles.process_id, locations.id, mappings.id, mappings.filename, mappings.build_id, locations.address,
       locations.address - mappings.memory_start + mappings.file_offset, mappings.file_offset, mappings.memory_limit - mappings.memory_start
FROM profiles
JOIN cpu ON cpu.profile_id = profiles.id
JOIN traces ON traces.id = cpu.trace_id
JOIN locations ON locations.id = CAST(substr(traces.stack, 2) AS INTEGER)
JOIN mappings ON mappings.id = locations.mapping_id
WHERE profiles.run_id = :run AND profiles.kind = 'cpu' AND profiles.process_id IS NOT NULL AND mappings.filename GLOB '/*'
GROUP BY profiles.process_id, locations.id
HAVING sum(cpu.samples) >= 2
ORDER BY mappings.id;

-- @napped: The same of the calls that slept for some milliseconds, 100 times or more, and their three callers: the call that sleeps may be in a function of
-- the C++ library.
SELECT profiles.process_id, locations.id, mappings.id, mappings.filename, mappings.build_id, locations.address,
       locations.address - mappings.memory_start + mappings.file_offset, mappings.file_offset, mappings.memory_limit - mappings.memory_start
FROM profiles
JOIN spins ON spins.profile_id = profiles.id
JOIN traces ON traces.id = spins.trace_id
JOIN json_each(traces.stack) AS frame ON frame.key < 4
JOIN locations ON locations.id = frame.value
JOIN mappings ON mappings.id = locations.mapping_id
WHERE profiles.run_id = :run AND profiles.process_id IS NOT NULL AND spins.naps > 0 AND mappings.filename GLOB '/*'
GROUP BY profiles.process_id, locations.id
HAVING sum(spins.naps) >= 100
ORDER BY mappings.id;

-- @met: Whether a stack of the file met that function, by its linker's name.
SELECT 1 FROM functions JOIN location_lines ON location_lines.function_id = functions.id WHERE functions.system_name = :writer LIMIT 1;
