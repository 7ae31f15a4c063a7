-- Gives the planner the sizes of tables that have none, or that have doubled, for a role that owns none of them. PostgreSQL's own autovacuum
-- does it within a minute or later. Until then the view heap_windows of one run of python3 took 208 s, and 0.2 s afterwards.
-- A table with a fifth more rows, too, and ten: of a project that came after the last ANALYZE the planner expects one row in each, and joins each with each.
-- Findings of all runs of a new project took 2.5 to 3 s, and 0.05 s since (EXPLAIN ANALYZE, without the planning).
-- Of a table with partitions it never does it: series_sites of five runs took over 100 s, and 3 s with what ANALYZE of the whole table finds.
CREATE OR REPLACE FUNCTION clear.analyze_grown() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '1s' AS $$
DECLARE
    grown regclass;
BEGIN
    IF NOT pg_try_advisory_xact_lock(4998189, 3) THEN
        RETURN; -- another one does it
    END IF;
    FOR grown IN
        SELECT c.oid
        FROM pg_class AS c
        JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname = 'clear' AND c.relkind = 'r' AND pg_relation_size(c.oid) > 0
          AND (c.reltuples < 0
               OR pg_relation_size(c.oid) / current_setting('block_size')::bigint >= 2 * greatest(c.relpages, 1)
               OR pg_stat_get_mod_since_analyze(c.oid) >= 10 + 0.2 * c.reltuples)
        ORDER BY c.oid
    LOOP
        BEGIN
            EXECUTE format('ANALYZE %s', grown);
        EXCEPTION
            WHEN lock_not_available OR undefined_table THEN NULL; -- being changed, or dropped with its month
        END;
    END LOOP;
    FOR grown IN -- by rows: PostgreSQL keeps no number of pages of these
        SELECT whole.oid
        FROM pg_class AS whole
        JOIN pg_namespace AS n ON n.oid = whole.relnamespace
        JOIN pg_inherits ON inhparent = whole.oid
        JOIN pg_class AS part ON part.oid = inhrelid
        WHERE n.nspname = 'clear' AND whole.relkind = 'p' AND part.reltuples > 0
        GROUP BY whole.oid, whole.reltuples
        HAVING sum(part.reltuples) >= 1.2 * greatest(whole.reltuples, 0.5)
        ORDER BY whole.oid
    LOOP
        BEGIN
            EXECUTE format('ANALYZE %s', grown);
        EXCEPTION
            WHEN lock_not_available OR undefined_table THEN NULL;
        END;
    END LOOP;
END
$$;
REVOKE ALL ON FUNCTION clear.analyze_grown() FROM PUBLIC;
