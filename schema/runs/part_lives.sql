-- What of its life is in the part.
UPDATE temp.processes
SET thread_ns = CAST(1.0 * thread_ns * (min(:to, coalesce(ended_ns, :to)) - max(:from, started_ns))
                     / max(1, coalesce(ended_ns, (SELECT started_ns + duration_ns FROM main.runs WHERE id = processes.run_id)) - started_ns)
                     AS INTEGER),
    started_ns = max(:from, started_ns),
    ended_ns = min(:to, coalesce(ended_ns, :to))
