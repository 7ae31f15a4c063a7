-- Adds the histograms of profile :from to those of profile :into.
INSERT INTO histograms(profile_id, trace_id, histogram, from_value, count)
SELECT :into, trace_id, histogram, from_value, count
FROM histograms
WHERE profile_id = :from
ON CONFLICT (profile_id, trace_id, histogram, from_value) DO UPDATE
SET count = count + excluded.count;
