-- The run with the UUID :uuid: id, exit status, signal that ended it (NULL: none), and whether its end is missing.
SELECT id, exit_status, exit_signal, instr(' ' || flags || ' ', ' unfinished ') > 0
FROM runs
WHERE uuid = :uuid;
