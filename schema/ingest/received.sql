-- The statements of ingest/read/received.c.

-- @find: The run of a service and host that began from :from to before :until, and how many profiles it has.
SELECT id, (SELECT count(*) FROM profiles WHERE run_id = runs.id)
FROM runs
WHERE started_ns >= :from AND started_ns < :until AND source = 'received' AND command = :service AND host = :host
ORDER BY id
LIMIT 1;

-- @begin: A run that programs send profiles to.
INSERT INTO runs(uuid, command, started_ns, duration_ns, host, source, content_hash, flags)
VALUES (:uuid, :command, :started, :duration, :host, 'received', :hash, '');

-- @go_on: One more profile of the run :run, from :started to :ended.
UPDATE runs
SET started_ns = min(started_ns, :started),
    duration_ns = max(started_ns + duration_ns, :ended) - min(started_ns, :started)
WHERE id = :run;

-- @unlike_tag: What profiles of a run say differently describes none of it.
DELETE FROM tags WHERE run_id = :run AND key = :key AND value <> :value;

-- @forget_contexts: What was kept of the single profile of OTLP (base/otlp_proto.h) is not true of two.
UPDATE profiles
SET comments = (SELECT json_group_array(value) FROM json_each(comments) WHERE value NOT LIKE '#otlp:%')
WHERE run_id = :run AND instr(comments, '"#otlp:');

-- @unlike_kind: Whether the run :run has a profile of this kind with other sample types.
SELECT 1
FROM profiles
WHERE run_id = :run AND kind = :kind AND sample_types <> :types
LIMIT 1;

-- @has_states: Whether the profile :profile says what is in use.
SELECT sample_types LIKE '%inuse_%' OR sample_types NOT LIKE '%alloc_%'
FROM profiles
WHERE id = :profile;

-- @in_use: What the other profiles of the series of :profile leave in use: the columns of struct ingest_site, as what is freed. Numbers of which no
-- program has so much are garbage, and are nothing to go on from.
SELECT trace_id, label_set_id, 0, 0, CAST(total(alloc_count - free_count) AS INTEGER),
       CAST(total(alloc_bytes - free_bytes) AS INTEGER)
FROM profiles
JOIN sites ON sites.profile_id = profiles.id
WHERE run_id = :run AND kind = 'heap' AND profiles.id <> :profile
  AND :series IN (SELECT '' UNION ALL SELECT value FROM json_each(comments))
GROUP BY 1, 2
HAVING (total(alloc_count - free_count) <> 0 OR total(alloc_bytes - free_bytes) <> 0)
   AND max(abs(total(alloc_count - free_count)), abs(total(alloc_bytes - free_bytes))) < 9007199254740992;

-- @goroutines: The same of goroutines: a key, and what to take away.
SELECT trace_id, label_set_id, -CAST(total(v0) AS INTEGER)
FROM profiles
JOIN samples ON samples.profile_id = profiles.id
WHERE run_id = :run AND kind = :kind AND profiles.id <> :profile
  AND :series IN (SELECT '' UNION ALL SELECT value FROM json_each(comments))
GROUP BY 1, 2
HAVING total(v0) <> 0 AND abs(total(v0)) < 9007199254740992;

-- @count: How many profiles the run :run has.
SELECT count(*) FROM profiles WHERE run_id = :run;

-- @mark: The facts of the run :run are behind its rows, or are not: :flags.
UPDATE runs SET flags = :flags WHERE id = :run;

-- @forget_totals: Until they are summed again the view run_summary sums the rows of :run.
DELETE FROM run_totals WHERE run_id = :run;

-- @over: A run that gets no more profiles but late ones, and was not sealed since the last; :from bounds what is looked at.
SELECT id
FROM runs
WHERE started_ns BETWEEN :from AND :until AND flags = 'receiving'
LIMIT 1;
