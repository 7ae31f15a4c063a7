-- The figures of the view series, in their order: name, heading, unit, how it varies, the kind of profile it is recorded with, its place among
-- the important ones; whether it is exact, whether more of it is better, whether whole runs have it, and functions.
SELECT figure, heading, unit, varies, profile_kind, importance, is_exact, better = 'higher', adds_up <> 'no',
       ' ' || scopes || ' ' LIKE '% function %'
FROM figure_kinds
ORDER BY place
