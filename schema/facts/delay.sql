CREATE TABLE delay_facts (
    -- A thread of a run that was ready to run and had no processor: the eight that had none for longest.
    run_id   INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    rank     INTEGER NOT NULL, -- [number] 1: the one that had none for longest
    pid      INTEGER NOT NULL, -- [number] as in processes
    tid      INTEGER NOT NULL, -- [number] as in thread_delays, with name, ran_ns and delay_ns
    name     TEXT    NOT NULL, -- [text] its name
    ran_ns   INTEGER NOT NULL, -- [ns] that it ran
    delay_ns INTEGER NOT NULL, -- [ns] that it was ready and had no processor, at least
    PRIMARY KEY (run_id, rank)
) STRICT, WITHOUT ROWID;

-- Fill
-- Needs thread_delays
INSERT INTO delay_facts(run_id, rank, pid, tid, name, ran_ns, delay_ns)
SELECT :run, rank, pid, tid, name, ran_ns, delay_ns
FROM (SELECT row_number() OVER (ORDER BY thread_delays.delay_ns DESC, processes.id, thread_delays.tid) AS rank, processes.pid, thread_delays.tid,
             thread_delays.name, thread_delays.ran_ns, thread_delays.delay_ns
      FROM processes
      CROSS JOIN thread_delays ON thread_delays.process_id = processes.id
      WHERE processes.run_id = :run) AS worst
WHERE rank <= 8;
