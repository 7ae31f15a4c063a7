-- What the profiles of one kind of run :run that end after :from and up to :to say about themselves: one row a process (its
-- windows are one profile), else one a profile, the oldest first. Of unlike periods the greatest goes out and values are
-- added as given, as pprof merges files. Mappings and comments of windows before :from count too, for what was in use then may stand
-- in the profile. A process without a window there still has a row, which covers no time. The windows of a process are found by it (profiles_process), and
-- not by the run (+): it may have thousands of processes, as a build has.
SELECT
    coalesce(max(profiles.time_ns) FILTER (WHERE profiles.time_ns > :from), max(profiles.time_ns)) AS time_ns,
    coalesce(max(profiles.time_ns) FILTER (WHERE profiles.time_ns > :from)
             - min(profiles.time_ns - profiles.duration_ns) FILTER (WHERE profiles.time_ns > :from), 0) AS duration_ns,
    max(profiles.period),
    profiles.period_type,
    profiles.period_unit,
    profiles.default_type,
    (SELECT json_group_array(text)
     FROM (SELECT comment.value AS text
           FROM profiles AS one
           JOIN json_each(one.comments) AS comment
           WHERE (one.process_id = profiles.process_id OR one.id = profiles.id)
             AND +one.run_id = :run AND +one.kind IN (:kind, :also, :further) AND one.time_ns <= :to
           GROUP BY comment.value
           ORDER BY min(one.id), min(comment.key))) AS comments,
    profiles.drop_frames,
    profiles.keep_frames,
    profiles.doc_url,
    (SELECT json_group_array(id)
     FROM (SELECT mapping.value AS id
           FROM profiles AS one
           JOIN json_each(one.mappings) AS mapping
           LEFT JOIN mappings AS known ON known.id = mapping.value
           LEFT JOIN processes AS owner ON owner.id = one.process_id
           WHERE (one.process_id = profiles.process_id OR one.id = profiles.id)
             AND +one.run_id = :run AND +one.kind IN (:kind, :also, :further) AND one.time_ns <= :to
           GROUP BY mapping.value
           ORDER BY max(known.filename IS owner.executable) DESC, min(one.id), min(mapping.key))) AS mappings,
    coalesce(sum(profiles.dropped) FILTER (WHERE profiles.time_ns > :from), 0) AS dropped,
    coalesce(sum(profiles.truncated) FILTER (WHERE profiles.time_ns > :from), 0) AS truncated,
    max(profiles.sample_n),
    runs.command,
    runs.uuid,
    runs.label,
    runs.content_hash IS NULL AS recorded
FROM profiles
JOIN runs ON runs.id = profiles.run_id
WHERE profiles.run_id = :run AND profiles.kind IN (:kind, :also, :further) AND profiles.time_ns <= :to
GROUP BY coalesce(profiles.process_id, -profiles.id)
ORDER BY min(profiles.id);
