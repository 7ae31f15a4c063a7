-- As history/trend_subjects.sql for what sites allocated, with the scope site (NULL: and function), without the sums of runs that the view makes:
-- a stack is matched once in the file and not once a run, and rows of one subject are left to the caller to add.
WITH wanted AS MATERIALIZED (
    SELECT trace_id, 'function ' || function AS subject
    FROM place_subjects
    WHERE :scope IS NULL AND 'function ' || function GLOB :of
    UNION ALL
    SELECT trace_id, 'site ' || site
    FROM place_subjects
    WHERE 'site ' || site GLOB :of
)
SELECT profiles.run_id, :figure, wanted.subject,
       CASE :figure WHEN 'alloc_count' THEN alloc_count
                    WHEN 'alloc_bytes' THEN alloc_bytes
                    WHEN 'inuse_count' THEN alloc_count - free_count
                    WHEN 'inuse_bytes' THEN alloc_bytes - free_bytes END AS value
FROM profiles
CROSS JOIN sites ON sites.profile_id = profiles.id
CROSS JOIN wanted ON wanted.trace_id = sites.trace_id
WHERE profiles.run_id IN (SELECT value FROM json_each(:runs)) AND value <> 0;
