-- The statements of query/runs/run_part.c.

-- @kind: The kind of which a run has most windows: they are counted by it where no kind is named.
SELECT kind
FROM main.profiles
WHERE run_id = :run
GROUP BY kind
ORDER BY count(DISTINCT time_ns) DESC, kind
LIMIT 1

-- @lives: What of its life is in the part.
UPDATE temp.processes
SET thread_ns = CAST(1.0 * thread_ns * (min(:to, coalesce(ended_ns, :to)) - max(:from, started_ns))
                     / max(1, coalesce(ended_ns, (SELECT started_ns + duration_ns FROM main.runs WHERE id = processes.run_id)) - started_ns)
                     AS INTEGER),
    started_ns = max(:from, started_ns),
    ended_ns = min(:to, coalesce(ended_ns, :to))

-- @profiles: The windows that end in the part. What is no window (the peak, blocks that were lost) belongs to the whole run.
INSERT INTO temp.profiles
SELECT *
FROM main.profiles
WHERE run_id = :run AND time_ns > :from AND time_ns <= :to

-- @span: The run from :from to :to, but within its time.
UPDATE temp.runs
SET duration_ns = max(0, min(:to, started_ns + duration_ns) - max(:from, started_ns)),
    started_ns = max(:from, started_ns)

-- @tables: A part of a run, as if it were the run: temporary tables and views that hide those of the file from the statements that make facts. A process
-- counts with the part of its life; the time of its threads is taken to be spread evenly.
CREATE UNIQUE INDEX temp.part_profiles ON profiles(id);

CREATE TEMP VIEW events AS
SELECT events.*
FROM main.events AS events
JOIN temp.processes ON processes.id = events.process_id
JOIN temp.runs ON runs.id = processes.run_id
JOIN main.runs AS whole ON whole.id = runs.id
WHERE events.start_ns >= runs.started_ns - whole.started_ns
  AND events.start_ns < runs.started_ns - whole.started_ns + runs.duration_ns;
