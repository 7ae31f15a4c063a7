-- The figures of the view series, in their order: name, unit, and whether it is exact, whether whole runs have it, and its place among the
-- important ones.
SELECT figure, unit, is_exact, adds_up <> 'no', importance
FROM figure_kinds
ORDER BY place
