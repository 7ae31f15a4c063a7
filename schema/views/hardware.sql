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
WITH
event AS (
    SELECT
        profiles.run_id,
        CASE WHEN counters.name GLOB '*/*/*'
             THEN substr(counters.name, instr(counters.name, '/') + 1,
                         instr(substr(counters.name, instr(counters.name, '/') + 1), '/') - 1)
             WHEN counters.name GLOB '*:*' THEN substr(counters.name, 1, instr(counters.name, ':') - 1)
             ELSE counters.name END AS name,
        counters.value
    FROM counters
    JOIN profiles ON profiles.id = counters.profile_id
),
figure AS (
    SELECT
        run_id,
        sum(value) FILTER (WHERE name IN ('cycles', 'cpu-cycles')) AS cycles,
        sum(value) FILTER (WHERE name = 'instructions') AS instructions,
        sum(value) FILTER (WHERE name IN ('branches', 'branch-instructions')) AS branches,
        sum(value) FILTER (WHERE name = 'branch-misses') AS branch_misses,
        sum(value) FILTER (WHERE name = 'cache-references') AS cache_references,
        sum(value) FILTER (WHERE name = 'cache-misses') AS cache_misses,
        sum(value) FILTER (WHERE name = 'LLC-loads') AS llc_loads,
        sum(value) FILTER (WHERE name = 'LLC-load-misses') AS llc_load_misses
    FROM event
    GROUP BY run_id
),
cache AS (
    SELECT
        figure.*,
        iif(llc_loads > 0 AND llc_load_misses IS NOT NULL, llc_loads, cache_references) AS llc_references,
        iif(llc_loads > 0 AND llc_load_misses IS NOT NULL, llc_load_misses, cache_misses) AS llc_misses
    FROM figure
)
SELECT
    run_id,
    CAST(cycles AS INTEGER) AS cycles,
    CAST(instructions AS INTEGER) AS instructions,
    instructions / nullif(cycles, 0) AS ipc,
    CAST(branches AS INTEGER) AS branches,
    CAST(branch_misses AS INTEGER) AS branch_misses,
    CAST(round(100.0 * branch_misses / nullif(branches, 0)) AS INTEGER) AS branch_miss_percent,
    CAST(llc_references AS INTEGER) AS llc_references,
    CAST(llc_misses AS INTEGER) AS llc_misses,
    CAST(round(100.0 * llc_misses / nullif(llc_references, 0)) AS INTEGER) AS llc_miss_percent
FROM cache
WHERE coalesce(cycles, instructions, branches, branch_misses, llc_references, llc_misses) IS NOT NULL;
