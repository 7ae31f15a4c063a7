CREATE TABLE spin_facts (
    -- A loop that only asks memory again (spin_loops), by the function of its instructions: all samples of CPU time in it in a run.
    run_id           INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    trace_id         INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack of most of them
    function         TEXT    NOT NULL, -- [text] whose loop it is: behind those of atomics and hints that are inlined there; empty: unknown
    file             TEXT    NOT NULL, -- [text] its source file; empty: unknown
    line             INTEGER NOT NULL, -- [line] in that file; 0: unknown
    samples          INTEGER NOT NULL, -- [count] samples in the loop
    cpu_ns           INTEGER NOT NULL, -- [ns] their CPU time
    cpu_percent      INTEGER NOT NULL, -- [percent] that, of all of the run that was sampled, a whole number
    function_percent INTEGER NOT NULL, -- [percent] that, of all that was sampled in the function itself, a whole number: a loop that runs one turn mostly
                                       -- is a small part of it
    instructions     INTEGER NOT NULL, -- [count] instructions of a turn
    has_pause        INTEGER NOT NULL, -- [0 or 1] one of them is a pause
    threads          INTEGER NOT NULL, -- [count] threads that were in it
    asked            TEXT    NOT NULL, -- [text] the global variable that it asks for, where another function stores to it; empty: not known
    writer           TEXT    NOT NULL, -- [text] that function; empty: none is known
    PRIMARY KEY (run_id, trace_id)
) STRICT, WITHOUT ROWID;

-- Fill
-- The samples of the run, by the function and instruction that they met.
CREATE TEMP TABLE IF NOT EXISTS spin_samples (
    process_id INTEGER, function_id INTEGER, line INTEGER, location_id INTEGER, trace_id INTEGER, label_set_id INTEGER, samples INTEGER, cpu_ns INTEGER);

DELETE FROM spin_samples;

-- None where no loop is known, which is so of most runs.
-- Needs spin_loops
INSERT INTO spin_samples
WITH
own AS MATERIALIZED ( -- the innermost function of the program's own at an instruction of a loop
    SELECT spin_loops.location_id, min(location_lines.position) AS position
    FROM processes
    CROSS JOIN spin_loops ON spin_loops.process_id = processes.id
    CROSS JOIN location_lines ON location_lines.location_id = spin_loops.location_id
    CROSS JOIN functions ON functions.id = location_lines.function_id
    WHERE processes.run_id = :run AND NOT sleeps AND NOT stores
      AND NOT (name GLOB 'std::*atomic*' OR name GLOB '*_mm_pause*' OR filename GLOB '/rustc/*' OR filename GLOB '/usr/src/rustc-*')
    GROUP BY spin_loops.location_id
)
SELECT profiles.process_id, coalesce(leaf.function_id, -location.id), coalesce(leaf.line, 0), location.id, cpu.trace_id, cpu.label_set_id, cpu.samples, cpu.cpu_ns
FROM profiles
JOIN cpu ON cpu.profile_id = profiles.id
JOIN traces ON traces.id = cpu.trace_id
JOIN locations AS location ON location.id = nullif(CAST(substr(traces.stack, 2) AS INTEGER), 0)
LEFT JOIN own ON own.location_id = location.id
LEFT JOIN location_lines AS leaf ON leaf.location_id = location.id AND leaf.position = coalesce(own.position, 0)
WHERE profiles.run_id = :run AND profiles.kind = 'cpu' AND profiles.process_id IS NOT NULL
  AND EXISTS (SELECT 1 FROM processes JOIN spin_loops ON spin_loops.process_id = processes.id WHERE processes.run_id = :run AND NOT sleeps AND NOT stores);

-- Needs spin_samples
INSERT INTO spin_facts(run_id, trace_id, function, file, line, samples, cpu_ns, cpu_percent, function_percent, instructions, has_pause, threads, asked, writer)
WITH
whole AS MATERIALIZED (SELECT sum(cpu_ns) AS cpu_ns FROM spin_samples),
own AS MATERIALIZED (SELECT function_id, sum(cpu_ns) AS cpu_ns FROM spin_samples GROUP BY function_id),
spun AS MATERIALIZED (
    SELECT spin_samples.*, spin_loops.instructions, spin_loops.has_pause, asked, writer, locations.mapping_id, head
    FROM spin_samples
    JOIN spin_loops ON spin_loops.process_id = spin_samples.process_id AND spin_loops.location_id = spin_samples.location_id AND NOT sleeps AND NOT stores
    JOIN locations ON locations.id = spin_samples.location_id
),
stack AS MATERIALIZED (
    SELECT function_id, mapping_id, head, trace_id, max(line) AS line,
           row_number() OVER (PARTITION BY function_id, mapping_id, head ORDER BY sum(cpu_ns) DESC, trace_id) AS rank
    FROM spun
    GROUP BY function_id, mapping_id, head, trace_id
),
loop AS (
    SELECT function_id, mapping_id, head, sum(samples) AS samples, sum(cpu_ns) AS cpu_ns, max(instructions) AS instructions, max(has_pause) AS has_pause, max(asked) AS asked, max(writer) AS writer,
           count(DISTINCT process_id || ' ' || label_set_id) AS threads
    FROM spun
    GROUP BY function_id, mapping_id, head
)
SELECT :run, stack.trace_id, coalesce(functions.name, ''), coalesce(functions.filename, ''), stack.line, loop.samples, loop.cpu_ns, CAST(round(100.0 * loop.cpu_ns / max(whole.cpu_ns, 1)) AS INTEGER),
       CAST(round(100.0 * loop.cpu_ns / max(own.cpu_ns, 1)) AS INTEGER), instructions, has_pause, threads,
       loop.asked, loop.writer
FROM loop
CROSS JOIN whole
JOIN own ON own.function_id = loop.function_id
JOIN stack ON stack.function_id = loop.function_id AND stack.mapping_id = loop.mapping_id AND stack.head = loop.head AND stack.rank = 1
LEFT JOIN functions ON functions.id = loop.function_id;
