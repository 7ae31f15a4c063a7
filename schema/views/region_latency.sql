DROP VIEW IF EXISTS region_latency;
CREATE VIEW region_latency AS
-- Question: how long do the regions of a name take, most of the time and at worst?
-- Rows: one per run and name of a region (clear_region_begin, with clear profile --trace), or of a slice of an ingested trace: those of
--   region_facts. A condition on run_id, also by a join or a subquery, reads the rows of those runs only.
-- Columns:
--   run_id [id]: the run
--   object_id [id]: the name, in objects
--   region [text]: the name
--   count [count]: how often it was run through
--   time_ns [ns]: sum of the times; of regions inside each other with one name, each counts
--   min_ns [ns]: the shortest
--   p50_ns [ns]: half of them took no longer. Percentiles are times that one of them took: the nearest rank
--   p90_ns [ns]: 9 of 10 took no longer
--   p99_ns [ns]: 99 of 100
--   p999_ns [ns]: 999 of 1,000
--   max_ns [ns]: the longest
--   slowest_id [id]: the longest, in events
SELECT
    region_facts.run_id,
    region_facts.object_id,
    objects.name AS region,
    region_facts.count,
    region_facts.time_ns,
    region_facts.min_ns,
    region_facts.p50_ns,
    region_facts.p90_ns,
    region_facts.p99_ns,
    region_facts.p999_ns,
    region_facts.max_ns,
    (SELECT max(events.id)
     FROM events
     WHERE events.process_id = region_facts.process_id AND events.tid = region_facts.tid AND events.start_ns = region_facts.start_ns
       AND events.duration_ns = region_facts.max_ns AND events.kind = 'region' AND events.object_id = region_facts.object_id) AS slowest_id
FROM region_facts
JOIN objects ON objects.id = region_facts.object_id;
