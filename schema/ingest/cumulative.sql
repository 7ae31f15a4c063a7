-- The statements of ingest/read/cumulative.c.

-- @series: Begins the statements series_*.sql. `series` is the profiles before :profile that its figures go on from, the newest restart and
-- later: of the same kind, label and main binary, or, where a recorded program is asked for them again and again, of the same run. Go's mutex and block profiles are of one kind and differ in nothing but their stacks:
-- those of a mutex profile unlock it, those of a block profile wait. :releases says which of the two :profile is.
WITH this AS (
    SELECT runs.id, runs.label, profiles.kind, json_extract(profiles.mappings, '$[0]') AS main
    FROM runs
    JOIN profiles ON profiles.run_id = runs.id
    WHERE profiles.id = :profile),
kin AS (
    SELECT runs.id AS run_id, runs.flags, runs.started_ns, profiles.id AS profile_id
    FROM this
    JOIN runs ON (runs.id < this.id AND runs.label IS this.label AND instr(runs.flags, 'cumulative')) OR runs.id = this.id
    JOIN profiles ON profiles.run_id = runs.id AND profiles.kind = this.kind
                 AND json_extract(profiles.mappings, '$[0]') IS this.main
    WHERE (runs.id < this.id OR (profiles.id < :profile AND profiles.process_id IS NULL)) AND (profiles.kind <> 'lock'
       OR :releases = EXISTS (SELECT 1
                              FROM locks
                              JOIN traces ON traces.id = trace_id
                              JOIN functions ON functions.id = function_id
                              WHERE profile_id = profiles.id AND functions.name GLOB '*[uU]nlock*'))),
series AS (
    SELECT *
    FROM kin
    WHERE run_id >= coalesce((SELECT max(run_id) FROM kin WHERE instr(flags, 'restart')), 0))

-- @series_heap: What the series counted of the heap, by stack and labels: the columns of struct ingest_site. Of earlier runs its allocations are
-- taken from the frees too, so that what is in use stays as in the newest snapshot; windows of one run add up to it.
SELECT trace_id, label_set_id, sum(alloc_count), sum(alloc_bytes),
       sum(CASE WHEN series.run_id = this.id THEN free_count ELSE alloc_count END),
       sum(CASE WHEN series.run_id = this.id THEN free_bytes ELSE alloc_bytes END)
FROM series
JOIN this
JOIN sites USING (profile_id)
GROUP BY 1, 2;

-- @series_heap_total: All that the series counted of the heap, as one number that only grows.
SELECT total(alloc_count) + total(alloc_bytes)
FROM series
JOIN sites USING (profile_id);

-- @series_lock: What the series counted of locks, by object, address and stack: the columns of struct ingest_lock. Kinds and maxima are no sums.
SELECT object_id, address, trace_id, 0, sum(acquires), sum(contended), sum(wait_ns), 0, sum(hold_ns),
       0, sum(read_acquires), sum(read_contended), sum(read_wait_ns), 0
FROM series
JOIN locks USING (profile_id)
GROUP BY 1, 2, 3;

-- @series_lock_total: All that the series counted of locks, as one number that only grows.
SELECT total(contended) + total(wait_ns)
FROM series
JOIN locks USING (profile_id);

-- @series_newer: A run of the series that started after the run of :profile; no row where there is none.
SELECT kin.run_id
FROM kin
WHERE started_ns > (SELECT started_ns FROM runs WHERE id = (SELECT run_id FROM profiles WHERE id = :profile))
LIMIT 1;
