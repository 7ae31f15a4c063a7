-- What one stack had live at the peak of its process, profile :profile.
INSERT INTO heap_peaks(profile_id, trace_id, peak_count, peak_bytes)
VALUES (:profile, :trace, :peak_count, :peak_bytes)
ON CONFLICT (profile_id, trace_id) DO UPDATE
SET peak_count = excluded.peak_count,
    peak_bytes = excluded.peak_bytes;
