-- A bucket of a histogram of one allocation site in a recorded window, profile :profile.
INSERT INTO histograms(profile_id, trace_id, histogram, from_value, count)
VALUES (:profile, :trace, :histogram, :from, :count);
