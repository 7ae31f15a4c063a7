-- What nothing reached when the process of profile :profile ended, of one stack.
INSERT INTO leaks(profile_id, trace_id, lost_count, lost_bytes, indirect_count, indirect_bytes)
VALUES (:profile, :trace, :lost_count, :lost_bytes, :indirect_count, :indirect_bytes)
ON CONFLICT (profile_id, trace_id) DO UPDATE
SET lost_count = excluded.lost_count,
    lost_bytes = excluded.lost_bytes,
    indirect_count = excluded.indirect_count,
    indirect_bytes = excluded.indirect_bytes;
