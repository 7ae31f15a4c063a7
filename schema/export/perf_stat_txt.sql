-- Lines of perf-stat.txt of run :run. What clear says of itself stands beside the first profile of a run, which may be this one.
SELECT counters.name, sum(counters.value), counters.unit
FROM counters
JOIN profiles ON profiles.id = counters.profile_id
WHERE profiles.run_id = :run AND profiles.kind = 'counters' AND counters.name NOT GLOB 'recorder.*'
GROUP BY counters.name, counters.unit
ORDER BY counters.name;
