-- More of one allocation site in a recorded window, profile :profile.
INSERT INTO site_details(profile_id, trace_id, temporary_count, calloc_count, aligned_count, realloc_count, moved_count, moved_bytes)
VALUES (:profile, :trace, :temporary, :calloc, :aligned, :realloc, :moved_count, :moved_bytes);
