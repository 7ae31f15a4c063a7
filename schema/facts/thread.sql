CREATE TABLE thread_facts (
    -- The threads that one stack started, over all processes and windows of a run.
    run_id        INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    trace_id      INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack that started them
    started       INTEGER NOT NULL, -- [count] threads that it started
    ended         INTEGER NOT NULL, -- [count] threads of it that ended
    life_ns       INTEGER NOT NULL, -- [ns] sum of the lives of those
    mean_life_ns  INTEGER,          -- [ns] their mean; NULL: none ended
    short_count   INTEGER NOT NULL, -- [count] those that ended by themselves and lived less than 1 ms
    short_percent INTEGER,          -- [percent] that, of ended, a whole number; NULL: none ended
    PRIMARY KEY (run_id, trace_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE clock_read_facts (
    -- One stack of one thread that reads a clock, by samples of CPU time: of threads that do so in 5 samples or more, and in a fifth of their
    -- time.
    run_id            INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    thread            INTEGER NOT NULL, -- [number] of the thread: 1, 2, ...
    trace_id          INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack
    function          TEXT NOT NULL,    -- [text] who reads it: the first function from the leaf that is none of the clock
    file              TEXT NOT NULL,    -- [text] the source file of that function; empty: unknown
    line              INTEGER NOT NULL, -- [line] in that file; 0: unknown
    cpu_ns            INTEGER NOT NULL, -- [ns] CPU time of the stack in the thread
    thread_samples    INTEGER NOT NULL, -- [count] samples in which the thread read a clock
    thread_clock_ns   INTEGER NOT NULL, -- [ns] CPU time of those
    thread_ns         INTEGER NOT NULL, -- [ns] CPU time of the thread
    PRIMARY KEY (run_id, thread, trace_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE busy_facts (
    -- A line that waits by asking again and again: by yields, sleeps of less than a millisecond and tries that fail, 100 or more of them; or a
    -- function that reads a clock (clock_read_facts). The callers of the loop do not matter: their stacks are summed.
    run_id       INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    is_clock     INTEGER NOT NULL, -- [0 or 1] 1: it reads a clock
    trace_id     INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack that does it most
    function     TEXT,             -- [text] that reads the clock; NULL, here and below: none is read
    file         TEXT,             -- [text] its source file; empty: unknown
    line         INTEGER,          -- [line] in that file; 0: unknown
    yields       INTEGER,          -- [count] calls of sched_yield and thrd_yield; NULL, here and below: a clock is read
    failed_tries INTEGER,          -- [count] calls that only try, and would have had to wait
    short_sleeps INTEGER,          -- [count] sleeps of less than 1 ms
    sleep_ns     INTEGER,          -- [ns] how long these took
    PRIMARY KEY (run_id, is_clock, trace_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE busy_stack_facts (
    -- One stack of a row of busy_facts.
    run_id        INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    is_clock      INTEGER NOT NULL, -- [0 or 1] as in busy_facts
    busy_trace_id INTEGER NOT NULL REFERENCES traces(id), -- [id] trace_id of busy_facts
    rank          INTEGER NOT NULL, -- [number] 1: the stack that does it most, which is that one
    trace_id      INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack
    PRIMARY KEY (run_id, is_clock, busy_trace_id, rank)
) STRICT, WITHOUT ROWID;

-- Fill
-- Needs thread_use_facts
INSERT INTO thread_facts(run_id, trace_id, started, ended, life_ns, mean_life_ns, short_count, short_percent)
SELECT :run, trace_id, sum(started), sum(ended), sum(life_ns), CAST(round(1.0 * sum(life_ns) / nullif(sum(ended), 0)) AS INTEGER),
       sum(short_count), CAST(round(100.0 * sum(short_count) / nullif(sum(ended), 0)) AS INTEGER)
FROM profiles
JOIN thread_use_facts AS used ON used.profile_id = profiles.id
WHERE profiles.run_id = :run
GROUP BY trace_id;

-- The functions that read a clock are those of C, of the kernel's page [vdso], and what C++ and Rust put around them. Asked once of each function of the
-- samples, not of all of the file.
CREATE TEMP TABLE IF NOT EXISTS clock_functions (function_id INTEGER PRIMARY KEY);

DELETE FROM clock_functions;

-- Needs call_locations
INSERT INTO clock_functions
SELECT functions.id
FROM (SELECT DISTINCT function_id
      FROM call_locations
      CROSS JOIN location_lines ON location_lines.location_id = call_locations.location_id) AS met
CROSS JOIN functions ON functions.id = met.function_id
WHERE name LIKE 'clock_gettime%' OR name LIKE '__clock_gettime%' OR name LIKE '__vdso_%' OR name LIKE 'gettimeofday%'
   OR name LIKE 'std::chrono::%' OR name LIKE 'bool std::chrono::%'
   OR name LIKE '%std::time::%' OR name LIKE '<std::sys::%time::%' OR name LIKE '<core::time::%';

-- Needs clock_functions
INSERT INTO clock_read_facts(run_id, thread, trace_id, function, file, line, cpu_ns, thread_samples, thread_clock_ns, thread_ns)
WITH
-- By thread (its labels have its id) and stack.
ticked AS MATERIALIZED (
    SELECT profiles.process_id, cpu.label_set_id, cpu.trace_id, sum(cpu.samples) AS samples, sum(cpu.cpu_ns) AS cpu_ns
    FROM profiles
    JOIN cpu ON cpu.profile_id = profiles.id
    WHERE profiles.run_id = :run AND profiles.kind = 'cpu'
    GROUP BY profiles.process_id, cpu.label_set_id, cpu.trace_id
),
read AS MATERIALIZED (
    SELECT traces.id AS trace_id
    FROM call_samples
    CROSS JOIN traces ON traces.id = call_samples.trace_id
    WHERE CAST(substr(traces.stack, 2) AS INTEGER) IN (
              SELECT call_locations.location_id
              FROM call_locations
              CROSS JOIN location_lines AS leaf ON leaf.location_id = call_locations.location_id AND leaf.position = 0
              CROSS JOIN clock_functions ON clock_functions.function_id = leaf.function_id)
),
thread AS MATERIALIZED (
    SELECT process_id, label_set_id, row_number() OVER (ORDER BY process_id, label_set_id) AS number,
           sum(samples) FILTER (WHERE read.trace_id IS NOT NULL) AS samples, sum(cpu_ns) FILTER (WHERE read.trace_id IS NOT NULL) AS clock_ns,
           sum(cpu_ns) AS cpu_ns
    FROM ticked
    LEFT JOIN read ON read.trace_id = ticked.trace_id
    GROUP BY process_id, label_set_id
    HAVING sum(samples) FILTER (WHERE read.trace_id IS NOT NULL) >= 5
       AND 5 * sum(cpu_ns) FILTER (WHERE read.trace_id IS NOT NULL) >= sum(cpu_ns)
),
reading AS MATERIALIZED (
    SELECT thread.number, ticked.trace_id, ticked.cpu_ns, thread.samples, thread.clock_ns, thread.cpu_ns AS thread_ns
    FROM thread
    JOIN ticked ON ticked.process_id IS thread.process_id AND ticked.label_set_id = thread.label_set_id
    JOIN read ON read.trace_id = ticked.trace_id
),
reader AS (
    SELECT traces.id AS trace_id, functions.name, functions.filename, frame.line,
           row_number() OVER (PARTITION BY traces.id ORDER BY CAST(step.key AS INTEGER), frame.position) AS place
    FROM (SELECT DISTINCT trace_id FROM reading) AS used
    JOIN traces ON traces.id = used.trace_id
    JOIN json_each(traces.stack) AS step
    JOIN location_lines AS frame ON frame.location_id = step.value
    JOIN functions ON functions.id = frame.function_id
    LEFT JOIN clock_functions ON clock_functions.function_id = functions.id
    WHERE clock_functions.function_id IS NULL
)
SELECT :run, reading.number, reading.trace_id, reader.name, reader.filename, reader.line, reading.cpu_ns, reading.samples, reading.clock_ns,
       reading.thread_ns
FROM reading
JOIN reader ON reader.trace_id = reading.trace_id AND reader.place = 1;

-- Needs spin_use_facts or clock_read_facts
INSERT INTO busy_stack_facts(run_id, is_clock, busy_trace_id, rank, trace_id)
SELECT :run, 0, first_value(stack.trace_id) OVER line, row_number() OVER line, stack.trace_id
FROM (SELECT used.trace_id, sum(yields) + sum(failed_tries) + sum(short_sleeps) AS calls
      FROM profiles
      JOIN spin_use_facts AS used ON used.profile_id = profiles.id
      WHERE profiles.run_id = :run
      GROUP BY used.trace_id) AS stack
JOIN places ON places.trace_id = stack.trace_id
WINDOW line AS (PARTITION BY function, file, line, module, iif(line > 0, 0, stack.trace_id) ORDER BY calls DESC, stack.trace_id
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
UNION ALL
SELECT :run, 1, first_value(trace_id) OVER read, row_number() OVER read, trace_id
FROM (SELECT function, file, trace_id, sum(cpu_ns) AS cpu_ns
      FROM clock_read_facts
      WHERE run_id = :run
      GROUP BY function, file, trace_id)
WINDOW read AS (PARTITION BY function, file ORDER BY cpu_ns DESC, trace_id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW);

-- Needs busy_stack_facts
INSERT INTO busy_facts(run_id, is_clock, trace_id, yields, failed_tries, short_sleeps, sleep_ns)
SELECT :run, 0, stack.busy_trace_id, sum(yields), sum(failed_tries), sum(short_sleeps), sum(sleep_ns)
FROM profiles
JOIN spin_use_facts AS used ON used.profile_id = profiles.id
JOIN (SELECT trace_id, busy_trace_id FROM busy_stack_facts WHERE run_id = :run AND is_clock = 0) AS stack ON stack.trace_id = used.trace_id
WHERE profiles.run_id = :run
GROUP BY stack.busy_trace_id
HAVING sum(yields) + sum(failed_tries) + sum(short_sleeps) >= 100;

-- Needs busy_stack_facts
INSERT INTO busy_facts(run_id, is_clock, trace_id, function, file, line)
SELECT DISTINCT :run, 1, clock_read_facts.trace_id, function, file, line
FROM busy_stack_facts AS stack
JOIN clock_read_facts ON clock_read_facts.run_id = stack.run_id AND clock_read_facts.trace_id = stack.trace_id
WHERE stack.run_id = :run AND is_clock = 1 AND rank = 1;

-- Needs busy_stack_facts
DELETE FROM busy_stack_facts
WHERE run_id = :run AND (is_clock, busy_trace_id) NOT IN (SELECT is_clock, trace_id FROM busy_facts WHERE run_id = :run);
