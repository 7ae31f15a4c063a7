DROP VIEW IF EXISTS series_objects;
CREATE VIEW series_objects AS
-- Question: what was a figure of a lock, a cell, a channel, of what threads wait for, or of a system call, in each run?
-- Rows: one per run, figure and name of what has it
-- Columns: as those of the view series
--   run_id [id]: the run
--   started_ns [ns since epoch]: start of the run
--   figure [text]: lock_acquires, lock_contended, lock_wait_ns, lock_hold_ns; waits, wait_ns; cell_reads, cell_commits, cell_retries,
--     cell_update_failures; channel_pushes, channel_pops, channel_push_blocked, channel_pop_blocked; syscalls
--   subject [text]: lock, wait, cell, channel or syscall, and its name: of an object objects.name
--   value [unit of the figure]: the figure, not 0
--   scope [text]: the first word of the subject
SELECT
    runs.id AS run_id,
    runs.started_ns,
    figure_facts.figure,
    subjects.name AS subject,
    +figure_facts.value AS value,
    -- PostgreSQL looks at the name of the whole run, too, which is empty, where it is asked for a scope.
    CAST(substr(subjects.name, 1, instr(subjects.name || ' ', ' ') - 1) AS TEXT) AS scope
FROM runs
CROSS JOIN figure_facts
JOIN subjects ON subjects.id = figure_facts.subject_id
WHERE figure_facts.run_id = runs.id AND figure_facts.subject_id <> 0
  AND figure_facts.figure NOT IN ('cpu_ns', 'io_calls', 'io_bytes', 'io_time_ns');
