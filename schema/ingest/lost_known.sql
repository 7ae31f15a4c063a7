-- The run with the UUID :uuid, and whether it is over: then it has all that was recorded.
SELECT id, instr(' ' || flags || ' ', ' unfinished ') = 0
FROM runs
WHERE uuid = :uuid
