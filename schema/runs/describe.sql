-- The statements of query/profile/load/describe.c.

-- @default_type: The sample type that profiles of the kind :kind (or of its parts :also and :further) of the run :run show first; no row: none is named.
SELECT default_type
FROM profiles
WHERE run_id = :run AND kind IN (:kind, :also, :further) AND default_type <> ''
ORDER BY kind <> :kind, id
LIMIT 1

-- @losses: What limits the figures of the runs in the JSON array :only, the runs of a set together.
SELECT
    count(*) AS runs,
    sum((' ' || flags || ' ') GLOB '* unfinished *') AS unfinished,
    sum(dropped) AS dropped,
    sum(truncated) AS truncated,
    max(sample_n) AS sample_n,
    max(sample_bytes) AS sample_bytes,
    sum(sample_n > 1 OR sample_bytes > 1) AS sampled,
    sum(processes) AS processes,
    EXISTS (SELECT 1 FROM events WHERE process_id IN (SELECT id FROM processes WHERE run_id IN (SELECT value FROM json_each(:only)))) AS has_events
FROM run_summary
WHERE run_id IN (SELECT value FROM json_each(:only))
