-- Lines of channels.txt of run :run: one a process and channel, over the windows that end after :from and up to :to.
SELECT
    channels.channel,
    sum(channels.pushes),
    sum(channels.pops),
    sum(channels.push_blocked),
    sum(channels.pop_blocked),
    max(channels.max_depth),
    max(channels.capacity)
FROM channels
JOIN profiles ON profiles.id = channels.profile_id
WHERE profiles.run_id = :run AND profiles.kind = 'channels' AND profiles.time_ns > :from AND profiles.time_ns <= :to
GROUP BY coalesce(profiles.process_id, -profiles.id), channels.channel, channels.object_id
ORDER BY
    coalesce(profiles.process_id, profiles.id),
    channels.channel,
    coalesce((SELECT place FROM run_places WHERE run_places.run_id = :run AND thing = 'object' AND run_places.id = channels.object_id), channels.object_id);
