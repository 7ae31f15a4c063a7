-- The windows that end in the part. What is no window (the peak, blocks that were lost) belongs to the whole run.
INSERT INTO temp.profiles
SELECT *
FROM main.profiles
WHERE run_id = :run AND time_ns > :from AND time_ns <= :to
