-- The CPU samples of profile :profile: trace, label set, values. Rows of one stack are summed by the reader.
SELECT
    trace_id,
    label_set_id,
    samples AS "samples/count",
    cpu_ns AS "cpu/nanoseconds"
FROM cpu
WHERE profile_id = :profile;
