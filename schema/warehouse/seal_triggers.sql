-- A row of :table that another program changes takes the seal of its run away, as those of site_rows, locks, cpu and profiles do (tables.sql): its
-- facts are then made again. Connections of clear run no triggers, so that recording and reading do not pay for these.

DROP TRIGGER IF EXISTS seals_:table_insert;
CREATE TRIGGER seals_:table_insert AFTER INSERT ON :table
BEGIN
    DELETE FROM seals WHERE run_id = (SELECT run_id FROM :owners WHERE id = NEW.:owner);
END;

DROP TRIGGER IF EXISTS seals_:table_delete;
CREATE TRIGGER seals_:table_delete AFTER DELETE ON :table
BEGIN
    DELETE FROM seals WHERE run_id = (SELECT run_id FROM :owners WHERE id = OLD.:owner);
END;

DROP TRIGGER IF EXISTS seals_:table_update;
CREATE TRIGGER seals_:table_update AFTER UPDATE ON :table
BEGIN
    DELETE FROM seals WHERE run_id IN (SELECT run_id FROM :owners WHERE id IN (OLD.:owner, NEW.:owner));
END;
