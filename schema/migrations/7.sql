-- From version 6 to 7: facts, which are made from the rows of each run when it ends. Their tables are made with the views, because all of it can
-- be made again.

CREATE TABLE seals (
    -- A run whose facts (the tables *_facts) are summed from its rows: at its end, and while it is recorded every few seconds. Facts of a
    -- run without a row here are missing or old; the next clear that may write the file makes them, and so does clear reseal.
    run_id     INTEGER PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    definition INTEGER NOT NULL -- [hash] of schema/facts: which definition of the facts they were made by
) STRICT;

DROP TRIGGER run_totals_site_rows_insert;
DROP TRIGGER run_totals_site_rows_delete;
DROP TRIGGER run_totals_site_rows_update;
DROP TRIGGER run_totals_locks_insert;
DROP TRIGGER run_totals_locks_delete;
DROP TRIGGER run_totals_locks_update;
DROP TRIGGER run_totals_cpu_insert;
DROP TRIGGER run_totals_cpu_delete;
DROP TRIGGER run_totals_cpu_update;
DROP TRIGGER run_totals_profiles_delete;
DROP TRIGGER run_totals_profiles_insert;
DROP TRIGGER run_totals_profiles_update;

CREATE TRIGGER run_totals_site_rows_insert AFTER INSERT ON site_rows
BEGIN
    DELETE FROM run_totals WHERE run_id = (SELECT run_id FROM profiles WHERE id = NEW.profile_id);
    DELETE FROM seals WHERE run_id = (SELECT run_id FROM profiles WHERE id = NEW.profile_id);
END;

CREATE TRIGGER run_totals_site_rows_delete AFTER DELETE ON site_rows
BEGIN
    DELETE FROM run_totals WHERE run_id = (SELECT run_id FROM profiles WHERE id = OLD.profile_id);
    DELETE FROM seals WHERE run_id = (SELECT run_id FROM profiles WHERE id = OLD.profile_id);
END;

CREATE TRIGGER run_totals_site_rows_update AFTER UPDATE ON site_rows
BEGIN
    DELETE FROM run_totals WHERE run_id IN (SELECT run_id FROM profiles WHERE id IN (OLD.profile_id, NEW.profile_id));
    DELETE FROM seals WHERE run_id IN (SELECT run_id FROM profiles WHERE id IN (OLD.profile_id, NEW.profile_id));
END;

CREATE TRIGGER run_totals_locks_insert AFTER INSERT ON locks
BEGIN
    DELETE FROM run_totals WHERE run_id = (SELECT run_id FROM profiles WHERE id = NEW.profile_id);
    DELETE FROM seals WHERE run_id = (SELECT run_id FROM profiles WHERE id = NEW.profile_id);
END;

CREATE TRIGGER run_totals_locks_delete AFTER DELETE ON locks
BEGIN
    DELETE FROM run_totals WHERE run_id = (SELECT run_id FROM profiles WHERE id = OLD.profile_id);
    DELETE FROM seals WHERE run_id = (SELECT run_id FROM profiles WHERE id = OLD.profile_id);
END;

CREATE TRIGGER run_totals_locks_update AFTER UPDATE ON locks
BEGIN
    DELETE FROM run_totals WHERE run_id IN (SELECT run_id FROM profiles WHERE id IN (OLD.profile_id, NEW.profile_id));
    DELETE FROM seals WHERE run_id IN (SELECT run_id FROM profiles WHERE id IN (OLD.profile_id, NEW.profile_id));
END;

CREATE TRIGGER run_totals_cpu_insert AFTER INSERT ON cpu
BEGIN
    DELETE FROM run_totals WHERE run_id = (SELECT run_id FROM profiles WHERE id = NEW.profile_id);
    DELETE FROM seals WHERE run_id = (SELECT run_id FROM profiles WHERE id = NEW.profile_id);
END;

CREATE TRIGGER run_totals_cpu_delete AFTER DELETE ON cpu
BEGIN
    DELETE FROM run_totals WHERE run_id = (SELECT run_id FROM profiles WHERE id = OLD.profile_id);
    DELETE FROM seals WHERE run_id = (SELECT run_id FROM profiles WHERE id = OLD.profile_id);
END;

CREATE TRIGGER run_totals_cpu_update AFTER UPDATE ON cpu
BEGIN
    DELETE FROM run_totals WHERE run_id IN (SELECT run_id FROM profiles WHERE id IN (OLD.profile_id, NEW.profile_id));
    DELETE FROM seals WHERE run_id IN (SELECT run_id FROM profiles WHERE id IN (OLD.profile_id, NEW.profile_id));
END;

CREATE TRIGGER run_totals_profiles_delete AFTER DELETE ON profiles
BEGIN
    DELETE FROM run_totals WHERE run_id = OLD.run_id;
    DELETE FROM seals WHERE run_id = OLD.run_id;
END;

CREATE TRIGGER run_totals_profiles_insert AFTER INSERT ON profiles
BEGIN
    DELETE FROM run_totals WHERE run_id = NEW.run_id;
    DELETE FROM seals WHERE run_id = NEW.run_id;
END;

CREATE TRIGGER run_totals_profiles_update AFTER UPDATE OF id, run_id, kind, dropped, truncated, sample_n, period, period_type ON profiles
BEGIN
    DELETE FROM run_totals WHERE run_id IN (OLD.run_id, NEW.run_id);
    DELETE FROM seals WHERE run_id IN (OLD.run_id, NEW.run_id);
END;

PRAGMA user_version = 7;
