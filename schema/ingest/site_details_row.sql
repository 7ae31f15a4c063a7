-- More of one allocation site in a recorded window, profile :profile.
INSERT INTO site_details(profile_id, trace_id, temporary_count, calloc_count, aligned_count, realloc_count, moved_count, moved_bytes,
                         realloc_bytes, resized_count, resized_bytes, step_count, step_bytes,
                         replaced_count, copy_step_count, copy_step_bytes, copy_growth_bytes)
VALUES (:profile, :trace, :temporary, :calloc_count, :aligned_count, :realloc_count, :moved_count, :moved_bytes,
        :realloc_bytes, :resized_count, :resized_bytes, :step_count, :step_bytes,
        :replaced_count, :copy_step_count, :copy_step_bytes, :copy_growth_bytes);
