-- Begins to read a piece of what is moved, all of it at one moment.
BEGIN ISOLATION LEVEL REPEATABLE READ;
CREATE TEMP TABLE piece (project bigint, month date, run uuid, PRIMARY KEY (project, month, run)) ON COMMIT DROP
