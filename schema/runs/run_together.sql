-- The statements of query/runs/run_together.c.

-- @tables: Several runs, as if they were one: temporary tables that hide those of the file from the statements that make facts.
CREATE TEMP TABLE together_runs(
    run_id INTEGER PRIMARY KEY, is_killed INTEGER NOT NULL, shift_ns INTEGER NOT NULL);

-- twin: the process of the first run that has such a one.
CREATE TEMP TABLE together_processes(
    id INTEGER PRIMARY KEY, twin INTEGER NOT NULL);

-- owner: the process, or -run_id of an ingested profile.
CREATE TEMP TABLE together_addresses(
    owner INTEGER, object_id INTEGER, address INTEGER, shared INTEGER, PRIMARY KEY (owner, object_id, address)) WITHOUT ROWID;

-- Stacks that count as another one.
CREATE TEMP TABLE together_traces(
    trace_id INTEGER PRIMARY KEY, same INTEGER NOT NULL);

CREATE TEMP TABLE locks AS
SELECT *
FROM main.locks
WHERE false;

CREATE TEMP TABLE cells AS
SELECT *
FROM main.cells
WHERE false;

CREATE TEMP TABLE counters AS
SELECT *
FROM main.counters
WHERE false;

-- @first: Of the runs :runs, a JSON array of ids, the one that stands for all: the oldest. And whether some were recorded, and some are
-- of ingested files.
SELECT id, count(*) FILTER (WHERE source = 'profile') OVER (), count(*) FILTER (WHERE source <> 'profile') OVER ()
FROM main.runs
WHERE id IN (SELECT value FROM json_each(:runs))
ORDER BY started_ns, id
LIMIT 1

-- @members: All runs begin when the first one did, with their first process: a time since the start of one is a time since the start of all.
INSERT INTO temp.together_runs
SELECT run_id, is_killed, coalesce((SELECT min(started_ns) FROM main.processes WHERE run_id = :run),
                                   (SELECT started_ns FROM main.runs WHERE id = :run)) - start_ns
FROM (SELECT runs.id AS run_id, exit_signal IS NOT NULL AS is_killed,
             coalesce((SELECT min(started_ns) FROM main.processes WHERE run_id = runs.id), started_ns) AS start_ns
      FROM main.runs
      WHERE id IN (SELECT value FROM json_each(:runs)))

-- @run: Run :run becomes all of them. It ended as most of them did.
INSERT INTO temp.runs
SELECT *
FROM main.runs
WHERE id = :run

-- @sums: The figures of that run.
UPDATE temp.runs
SET label = NULL,
    command = iif(whole.commands = 1, command, whole.commands || ' commands'),
    source = iif(whole.sources = 1, source, whole.sources || ' files'),
    duration_ns = whole.duration_ns,
    symbolize_ns = whole.symbolize_ns,
    write_ns = whole.write_ns,
    sample_n = whole.sample_n,
    exit_status = usual.exit_status,
    exit_signal = usual.exit_signal,
    flags = coalesce(whole.flags, runs.flags)
FROM (SELECT count(DISTINCT command) AS commands, count(DISTINCT source) AS sources, sum(duration_ns) AS duration_ns,
             sum(symbolize_ns) AS symbolize_ns, sum(write_ns) AS write_ns, max(sample_n) AS sample_n,
             max(flags) FILTER (WHERE ' ' || flags || ' ' LIKE '% unfinished %') AS flags
      FROM temp.together_runs
      JOIN main.runs AS own ON own.id = run_id) AS whole,
     (SELECT exit_status, exit_signal
      FROM temp.together_runs
      JOIN main.runs AS own ON own.id = run_id
      GROUP BY exit_status, exit_signal
      ORDER BY count(*) DESC, min(own.id)
      LIMIT 1) AS usual

-- @processes: How a process ended that was not the first of its run is not known, and views take the one that began first for that. So is not
-- how one ended that was killed while most were not.
INSERT INTO temp.processes
SELECT *
FROM main.processes
WHERE run_id IN (SELECT run_id FROM temp.together_runs)

-- @lives: See @together_members, and for is_killed @together_processes.
UPDATE temp.processes
SET started_ns = started_ns + shift_ns + is_killed,
    ended_ns = ended_ns + shift_ns + is_killed,
    run_id = :run
FROM temp.together_runs AS own
WHERE own.run_id = processes.run_id

-- @twins: The nth process of a program in each run.
INSERT INTO temp.together_processes
SELECT id, first_value(id) OVER (PARTITION BY name, place ORDER BY run_id)
FROM (SELECT id, run_id, name, row_number() OVER (PARTITION BY run_id, name ORDER BY started_ns, id) AS place
      FROM (SELECT id, run_id, started_ns, replace(executable, rtrim(executable, replace(executable, '/', '')), '') AS name
            FROM main.processes
            WHERE run_id IN (SELECT run_id FROM temp.together_runs)))

-- @profiles: Their windows.
INSERT INTO temp.profiles
SELECT *
FROM main.profiles
WHERE run_id IN (SELECT run_id FROM temp.together_runs)

-- @windows: What threads waited for is summed by process, therefore those of twins are of one; whatever has a life keeps its own process.
UPDATE temp.profiles
SET time_ns = iif(process_id IS NULL, time_ns, time_ns + shift_ns + is_killed),
    process_id = coalesce((SELECT twin FROM temp.together_processes AS process WHERE kind = 'wait' AND process.id = profiles.process_id), process_id),
    run_id = :run
FROM temp.together_runs AS own
WHERE own.run_id = profiles.run_id

-- @keys: The indexes of the two.
CREATE UNIQUE INDEX temp.together_profiles ON profiles(id);
CREATE INDEX temp.together_kinds ON profiles(kind);

-- @places: Where a lock or a cell of one name and stack is differs from run to run. Of several the nth by address is the same one in each
-- process. The process that has most of them says which address they all get.
INSERT INTO temp.together_addresses
WITH
used AS (
    SELECT profiles.id, locks.object_id, locks.address
    FROM temp.profiles
    CROSS JOIN main.locks ON locks.profile_id = profiles.id
    UNION ALL
    SELECT profiles.id, cells.object_id, cells.address
    FROM temp.profiles
    CROSS JOIN main.cells ON cells.profile_id = profiles.id
),
owned AS (
    SELECT DISTINCT coalesce(profiles.process_id, -profiles.run_id) AS owner, used.object_id, used.address
    FROM used
    CROSS JOIN main.profiles ON profiles.id = used.id
),
placed AS (
    SELECT owner, coalesce(twin, 0) AS twin, object_id, address, row_number() OVER (PARTITION BY owner, object_id ORDER BY address) AS place,
           count(*) OVER (PARTITION BY owner, object_id) AS number
    FROM owned
    LEFT JOIN temp.together_processes AS process ON process.id = owned.owner
)
SELECT owner, object_id, address, first_value(address) OVER (PARTITION BY twin, object_id, place ORDER BY number DESC, owner)
FROM placed

-- @stacks: A program that was built again, or is at another path, has other locations, and so other stacks. Those of one signature are the
-- same in each build; of several, the nth by line. Stacks of one build are never the same.
INSERT INTO temp.together_traces
WITH
built AS MATERIALIZED (
    SELECT profiles.id, executable || ' ' || build_id AS build, replace(executable, rtrim(executable, replace(executable, '/', '')), '') AS name
    FROM temp.profiles AS window
    CROSS JOIN main.profiles ON profiles.id = window.id
    CROSS JOIN main.processes ON processes.id = profiles.process_id
),
window AS MATERIALIZED (
    SELECT built.*
    FROM built
    JOIN (SELECT name
          FROM built
          GROUP BY name
          HAVING count(DISTINCT build) > 1) AS rebuilt USING (name)
),
used AS (
    SELECT name, build, site_keys.trace_id
    FROM window
    CROSS JOIN main.site_rows ON site_rows.profile_id = window.id
    CROSS JOIN main.site_keys ON site_keys.id = site_rows.site_key_id
    UNION
    SELECT name, build, trace_id
    FROM window
    CROSS JOIN main.locks ON locks.profile_id = window.id
    UNION
    SELECT name, build, first_trace_id
    FROM window
    CROSS JOIN main.locks ON locks.profile_id = window.id
    UNION
    SELECT name, build, trace_id
    FROM window
    CROSS JOIN main.cells ON cells.profile_id = window.id
    UNION
    SELECT name, build, trace_id
    FROM window
    CROSS JOIN main.io ON io.profile_id = window.id
    UNION
    SELECT name, build, trace_id
    FROM window
    CROSS JOIN main.cpu ON cpu.profile_id = window.id
    UNION
    SELECT name, build, trace_id
    FROM window
    CROSS JOIN main.maps ON maps.profile_id = window.id
    UNION
    SELECT name, build, trace_id
    FROM window
    CROSS JOIN main.spins ON spins.profile_id = window.id
    UNION
    SELECT name, build, trace_id
    FROM window
    CROSS JOIN main.thread_starts ON thread_starts.profile_id = window.id
    UNION
    SELECT name, build, trace_id
    FROM window
    CROSS JOIN main.samples ON samples.profile_id = window.id
),
placed AS (
    SELECT trace_id, name, signature, row_number() OVER (PARTITION BY name, build, signature ORDER BY line, trace_id) AS place
    FROM (SELECT trace_id, name, min(build) AS build FROM used WHERE trace_id <> 0 GROUP BY trace_id) AS stack
    JOIN traces ON traces.id = stack.trace_id
)
SELECT trace_id, same
FROM (SELECT trace_id, first_value(trace_id) OVER (PARTITION BY name, signature, place ORDER BY trace_id) AS same FROM placed)
WHERE same <> trace_id

-- @view: A view of the table :table with those stacks, for CREATE TEMP VIEW; no row where there are none.
SELECT :table || ' AS SELECT '
       || group_concat(iif(name = 'trace_id',
                           'coalesce((SELECT same FROM temp.together_traces AS known WHERE known.trace_id = own.trace_id), own.trace_id) AS trace_id',
                           '"' || name || '"'), ', ')
       || ' FROM main.' || :table || ' AS own'
FROM pragma_table_info(:table, 'main')
WHERE EXISTS (SELECT 1 FROM temp.together_traces)
HAVING count(*) > 0

-- @locks: What else is at an address.
INSERT INTO temp.locks
SELECT locks.*
FROM temp.profiles
CROSS JOIN main.locks ON locks.profile_id = profiles.id

-- @lock_places: They get the shared addresses and stacks; one that a recorder wrote just now keeps its own.
UPDATE temp.locks
SET trace_id = coalesce((SELECT same FROM temp.together_traces AS known WHERE known.trace_id = locks.trace_id), trace_id),
    first_trace_id = coalesce((SELECT same FROM temp.together_traces AS known WHERE known.trace_id = first_trace_id), first_trace_id),
    address = coalesce((SELECT shared
                        FROM main.profiles
                        CROSS JOIN temp.together_addresses AS place
                        WHERE profiles.id = locks.profile_id AND place.owner = coalesce(profiles.process_id, -profiles.run_id)
                          AND place.object_id = locks.object_id AND place.address = locks.address), address)

-- @cells: Versioned cells.
INSERT INTO temp.cells
SELECT cells.*
FROM temp.profiles
CROSS JOIN main.cells ON cells.profile_id = profiles.id

-- @cell_places: As locks.
UPDATE temp.cells
SET trace_id = coalesce((SELECT same FROM temp.together_traces AS known WHERE known.trace_id = cells.trace_id), trace_id),
    address = coalesce((SELECT shared
                        FROM main.profiles
                        CROSS JOIN temp.together_addresses AS place
                        WHERE profiles.id = cells.profile_id AND place.owner = coalesce(profiles.process_id, -profiles.run_id)
                          AND place.object_id = cells.object_id AND place.address = cells.address), address)

-- @counters: The counters.
INSERT INTO temp.counters
SELECT counters.*
FROM temp.profiles
CROSS JOIN main.counters ON counters.profile_id = profiles.id

-- @counts: Those that rise all through a run have its figure in the last window, of which facts read the greatest.
UPDATE temp.counters
SET value = whole.value
FROM (SELECT name, sum(value) AS value
      FROM (SELECT profiles.run_id, counters.name, max(counters.value) AS value
            FROM temp.counters
            CROSS JOIN main.profiles ON profiles.id = counters.profile_id
            WHERE counters.name IN ('recorder.paused_ms', 'recorder.voluntary_switches')
            GROUP BY profiles.run_id, counters.name)
      GROUP BY name) AS whole
WHERE whole.name = counters.name

-- @rows: The indexes of the rows.
CREATE INDEX temp.together_locks ON locks(profile_id);
CREATE INDEX temp.together_cells ON cells(profile_id);
CREATE INDEX temp.together_counters ON counters(profile_id)

-- @exits: How the runs ended: "exit 0", or "exit 0 in 19 runs, signal 9 in 1".
SELECT group_concat(text || iif(kinds > 1, ' in ' || number || iif(place = 1, iif(number = 1, ' run', ' runs'), ''), ''), ', ')
FROM (SELECT text, number, count(*) OVER () AS kinds, row_number() OVER (ORDER BY number DESC, text) AS place
      FROM (SELECT CASE WHEN exit_signal IS NOT NULL THEN 'signal ' || exit_signal
                        WHEN exit_status IS NOT NULL THEN 'exit ' || exit_status
                        ELSE 'no known end' END AS text,
                   count(*) AS number
            FROM temp.together_runs
            JOIN main.runs ON runs.id = run_id
            WHERE source = 'profile'
            GROUP BY 1)
      ORDER BY place)

-- @events: What events say of a lock is made of one process at a time (schema/facts/trace.sql). Then that of twins is summed, by the places and
-- stacks that they share; the stack that is shown is of the process with most of it.
CREATE TEMP TABLE together_convoys AS
SELECT convoy.*, twin, row_number() OVER (PARTITION BY twin, shared ORDER BY time_ns DESC, process_id) AS rank
FROM (SELECT convoy_facts.*,
             coalesce((SELECT shared
                       FROM together_addresses AS place
                       WHERE place.owner = process_id AND place.object_id = convoy_facts.object_id AND place.address = convoy_facts.address),
                      address) AS shared
      FROM temp.convoy_facts) AS convoy
JOIN together_processes ON together_processes.id = process_id;

CREATE TEMP TABLE together_depths AS
SELECT depth.run_id, twin, shared, waiters, sum(depth.count) AS count
FROM temp.convoy_depth_facts AS depth
JOIN together_convoys AS convoy USING (process_id, address)
GROUP BY depth.run_id, twin, shared, waiters;

DELETE FROM temp.convoy_depth_facts;

INSERT INTO temp.convoy_depth_facts(run_id, process_id, address, waiters, count)
SELECT run_id, twin, shared, waiters, count
FROM together_depths;

DELETE FROM temp.convoy_facts;

INSERT INTO temp.convoy_facts(run_id, process_id, address, object_id, trace_id, count, time_ns, most_waiters)
SELECT run_id, twin, shared, max(iif(rank = 1, object_id, NULL)), max(iif(rank = 1, trace_id, NULL)), sum(count), sum(time_ns), max(most_waiters)
FROM together_convoys
GROUP BY run_id, twin, shared;

CREATE TEMP TABLE together_orders AS
SELECT pair.*, twin, row_number() OVER (PARTITION BY twin, min(one, other), max(one, other) ORDER BY time_ns DESC, process_id) AS rank
FROM (SELECT lock_order_facts.*,
             coalesce((SELECT shared
                       FROM together_addresses AS place
                       WHERE place.owner = process_id AND place.object_id = lock_order_facts.object_id
                         AND place.address = lock_order_facts.address), address) AS one,
             coalesce((SELECT shared
                       FROM together_addresses AS place
                       WHERE place.owner = process_id AND place.object_id = other_id AND place.address = other_address), other_address) AS other
      FROM temp.lock_order_facts) AS pair
JOIN together_processes ON together_processes.id = process_id;

DELETE FROM temp.lock_order_facts;

INSERT INTO temp.lock_order_facts(run_id, process_id, address, other_address, object_id, other_id, trace_id, back_trace_id, count, back_count,
                                  time_ns)
SELECT run_id, twin, min(one, other) AS low, max(one, other) AS high, max(iif(rank = 1, iif(one <= other, object_id, other_id), NULL)),
       max(iif(rank = 1, iif(one <= other, other_id, object_id), NULL)), max(iif(rank = 1, iif(one <= other, trace_id, back_trace_id), NULL)),
       max(iif(rank = 1, iif(one <= other, back_trace_id, trace_id), NULL)), sum(iif(one <= other, count, back_count)),
       sum(iif(one <= other, back_count, count)), sum(time_ns)
FROM together_orders
GROUP BY run_id, twin, low, high;

CREATE TEMP TABLE together_blocked AS
SELECT blocked.*, twin, row_number() OVER (PARTITION BY twin, shared, stack ORDER BY time_ns DESC, process_id) AS rank
FROM (SELECT blocked_lock_facts.*,
             coalesce((SELECT same FROM together_traces AS known WHERE known.trace_id = blocked_lock_facts.trace_id), trace_id) AS stack,
             coalesce((SELECT shared
                       FROM together_addresses AS place
                       WHERE place.owner = process_id AND place.object_id = blocked_lock_facts.object_id
                         AND place.address = blocked_lock_facts.address), address) AS shared
      FROM temp.blocked_lock_facts) AS blocked
JOIN together_processes ON together_processes.id = process_id;

DELETE FROM temp.blocked_lock_facts;

INSERT INTO temp.blocked_lock_facts(run_id, process_id, address, trace_id, object_id, waiter_trace_id, count, time_ns)
SELECT run_id, twin, shared, stack, max(iif(rank = 1, object_id, NULL)), max(iif(rank = 1, waiter_trace_id, NULL)), sum(count), sum(time_ns)
FROM together_blocked
GROUP BY run_id, twin, shared, stack;

-- @same: The stacks :ids, a JSON array, and those that count as one of them.
SELECT value
FROM json_each(:ids)
WHERE value > 0
UNION
SELECT trace_id
FROM temp.together_traces
WHERE same IN (SELECT value FROM json_each(:ids))
