-- Drops the partitions of months of which no run stays; of others deletes the rows. A table that is read cannot be dropped, so the list of
-- them comes first.
CREATE TEMP TABLE doomed_parts ON COMMIT DROP AS
SELECT child.relname, old.stays
FROM (SELECT runs.month, count(*) > count(doomed.run) AS stays
      FROM clear.runs
      LEFT JOIN pg_temp.doomed USING (project, month, run)
      WHERE runs.month IN (SELECT month FROM pg_temp.doomed)
      GROUP BY runs.month) AS old
JOIN pg_class AS parent ON parent.relnamespace = 'clear'::regnamespace AND parent.relkind = 'p'
JOIN pg_class AS child ON child.relnamespace = parent.relnamespace
                      AND child.relname = parent.relname || '_' || to_char(old.month, 'YYYYMM');

DO $$
DECLARE
    part record;
BEGIN
    FOR part IN SELECT relname, stays FROM pg_temp.doomed_parts ORDER BY relname LOOP
        IF part.stays THEN
            EXECUTE format('DELETE FROM clear.%I AS old USING pg_temp.doomed'
                           ' WHERE (old.project, old.month, old.run) = (doomed.project, doomed.month, doomed.run)', part.relname);
        ELSE
            EXECUTE format('DROP TABLE clear.%I', part.relname);
        END IF;
    END LOOP;
END
$$
