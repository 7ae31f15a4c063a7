-- A process of a run that comes from a file.
INSERT INTO processes(run_id, pid, ppid, executable, build_id, started_ns, ended_ns)
VALUES (:run, :pid, :ppid, :executable, :build_id, :started, :ended);
