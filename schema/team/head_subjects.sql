-- What functions and sites allocated in the runs with the months $2 and uuids $3 (arrays, one for one) of project $1: place in the arrays, the figure
-- $4, subject, value, 0. Of those that the pattern $5 matches, which names a function or site. A stack is matched once in the project, and
-- found in each run by its place in the run's list: the lists of sites are not taken apart.
WITH wanted AS (
    SELECT month, run, number
    FROM unnest($2::date[], $3::uuid[]) WITH ORDINALITY AS item(month, run, number)
),
named AS MATERIALIZED (
    SELECT trace_id, subject
    FROM clear_views.place_subjects
    CROSS JOIN LATERAL (VALUES (CASE split_part($5, ' ', 1) WHEN 'site' THEN 'site ' || site ELSE 'function ' || function END)) AS called(subject)
    WHERE clear_views.glob($5, subject)
),
used AS MATERIALIZED (
    SELECT wanted.number, wanted.month, wanted.run, item.place, named.subject
    FROM wanted
    JOIN clear.run_names AS names ON names.project = $1 AND names.month = wanted.month AND names.run = wanted.run
    CROSS JOIN LATERAL unnest(names.traces) WITH ORDINALITY AS item(trace_id, place)
    JOIN named ON named.trace_id = item.trace_id
)
SELECT number, $4::text, subject, sum(value) AS value, 0
FROM (
    SELECT used.number, used.subject,
           CASE $4 WHEN 'alloc_count' THEN row.alloc_count[found.place]
                   WHEN 'alloc_bytes' THEN row.alloc_bytes[found.place]
                   WHEN 'inuse_count' THEN row.alloc_count[found.place] - row.free_count[found.place]
                   WHEN 'inuse_bytes' THEN row.alloc_bytes[found.place] - row.free_bytes[found.place] END AS value
    FROM used
    JOIN clear.sites AS row ON row.project = $1 AND row.month = used.month AND row.run = used.run
    CROSS JOIN LATERAL (
        SELECT used.place
        WHERE row.trace_id IS NULL AND used.place <= cardinality(row.alloc_count) -- the places are 1, 2, 3, ...
        UNION ALL
        SELECT unnest(array_positions(row.trace_id, used.place::integer))) AS found) AS site
WHERE value <> 0
GROUP BY number, subject
HAVING sum(value) <> 0 OR split_part($5, ' ', 1) = 'site' -- as those of a file: function_facts has sums, sites are summed by who asks
