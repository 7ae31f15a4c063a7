-- Lines of channels.txt of run :run: one a process and channel.
SELECT
    channels.channel,
    channels.pushes,
    channels.pops,
    channels.push_blocked,
    channels.pop_blocked,
    channels.max_depth,
    channels.capacity
FROM channels
JOIN profiles ON profiles.id = channels.profile_id
WHERE profiles.run_id = :run AND profiles.kind = 'channels'
ORDER BY channels.profile_id, channels.channel, channels.object_id;
