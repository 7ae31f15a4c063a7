DROP VIEW IF EXISTS series;
CREATE VIEW series AS
-- Question: what was a figure in each run: of the whole run, a function, an allocation site, a lock, a cell, a channel, a finding?
-- Rows: one per run, figure and subject; of findings one per finding. A figure has a row with the subject '' in every run that
--   recorded it, also where it is 0 (but counter, sample and findings have none). A subject without a row in such a run was 0 in
--   it. The values of the subjects of one scope add up to that of the subject ''.
--   Subjects are made of names, so they are the same in the next build: no addresses, lines or ids, except of a lock or cell that a
--   dump knows by its address alone.
--   Speed: a condition on run_id reads those runs only: a constant, a parameter, a subquery, IN, a join; a subquery or join not where the SELECT
--   has a sum of its own. Conditions with a constant or a parameter on figure and scope leave out what they exclude before it is read; one on
--   subject finds the functions and objects of that name in all runs, but the names of sites and findings are made of the rows of each run. So
--   ask for a function or a lock with its scope, and for totals with scope = 'run'.
--   SQLite looks through a UNION ALL only where a column has one affinity in all its parts: so all texts are cast, and all values are
--   expressions, which have none.
-- Columns:
--   run_id [id]: the run
--   started_ns [ns since epoch]: start of the run
--   figure [text]: the name of a column of other views, unit at its end. Of the scopes run, function and site: cpu_ns, alloc_count,
--     alloc_bytes, inuse_count and inuse_bytes (live at the end), peak_bytes, io_calls, io_bytes, io_time_ns. The view figure_kinds has
--     all of them: what each is, and of what
--   subject [text]: '' for the whole run; else scope and name, to be matched with GLOB: 'function parse_line', 'site parse_line parse.c
--     5f2a91c07b3d10ee' (function, file, and signature of the stack), 'lock pool:g_lock', 'wait queue:g_ready', 'cell counter+8',
--     'channel channel#1', 'syscall futex', 'finding heap-leak parse_line', 'counter instructions', 'sample wall wall/nanoseconds'
--   value [unit of the figure]: an integer; of counters a real number
--   scope [text]: run, function, site, lock, wait, cell, channel, syscall, finding, counter, sample: the first word of the subject; run
--     where the subject is empty
SELECT run_id, started_ns, figure, subject, value, scope
FROM series_runs
UNION ALL
SELECT run_id, started_ns, figure, subject, value, scope
FROM series_functions
UNION ALL
SELECT run_id, started_ns, figure, subject, value, scope
FROM series_sites
UNION ALL
SELECT run_id, started_ns, figure, subject, value, scope
FROM series_objects
UNION ALL
SELECT run_id, started_ns, figure, subject, value, scope
FROM series_counters
UNION ALL
SELECT run_id, started_ns, figure, subject, value, scope
FROM series_findings;
