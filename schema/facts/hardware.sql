CREATE TABLE hardware_facts (
    -- What the counters of the processor measured in a run (perf stat); its profiles are summed. Modifiers (cycles:u) and the units of hybrid
    -- processors (cpu_core/cycles/u) are removed from the names, and counts that then have the same name are added.
    run_id              INTEGER PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    cycles              INTEGER, -- [count] CPU cycles; NULL, here and below: the machine does not count it
    instructions        INTEGER, -- [count] instructions
    ipc                 REAL,    -- [ratio] instructions per cycle
    branches            INTEGER, -- [count] branches
    branch_misses       INTEGER, -- [count] mispredicted branches
    branch_miss_percent INTEGER, -- [percent] branch_misses of branches, a whole number
    llc_references      INTEGER, -- [count] accesses to the last-level cache: LLC-loads where they are counted, else cache-references, which perf
                                 -- maps to the same cache on most processors
    llc_misses          INTEGER, -- [count] LLC-load-misses or cache-misses, likewise
    llc_miss_percent    INTEGER  -- [percent] llc_misses of llc_references, a whole number
) STRICT;

-- Fill
INSERT INTO hardware_facts(run_id, cycles, instructions, ipc, branches, branch_misses, branch_miss_percent, llc_references, llc_misses,
                           llc_miss_percent)
WITH
event AS (
    SELECT
        CASE WHEN counters.name GLOB '*/*/*'
             THEN substr(counters.name, instr(counters.name, '/') + 1,
                         instr(substr(counters.name, instr(counters.name, '/') + 1), '/') - 1)
             WHEN counters.name GLOB '*:*' THEN substr(counters.name, 1, instr(counters.name, ':') - 1)
             ELSE counters.name END AS name,
        counters.value
    FROM profiles
    JOIN counters ON counters.profile_id = profiles.id
    WHERE profiles.run_id = :run
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
SELECT
    :run, CAST(cycles AS INTEGER), CAST(instructions AS INTEGER), instructions / nullif(cycles, 0), CAST(branches AS INTEGER),
    CAST(branch_misses AS INTEGER), CAST(round(100.0 * branch_misses / nullif(branches, 0)) AS INTEGER), CAST(llc_references AS INTEGER),
    CAST(llc_misses AS INTEGER), CAST(round(100.0 * llc_misses / nullif(llc_references, 0)) AS INTEGER)
FROM cache
WHERE coalesce(cycles, instructions, branches, branch_misses, llc_references, llc_misses) IS NOT NULL;
