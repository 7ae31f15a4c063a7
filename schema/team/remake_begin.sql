-- A store of an earlier clear has partitions of every table, and a row where there is a list for each run today. What reads the tables is made
-- again afterwards; views of somebody else that do would be lost: they are named, and nothing is changed. The second temporary function gives
-- the table `old` no partitions, and makes lists of the columns `listed` (NULL: of none); it keeps its rows, owner, triggers and privileges, so
-- that pushes go on between two tables.
CREATE FUNCTION pg_temp.refuse_readers(remade name[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    others text;
BEGIN
    SELECT string_agg(DISTINCT format('%I.%I', n.nspname, c.relname), ', ')
    INTO others
    FROM pg_depend AS d
    JOIN pg_rewrite AS r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
    JOIN pg_class AS c ON c.oid = r.ev_class
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    JOIN pg_class AS own ON d.refclassid = 'pg_class'::regclass AND own.oid = d.refobjid AND own.relname = ANY (remade)
    WHERE own.relnamespace = 'clear'::regnamespace AND n.nspname NOT IN ('clear_views', 'clear_rows');
    IF others IS NOT NULL THEN
        RAISE EXCEPTION 'views that read tables of clear must be dropped before these are made again: %', others;
    END IF;
END
$$;
CREATE FUNCTION pg_temp.remake(old name, listed name[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    whole   regclass := format('clear.%I', old)::regclass;
    keeper  name := (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = whole);
    key     text := (SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = whole AND contype = 'p');
    again   text[];
    command text;
BEGIN
    EXECUTE format('LOCK TABLE clear.%I IN ACCESS EXCLUSIVE MODE', old);
    again := ARRAY(SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = whole AND NOT tgisinternal)
        || ARRAY(SELECT format('GRANT %s ON clear.%I TO %s', privilege_type, old, coalesce(nullif(grantee, 0)::regrole::text, 'PUBLIC'))
                 FROM pg_class CROSS JOIN LATERAL aclexplode(relacl)
                 WHERE pg_class.oid = whole)
        || ARRAY(SELECT format('GRANT %s (%I) ON clear.%I TO %s', privilege_type, attname, old,
                               coalesce(nullif(grantee, 0)::regrole::text, 'PUBLIC'))
                 FROM pg_attribute CROSS JOIN LATERAL aclexplode(attacl)
                 WHERE attrelid = whole AND attnum > 0 AND NOT attisdropped);
    EXECUTE format('CREATE TABLE clear.%I (LIKE clear.%I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE)', 'new_' || old, old);
    IF listed IS NULL THEN
        EXECUTE format('INSERT INTO clear.%I SELECT * FROM clear.%I', 'new_' || old, old);
    ELSE
        EXECUTE (SELECT format('ALTER TABLE clear.%I %s', 'new_' || old,
                               string_agg(format('ALTER COLUMN %I TYPE bigint[] USING NULL', item), ', '))
                 FROM unnest(listed) AS item);
        EXECUTE (SELECT format('INSERT INTO clear.%I(project, month, run, place, %s) SELECT project, month, run, 1, %s FROM clear.%I'
                               ' GROUP BY project, month, run', 'new_' || old, string_agg(format('%I', item), ', '),
                               string_agg(format('array_agg(%I ORDER BY place)', item), ', '), old)
                 FROM unnest(listed) AS item);
    END IF;
    EXECUTE format('DROP TABLE clear.%I', old);
    EXECUTE format('ALTER TABLE clear.%I RENAME TO %I', 'new_' || old, old);
    EXECUTE format('ALTER TABLE clear.%I ADD CONSTRAINT %I %s', old, old || '_pkey', key);
    EXECUTE format('ALTER TABLE clear.%I OWNER TO %I', old, keeper);
    FOREACH command IN ARRAY again LOOP
        EXECUTE command;
    END LOOP;
END
$$
