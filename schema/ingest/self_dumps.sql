-- The statements of ingest/record/self_dumps.c.

-- @dump_comments: A warning that is about the whole run stays where the profile that it stands with goes.
UPDATE profiles
SET comments = (SELECT json_group_array(value)
                FROM (SELECT value FROM json_each(profiles.comments)
                      UNION ALL
                      SELECT said.value
                      FROM profiles AS gone
                      JOIN json_each(gone.comments) AS said
                      WHERE gone.run_id = :run AND gone.kind = :kind AND gone.id <> :profile
                        AND gone.process_id = :process
                        AND said.value GLOB '# WARNING: * processes could not be recorded*'))
WHERE id = :profile;

-- @dump_counters: What the recording cost stands with one of the run's profiles: it stays where that one goes.
UPDATE OR REPLACE counters
SET profile_id = :profile
WHERE name GLOB 'recorder.*'
  AND profile_id IN (SELECT id FROM profiles
                     WHERE run_id = :run AND kind = :kind AND id <> :profile
                       AND process_id = :process);

-- @dump_lost: A warning about run :run, with its first profile, where doctor finds it.
UPDATE profiles
SET comments = json_insert(comments, '$[#]', :text)
WHERE id = (SELECT min(id) FROM profiles WHERE run_id = :run);

-- @dump_profile: A dump that the program wrote itself, profile :profile of run :run, was taken at its end. :process may be NULL.
UPDATE profiles
SET process_id = :process,
    time_ns = (SELECT started_ns + duration_ns FROM runs WHERE id = :run),
    duration_ns = (SELECT duration_ns FROM runs WHERE id = :run)
WHERE id = :profile;

-- @dump_replaces: What the hooks recorded of :kind in the process that dumped it itself, as profile :profile.
DELETE FROM profiles
WHERE run_id = :run AND kind = :kind AND id <> :profile AND process_id = :process;

-- @dump_totals: What run :run counted in all, for the closing words of a recording.
WITH of_run AS (SELECT id FROM profiles WHERE run_id = :run),
     heap_sums AS (SELECT sum(alloc_count) AS a, sum(alloc_bytes) AS b, sum(free_count) AS c, sum(free_bytes) AS d,
                          count(DISTINCT trace_id) AS e FROM sites WHERE profile_id IN of_run),
     lock_sums AS (SELECT sum(acquires + read_acquires) AS a, count(DISTINCT object_id) AS b FROM locks
                   WHERE profile_id IN of_run),
     cell_sums AS (SELECT sum(reads + commits) AS a, count(DISTINCT object_id) AS b FROM cells
                   WHERE profile_id IN of_run),
     channel_sums AS (SELECT sum(pushes) AS a, count(DISTINCT object_id) AS b FROM channels
                      WHERE profile_id IN of_run),
     fiber_sums AS (SELECT sum(total_fibers) AS a FROM fibers WHERE profile_id IN of_run)
SELECT heap_sums.a, heap_sums.b, heap_sums.c, heap_sums.d, heap_sums.e, lock_sums.a, lock_sums.b, cell_sums.a, cell_sums.b,
       channel_sums.a, channel_sums.b, fiber_sums.a
FROM heap_sums, lock_sums, cell_sums, channel_sums, fiber_sums;
