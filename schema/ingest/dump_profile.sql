-- A dump that the program wrote itself, profile :profile of run :run, was taken at its end. :process may be NULL.
UPDATE profiles
SET process_id = :process,
    time_ns = (SELECT started_ns + duration_ns FROM runs WHERE id = :run),
    duration_ns = (SELECT duration_ns FROM runs WHERE id = :run)
WHERE id = :profile;
