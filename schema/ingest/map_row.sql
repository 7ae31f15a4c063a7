-- Mappings of one stack in a recorded window, profile :profile.
INSERT INTO maps(profile_id, trace_id, use, label_set_id, map_count, map_bytes, unmap_count, unmap_bytes)
VALUES (:profile, :trace, :use, :labels, :map_count, :map_bytes, :unmap_count, :unmap_bytes);
