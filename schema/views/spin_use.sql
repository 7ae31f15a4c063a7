DROP VIEW IF EXISTS spin_use;
CREATE VIEW spin_use AS
-- Question: which stack waits by asking again and again: by yields, sleeps of up to 100 ms, and tries that fail?
-- Rows: one per run and stack that did so, over all its processes and windows. Yields and tries beyond the first 256 of a
--   thread are estimates from samples of one in 16. A loop that only reads a clock or a variable is not here; cpu_use has its
--   time. A condition on run_id, also by a join or a subquery, reads the rows of those runs only.
-- Columns:
--   run_id [id]: the run
--   profile_id [id]: the newest profile that has this row
--   trace_id [id]: the stack of the caller
--   function [text]: as in the view places
--   file [text]: as in the view places
--   line [line]: as in the view places
--   module [text]: as in the view places
--   yields [count]: calls of sched_yield and thrd_yield
--   short_sleeps [count]: sleeps of less than 1 ms that no signal ended
--   sleep_ns [ns]: how long these took in all
--   failed_tries [count]: calls that only try (trylock, sem_trywait, tryjoin), and would have had to wait
--   naps [count]: sleeps of 1 to 100 ms that no signal ended, and not until a moment
--   nap_ns [ns]: how long these took in all
SELECT
    profiles.run_id,
    used.profile_id,
    places.trace_id,
    places.function,
    places.file,
    places.line,
    places.module,
    used.yields,
    used.short_sleeps,
    used.sleep_ns,
    used.failed_tries,
    used.naps,
    used.nap_ns
FROM profiles
JOIN spin_use_facts AS used ON used.profile_id = profiles.id
JOIN places ON places.trace_id = used.trace_id;
