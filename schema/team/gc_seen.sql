-- Looks at the names: of these runs it is known what they use.
BEGIN ISOLATION LEVEL REPEATABLE READ;
CREATE TEMP TABLE seen AS
SELECT project, month, run
FROM clear.run_names
