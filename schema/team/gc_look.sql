-- Looks at what would be deleted, all of it at one moment.
BEGIN ISOLATION LEVEL REPEATABLE READ
