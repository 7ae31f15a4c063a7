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
SELECT run_id, cycles, instructions, ipc, branches, branch_misses, branch_miss_percent, llc_references, llc_misses, llc_miss_percent
FROM hardware_facts;
