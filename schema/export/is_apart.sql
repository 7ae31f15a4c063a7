-- Whether what came in run :run after :mark is in windows of its own: none was folded across it, and none from before it can have
-- been replaced, as a program's own dumps do at the end of a run.
SELECT instr(flags, 'unfinished') > 0
       AND NOT EXISTS (SELECT 1
                       FROM profiles
                       WHERE run_id = :run AND kind IN (:kind, :also, :further)
                         AND (process_id IS NULL OR (time_ns > :mark AND time_ns - duration_ns < :mark)))
FROM runs
WHERE id = :run;
