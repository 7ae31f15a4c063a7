-- The run from :from to :to, but within its time.
UPDATE temp.runs
SET duration_ns = max(0, min(:to, started_ns + duration_ns) - max(:from, started_ns)),
    started_ns = max(:from, started_ns)
