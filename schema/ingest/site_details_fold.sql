-- Adds the details of sites of profile :from to those of :into.
INSERT INTO site_details(profile_id, trace_id, temporary_count, calloc_count, aligned_count, realloc_count, moved_count, moved_bytes,
                         realloc_bytes, resized_count, resized_bytes, step_count, step_bytes,
                         replaced_count, copy_step_count, copy_step_bytes, copy_growth_bytes)
SELECT :into, trace_id, temporary_count, calloc_count, aligned_count, realloc_count, moved_count, moved_bytes,
       realloc_bytes, resized_count, resized_bytes, step_count, step_bytes,
       replaced_count, copy_step_count, copy_step_bytes, copy_growth_bytes
FROM site_details
WHERE profile_id = :from
ON CONFLICT (profile_id, trace_id) DO UPDATE
SET temporary_count = temporary_count + excluded.temporary_count,
    calloc_count = calloc_count + excluded.calloc_count,
    aligned_count = aligned_count + excluded.aligned_count,
    realloc_count = realloc_count + excluded.realloc_count,
    moved_count = moved_count + excluded.moved_count,
    moved_bytes = moved_bytes + excluded.moved_bytes,
    realloc_bytes = realloc_bytes + excluded.realloc_bytes,
    resized_count = resized_count + excluded.resized_count,
    resized_bytes = resized_bytes + excluded.resized_bytes,
    step_count = step_count + excluded.step_count,
    step_bytes = step_bytes + excluded.step_bytes,
    replaced_count = replaced_count + excluded.replaced_count,
    copy_step_count = copy_step_count + excluded.copy_step_count,
    copy_step_bytes = copy_step_bytes + excluded.copy_step_bytes,
    copy_growth_bytes = copy_growth_bytes + excluded.copy_growth_bytes;
