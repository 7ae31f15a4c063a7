-- What a flush knows of process :process.
UPDATE processes
SET build_id = :build,
    ended_ns = :ended,
    threads_started = :started,
    threads_most = :most,
    thread_ns = :thread_ns
WHERE id = :process;
