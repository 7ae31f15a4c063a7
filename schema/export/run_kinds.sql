-- The kinds of profile that run :run has, and whether :kind (or :also, NULL for none) is one of them. Counters are a table, and no profile.
SELECT
    (SELECT group_concat(kind, ', ')
     FROM (SELECT DISTINCT kind FROM profiles WHERE run_id = :run AND kind <> 'counters')),
    EXISTS (SELECT 1 FROM profiles WHERE run_id = :run AND kind IN (:kind, :also));
