-- The statements of cli/trace.c.

-- @table: The same events as waits, for people. The last column becomes a line below its row.
SELECT
    start_ns,
    duration_ns AS took_ns,
    trim(thread || ' ' || tid) AS thread,
    kind,
    object || coalesce(iif(kind IN ('spawn', 'fiber', 'finish'), ' #' || value, ''), '') || iif(is_late, ' (gave up)', '') AS "what",
    coalesce(trim(coalesce(owner, '') || ' ' || owner_tid), '') AS "had by",
    iif(function <> '', 'at ' || function || place, '')
    || iif(release_function <> '', '; released at ' || release_function || release_place
                                   || iif(released_by <> coalesce(owner_tid, released_by), ' by ' || released_by, ''), '') AS "where"
FROM (
    SELECT
        *,
        iif(file <> '', printf(' %s:%d', replace(file, rtrim(file, replace(file, '/', '')), ''), line), '') AS place,
        iif(release_file <> '',
            printf(' %s:%d', replace(release_file, rtrim(release_file, replace(release_file, '/', '')), ''), release_line), '')
            AS release_place
    FROM timeline
)
WHERE run_id = :run AND start_ns + duration_ns >= :from AND start_ns <= :to
  AND (:thread IS NULL OR thread GLOB :thread OR tid = :thread)
  AND (:lock IS NULL OR object GLOB :lock OR kind GLOB :lock)
ORDER BY iif(:slowest > 0, -duration_ns, start_ns), event_id
LIMIT iif(:slowest > 0, :slowest, -1);

-- @waits: The events of a run for clear trace, as they are in the view. :thread and :lock are GLOB patterns or NULL; a thread is meant by its name or
-- id. :from and :to are ns since the start of the run. :slowest above 0: so many, the longest first; else all in the order of time.
SELECT *
FROM timeline
WHERE run_id = :run AND start_ns + duration_ns >= :from AND start_ns <= :to
  AND (:thread IS NULL OR thread GLOB :thread OR tid = :thread)
  AND (:lock IS NULL OR object GLOB :lock OR kind GLOB :lock)
ORDER BY iif(:slowest > 0, -duration_ns, start_ns), event_id
LIMIT iif(:slowest > 0, :slowest, -1);
