DROP VIEW IF EXISTS hardware;
CREATE VIEW hardware AS
-- Question: what did the counters of the processor measure?
-- Rows: one per run that was counted (perf stat); its profiles are summed. Modifiers (cycles:u) and the units of hybrid
--   processors (cpu_core/cycles/u) are removed from the names, and counts that then have the same name are added.
-- Columns:
--   run_id [id]: the run
--   cycles [count]: CPU cycles; NULL, here and below: the machine does not count it
--   instructions [count]: instructions
--   ipc [ratio]: instructions per cycle
--   branches [count]: branches
--   branch_misses [count]: mispredicted branches
--   branch_miss_percent [percent]: branch_misses of branches, a whole number
--   llc_references [count]: accesses to the last-level cache: LLC-loads where they are counted, else cache-references, which perf
--     maps to the same cache on most processors
--   llc_misses [count]: LLC-load-misses or cache-misses, likewise
--   llc_miss_percent [percent]: llc_misses of llc_references, a whole number
SELECT
    runs.id AS run_id,
    CAST(CAST((SELECT value FROM json_each(counted.value) WHERE key = 0) AS REAL) AS INTEGER) AS cycles,
    CAST(CAST((SELECT value FROM json_each(counted.value) WHERE key = 1) AS REAL) AS INTEGER) AS instructions,
    CAST((SELECT value FROM json_each(counted.value) WHERE key = 1) AS REAL)
        / nullif(CAST((SELECT value FROM json_each(counted.value) WHERE key = 0) AS REAL), 0) AS ipc,
    CAST(CAST((SELECT value FROM json_each(counted.value) WHERE key = 2) AS REAL) AS INTEGER) AS branches,
    CAST(CAST((SELECT value FROM json_each(counted.value) WHERE key = 3) AS REAL) AS INTEGER) AS branch_misses,
    CAST(round(100.0 * CAST((SELECT value FROM json_each(counted.value) WHERE key = 3) AS REAL)
               / nullif(CAST((SELECT value FROM json_each(counted.value) WHERE key = 2) AS REAL), 0)) AS INTEGER) AS branch_miss_percent,
    CAST(CAST((SELECT value FROM json_each(counted.value) WHERE key = 4) AS REAL) AS INTEGER) AS llc_references,
    CAST(CAST((SELECT value FROM json_each(counted.value) WHERE key = 5) AS REAL) AS INTEGER) AS llc_misses,
    CAST(round(100.0 * CAST((SELECT value FROM json_each(counted.value) WHERE key = 5) AS REAL)
               / nullif(CAST((SELECT value FROM json_each(counted.value) WHERE key = 4) AS REAL), 0)) AS INTEGER) AS llc_miss_percent
FROM runs
-- The sums of one run, as an array of one array, so that any condition on the run arrives here: see the view heap.
JOIN json_each((
WITH
event AS (
    SELECT
        CASE WHEN counters.name GLOB '*/*/*'
             THEN substr(counters.name, instr(counters.name, '/') + 1,
                         instr(substr(counters.name, instr(counters.name, '/') + 1), '/') - 1)
             WHEN counters.name GLOB '*:*' THEN substr(counters.name, 1, instr(counters.name, ':') - 1)
             ELSE counters.name END AS name,
        counters.value
    FROM counters
    JOIN profiles ON profiles.id = counters.profile_id
    WHERE profiles.run_id = runs.id
),
figure AS (
    SELECT
        sum(value) FILTER (WHERE name IN ('cycles', 'cpu-cycles')) AS cycles,
        sum(value) FILTER (WHERE name = 'instructions') AS instructions,
        sum(value) FILTER (WHERE name IN ('branches', 'branch-instructions')) AS branches,
        sum(value) FILTER (WHERE name = 'branch-misses') AS branch_misses,
        sum(value) FILTER (WHERE name = 'cache-references') AS cache_references,
        sum(value) FILTER (WHERE name = 'cache-misses') AS cache_misses,
        sum(value) FILTER (WHERE name = 'LLC-loads') AS llc_loads,
        sum(value) FILTER (WHERE name = 'LLC-load-misses') AS llc_load_misses
    FROM event
),
cache AS (
    SELECT
        figure.*,
        iif(llc_loads > 0 AND llc_load_misses IS NOT NULL, llc_loads, cache_references) AS llc_references,
        iif(llc_loads > 0 AND llc_load_misses IS NOT NULL, llc_load_misses, cache_misses) AS llc_misses
    FROM figure
)
SELECT '[['
    || iif(cycles IS NULL, 'null', printf('%!.17g', cycles)) || ','
    || iif(instructions IS NULL, 'null', printf('%!.17g', instructions)) || ','
    || iif(branches IS NULL, 'null', printf('%!.17g', branches)) || ','
    || iif(branch_misses IS NULL, 'null', printf('%!.17g', branch_misses)) || ','
    || iif(llc_references IS NULL, 'null', printf('%!.17g', llc_references)) || ','
    || iif(llc_misses IS NULL, 'null', printf('%!.17g', llc_misses)) || ']]'
FROM cache
WHERE coalesce(cycles, instructions, branches, branch_misses, llc_references, llc_misses) IS NOT NULL
)) AS counted;
