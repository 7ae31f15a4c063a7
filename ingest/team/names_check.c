#include "ingest/team/names_check.h"

static void add_bytes(struct buffer *sql, const struct name_column *column) {
    static const char *const functions[] = {[NAME_TEXT] = "text_bytes",
                                            [NAME_INT] = "int_bytes",
                                            [NAME_KEY] = "int_bytes",
                                            [NAME_KEYS] = "ints_bytes",
                                            [NAME_INTS] = "ints_bytes"};
    buffer_printf(sql, " || clear.%s(\"%s\")", functions[column->type], column->name);
}

void names_check_add_wrong(struct buffer *sql, enum source_name which) {
    const struct name_kind *kind = &name_kinds[which];
    buffer_printf(sql, "substr(sha256(clear.text_bytes('%s')", kind->thing);
    for (const struct name_column *column = kind->columns; column->name; column++)
        if (!column->is_derived) add_bytes(sql, column);
    buffer_add_text(sql, "), 1, 16) IS DISTINCT FROM clear.int_bytes(key) || clear.int_bytes(\"check\")");
}

/* One look at all rows of a statement. */
static void add_trigger(struct buffer *sql, const char *table, const char *key, const char *thing, const char *wrong) {
    /* layers-ok: names of clear's own */
    buffer_printf(sql, "CREATE OR REPLACE FUNCTION clear.\"check_%s\"() RETURNS trigger LANGUAGE plpgsql ", table);
    buffer_add_text(sql, "SET search_path = pg_catalog, pg_temp AS $$ DECLARE found_key bigint; BEGIN ");
    /* layers-ok: as above */
    buffer_printf(sql, "SELECT %s INTO found_key FROM fresh WHERE %s LIMIT 1; ", key, wrong);
    buffer_printf(sql, "IF FOUND THEN RAISE EXCEPTION '%s %% is another than its key says', found_key ", thing);
    buffer_add_text(sql, "USING ERRCODE = 'check_violation'; END IF; RETURN NULL; END $$;\n");
    /* layers-ok: as above */
    buffer_printf(sql, "DROP TRIGGER IF EXISTS own_key ON clear.\"%s\";\n", table);
    /* layers-ok: as above */
    buffer_printf(sql, "CREATE TRIGGER own_key AFTER INSERT ON clear.\"%s\" REFERENCING NEW TABLE AS fresh ", table);
    buffer_printf(sql, "FOR EACH STATEMENT EXECUTE FUNCTION clear.\"check_%s\"();\n", table);
}

void names_check_add_triggers(struct buffer *sql) {
    for (int i = SOURCE_NONE + 1; i < SOURCE_NAMES; i++) {
        struct buffer wrong = {0};
        names_check_add_wrong(&wrong, (enum source_name)i);
        add_trigger(sql, name_kinds[i].table, "key", name_kinds[i].thing, buffer_text(&wrong));
        buffer_free(&wrong);
    }
    add_trigger(sql, "projects", "project", "project",
                "substr(sha256(clear.text_bytes('project') || clear.text_bytes(name)), 1, 8)"
                " IS DISTINCT FROM clear.int_bytes(project)");
}
