-- Is there a partition of every table for the month that begins on $1?
SELECT 1
WHERE NOT EXISTS (
    SELECT 1
    FROM pg_class AS parent
    WHERE parent.relnamespace = 'clear'::regnamespace AND parent.relkind = 'p'
      AND to_regclass(format('clear.%I', parent.relname || '_' || to_char($1::date, 'YYYYMM'))) IS NULL)
