-- Window :number (negative: from the end) of a kind of run :run: how many there are, the end of the one before, its end. Numbers
-- are those of the view windows.
WITH
ends(time_ns, number) AS (
    SELECT time_ns, row_number() OVER (ORDER BY time_ns)
    FROM (SELECT DISTINCT time_ns FROM profiles WHERE run_id = :run AND kind IN (:kind, :also))
),
wanted(number) AS (
    SELECT iif(:number < 0, (SELECT count(*) FROM ends) + 1 + :number, :number)
)
SELECT
    (SELECT count(*) FROM ends),
    (SELECT time_ns FROM ends WHERE number = (SELECT number FROM wanted) - 1),
    (SELECT time_ns FROM ends WHERE number = (SELECT number FROM wanted));
