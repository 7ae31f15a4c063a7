DROP VIEW IF EXISTS region_latency;
CREATE VIEW region_latency AS
-- Question: how long do the regions of a name take, most of the time and at worst?
-- Rows: one per run and name of a region (clear_region_begin, with clear profile --trace), or of a slice of an ingested trace. A condition on
--   run_id, also by a join or a subquery, reads the rows of those runs only.
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
    runs.id AS run_id,
    objects.id AS object_id,
    objects.name AS region,
    CAST(substr(used.value, 21, 20) AS INTEGER) AS count,
    CAST(substr(used.value, 41, 20) AS INTEGER) AS time_ns,
    CAST(substr(used.value, 61, 20) AS INTEGER) AS min_ns,
    CAST(substr(used.value, 81, 20) AS INTEGER) AS p50_ns,
    CAST(substr(used.value, 101, 20) AS INTEGER) AS p90_ns,
    CAST(substr(used.value, 121, 20) AS INTEGER) AS p99_ns,
    CAST(substr(used.value, 141, 20) AS INTEGER) AS p999_ns,
    CAST(substr(used.value, 161, 20) AS INTEGER) AS max_ns,
    CAST(substr(used.value, 181, 20) AS INTEGER) AS slowest_id
FROM runs
-- The sums come from json_each, as in the view heap.
JOIN json_each(
    (SELECT '["' || group_concat(sums, '","') || '"]'
     FROM (SELECT printf('%20d%20d%20d%20d%20d%20d%20d%20d%20d%20d', object_id, count(*), sum(duration_ns), min(duration_ns),
                         max(iif(rank <= (number * 50 + 99) / 100, duration_ns, 0)), max(iif(rank <= (number * 90 + 99) / 100, duration_ns, 0)),
                         max(iif(rank <= (number * 99 + 99) / 100, duration_ns, 0)),
                         max(iif(rank <= (number * 999 + 999) / 1000, duration_ns, 0)), max(duration_ns), max(iif(rank = number, id, 0))) AS sums
           FROM (SELECT events.id, events.object_id, events.duration_ns,
                        row_number() OVER (PARTITION BY events.object_id ORDER BY events.duration_ns, events.id) AS rank,
                        count(*) OVER (PARTITION BY events.object_id) AS number
                 FROM processes
                 JOIN events ON events.process_id = processes.id
                 WHERE processes.run_id = runs.id AND events.kind = 'region')
           GROUP BY object_id))) AS used
JOIN objects ON objects.id = CAST(substr(used.value, 1, 20) AS INTEGER);
