-- The figures of the view series, in their order: name, heading, unit, how it varies, and whether it is exact, of whole runs, of functions; and
-- its place among the important ones.
SELECT figure, heading, unit, varies, is_exact, adds_up <> 'no', instr(scopes, 'function') > 0, importance
FROM figure_kinds
ORDER BY place
