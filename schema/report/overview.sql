-- The statements of query/doctor/overview.c and overview_time.c. A list has a function and its value, the largest first; a series a group, the start and
-- the end of a stretch of time in ns since the start of the run, and the value in it. Stretches are windows; where a run has more than :columns of
-- them, those that end in the same of so many equal parts of the run are one.

-- @run: What the run :run did, in the figures of its first sentence.
SELECT
    run_summary.uuid,
    run_summary.duration_ns,
    run_summary.cpu_ns,
    run_summary.alloc_count,
    run_summary.alloc_bytes,
    run_summary.lock_wait_ns,
    coalesce((SELECT thread_ns FROM run_facts WHERE run_facts.run_id = run_summary.run_id), 0) AS thread_ns,
    run_summary.exit = '' AND run_summary.source = 'profile' AND instr(' ' || run_summary.flags || ' ', ' unfinished ') > 0 AS is_open
FROM run_summary
WHERE run_id = :run;

-- @cpu: Functions by their own CPU time.
SELECT substr(subjects.name, length('function ') + 1) AS function, figure_facts.value
FROM figure_facts
JOIN subjects ON subjects.id = figure_facts.subject_id
WHERE figure_facts.run_id = :run AND figure_facts.figure = 'cpu_ns' AND subjects.name GLOB 'function ?*' AND figure_facts.value > 0
ORDER BY figure_facts.value DESC, subjects.name
LIMIT :limit;

-- @heap: Functions by the bytes that they allocated.
SELECT substr(subjects.name, length('function ') + 1) AS function, function_facts.alloc_bytes
FROM function_facts
JOIN subjects ON subjects.id = function_facts.subject_id
WHERE function_facts.run_id = :run AND function_facts.alloc_bytes > 0
ORDER BY function_facts.alloc_bytes DESC, subjects.name
LIMIT :limit;

-- @lock: Functions by how long they waited for locks.
SELECT places.function, sum(used.wait_ns) AS wait_ns
FROM lock_caller_facts AS used
JOIN places ON places.trace_id = used.trace_id
WHERE used.run_id = :run AND used.wait_ns > 0
GROUP BY places.function
ORDER BY wait_ns DESC, places.function
LIMIT :limit;

-- @kinds: The kinds of profile of the run :run that are samples of another tool, with the types of their values.
SELECT kind, sample_types, default_type
FROM profiles
WHERE run_id = :run AND EXISTS (SELECT 1 FROM samples WHERE samples.profile_id = profiles.id)
GROUP BY kind
ORDER BY kind;

-- @samples: The value of the place :value in sample_types of each stack of the kind :kind. Keys come first.
SELECT
    coalesce(traces.function_id, 0),
    CASE WHEN traces.function_id IS NULL THEN coalesce(traces.location_id, 0) ELSE 0 END,
    CASE :value WHEN 0 THEN v0 WHEN 1 THEN v1 WHEN 2 THEN v2 WHEN 3 THEN v3 WHEN 4 THEN v4 WHEN 5 THEN v5 WHEN 6 THEN v6 ELSE v7 END,
    samples.trace_id
FROM profiles
JOIN samples ON samples.profile_id = profiles.id
JOIN traces ON traces.id = samples.trace_id
WHERE profiles.run_id = :run AND profiles.kind = :kind;

-- @type: Of the sample types in the JSON array :types the one that viewers show first, :wanted or the last: its place, type and unit.
SELECT type.key, type.value ->> 0, type.value ->> 1
FROM json_each(:types) AS type
ORDER BY type.value ->> 0 = :wanted DESC, type.key DESC
LIMIT 1;

-- @place: The function of the stack :trace.
SELECT function
FROM places
WHERE trace_id = :trace;

-- @previous: The newest run before the run :run of the same program: with the same command line where there is one. Of an ingested file there is none.
SELECT runs.id, runs.uuid, coalesce(runs.label, '') AS label, runs.started_ns, runs.command = own.command AS is_same_command
FROM main.runs AS own
JOIN main.runs ON runs.started_ns < own.started_ns OR (runs.started_ns = own.started_ns AND runs.id < own.id)
WHERE own.id = :run AND own.source = 'profile' AND runs.source = 'profile'
  AND substr(runs.command, 1, instr(runs.command || ' ', ' ')) = substr(own.command, 1, instr(own.command || ' ', ' '))
ORDER BY is_same_command DESC, runs.started_ns DESC, runs.id DESC
LIMIT 1;

-- @cpu_time: CPU time by thread group: threads whose names differ by numbers at their ends alone. The five largest, and the others together. What no sample
-- met is not among them: it is known when its process ends, and not when it was spent.
WITH threads AS (
    SELECT label_sets.id, (SELECT label.value ->> 1 FROM json_each(label_sets.labels) AS label WHERE label.value ->> 0 = 'thread') AS thread
    FROM label_sets
    WHERE label_sets.id IN (SELECT cpu.label_set_id FROM profiles JOIN cpu ON cpu.profile_id = profiles.id WHERE profiles.run_id = :run AND profiles.kind = 'cpu')),
names AS (
    SELECT id, coalesce(nullif(rtrim(thread, '0123456789-_#:/. '), ''), nullif(thread, ''), '(no name)') AS name
    FROM threads),
used AS MATERIALIZED (
    SELECT names.name,
           (profiles.time_ns - runs.started_ns) * :columns / max(runs.duration_ns, 1) AS part,
           min(profiles.time_ns - profiles.duration_ns - runs.started_ns) AS from_ns,
           max(max(profiles.time_ns - runs.started_ns), 0) AS to_ns,
           sum(cpu.cpu_ns) AS value
    FROM runs
    JOIN profiles ON profiles.run_id = runs.id AND profiles.kind = 'cpu' AND profiles.process_id IS NOT NULL
    JOIN cpu ON cpu.profile_id = profiles.id
    JOIN names ON names.id = cpu.label_set_id
    JOIN traces ON traces.id = cpu.trace_id
    WHERE runs.id = :run AND coalesce(traces.function_id, 0) NOT IN (SELECT id FROM functions WHERE name = '[unsampled]')
    GROUP BY names.name, part),
ranked AS (
    SELECT name, row_number() OVER (ORDER BY sum(value) DESC, name) AS place
    FROM used
    GROUP BY name)
SELECT iif(ranked.place <= 5, used.name, 'others') AS name, max(min(used.from_ns), 0) AS from_ns, max(max(used.to_ns), 0) AS to_ns, sum(used.value) AS value
FROM used
JOIN ranked ON ranked.name = used.name
GROUP BY min(ranked.place, 6), used.part
ORDER BY min(ranked.place, 6), used.part;

-- @live_bytes: By how many bytes what is live on the heap grew, in all processes.
SELECT
    '' AS name,
    max(min(profiles.time_ns - profiles.duration_ns - runs.started_ns), 0) AS from_ns,
    max(max(profiles.time_ns - runs.started_ns), 0) AS to_ns,
    sum(coalesce(used.alloc_bytes, used.alloc_count * site_keys.block_bytes) - coalesce(used.free_bytes, used.free_count * site_keys.block_bytes)) AS value
FROM runs
JOIN profiles ON profiles.run_id = runs.id AND profiles.kind = 'heap' AND profiles.process_id IS NOT NULL
JOIN site_rows AS used ON used.profile_id = profiles.id
JOIN site_keys ON site_keys.id = used.site_key_id
WHERE runs.id = :run
GROUP BY (profiles.time_ns - runs.started_ns) * :columns / max(runs.duration_ns, 1)
ORDER BY to_ns;

-- @wait_time: Waits for locks, and for other things; a run where nobody waited has none.
SELECT
    iif(profiles.kind = 'lock', 'locks', 'others') AS name,
    max(min(profiles.time_ns - profiles.duration_ns - runs.started_ns), 0) AS from_ns,
    max(max(profiles.time_ns - runs.started_ns), 0) AS to_ns,
    sum(locks.wait_ns + locks.read_wait_ns) AS value
FROM runs
JOIN profiles ON profiles.run_id = runs.id AND profiles.kind IN ('lock', 'wait') AND profiles.process_id IS NOT NULL
JOIN locks ON locks.profile_id = profiles.id
WHERE runs.id = :run AND locks.wait_ns + locks.read_wait_ns > 0
GROUP BY profiles.kind, (profiles.time_ns - runs.started_ns) * :columns / max(runs.duration_ns, 1)
ORDER BY profiles.kind, to_ns;

-- @io_time: Time in calls that read, and in those that write, open and close.
SELECT
    iif(io.call IN ('read', 'pread', 'readv', 'preadv', 'recv', 'recvfrom', 'recvmsg'), 'reads', 'writes') AS name,
    max(min(profiles.time_ns - profiles.duration_ns - runs.started_ns), 0) AS from_ns,
    max(max(profiles.time_ns - runs.started_ns), 0) AS to_ns,
    sum(io.time_ns) AS value
FROM runs
JOIN profiles ON profiles.run_id = runs.id AND profiles.kind = 'io' AND profiles.process_id IS NOT NULL
JOIN io ON io.profile_id = profiles.id
WHERE runs.id = :run
GROUP BY name, (profiles.time_ns - runs.started_ns) * :columns / max(runs.duration_ns, 1)
ORDER BY name, to_ns;

-- @peak: When the process with the highest peak had most live, and how much.
SELECT at_ns, peak_bytes
FROM peaks
WHERE run_id = :run AND peak_bytes > 0
ORDER BY peak_bytes DESC, process_id
LIMIT 1
