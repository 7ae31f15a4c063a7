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
    CAST(used.value ->> 1 AS BIGINT) AS count,
    CAST(used.value ->> 2 AS BIGINT) AS time_ns,
    CAST(used.value ->> 3 AS BIGINT) AS min_ns,
    CAST(used.value ->> 4 AS BIGINT) AS p50_ns,
    CAST(used.value ->> 5 AS BIGINT) AS p90_ns,
    CAST(used.value ->> 6 AS BIGINT) AS p99_ns,
    CAST(used.value ->> 7 AS BIGINT) AS p999_ns,
    CAST(used.value ->> 8 AS BIGINT) AS max_ns,
    CAST(used.value ->> 9 AS BIGINT) AS slowest_id
FROM runs
-- The sums come from json_each, as in the view heap.
JOIN json_each(
    (SELECT json_group_array(sums)
     FROM (SELECT json_array(object_id, count(*), sum(duration_ns), min(duration_ns),
                             max(CASE WHEN rank <= (number * 50 + 99) / 100 THEN duration_ns ELSE 0 END),
                             max(CASE WHEN rank <= (number * 90 + 99) / 100 THEN duration_ns ELSE 0 END),
                             max(CASE WHEN rank <= (number * 99 + 99) / 100 THEN duration_ns ELSE 0 END),
                             max(CASE WHEN rank <= (number * 999 + 999) / 1000 THEN duration_ns ELSE 0 END), max(duration_ns),
                             max(CASE WHEN rank = number THEN id ELSE 0 END)) AS sums
           FROM (SELECT events.id, events.object_id, events.duration_ns,
                        row_number() OVER (PARTITION BY events.object_id ORDER BY events.duration_ns, events.id) AS rank,
                        count(*) OVER (PARTITION BY events.object_id) AS number
                 FROM processes
                 JOIN events ON events.process_id = processes.id
                 WHERE processes.run_id = runs.id AND events.kind = 'region') AS ranked
           GROUP BY object_id) AS region)) AS used ON true
JOIN objects ON objects.id = CAST(used.value ->> 0 AS BIGINT);
