#include "schema/facts_needs.h"

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"

const struct facts_source facts_sources[] = {
    {"cells", "profiles", "profile_id"},
    {"channels", "profiles", "profile_id"},
    {"io", "profiles", "profile_id"},
    {"maps", "profiles", "profile_id"},
    {"spins", "profiles", "profile_id"},
    {"thread_starts", "profiles", "profile_id"},
    {"samples", "profiles", "profile_id"},
    {"counters", "profiles", "profile_id"},
    {"syscalls", "profiles", "profile_id"},
    {"fibers", "profiles", "profile_id"},
    {"schedulers", "profiles", "profile_id"},
    {"task_sites", "profiles", "profile_id"},
    {"site_details", "profiles", "profile_id"},
    {"heap_peaks", "profiles", "profile_id"},
    {"leaks", "profiles", "profile_id"},
    {"spin_loops", "processes", "process_id"},
    {"events", "processes", "process_id"},
    {"thread_delays", "processes", "process_id"},
    {NULL, NULL, NULL},
};

static const char by_profile[] = " WHERE profile_id IN (SELECT id FROM profiles WHERE run_id = :run)",
                  by_run[] = " WHERE run_id = :run";

const char *facts_condition(const char *definition) {
    const char *end = strstr(definition, ";\n"), *profile = strstr(definition, "\n    profile_id "),
               *run = strstr(definition, "\n    run_id ");
    if (profile && profile < end) return by_profile;
    return run && run < end ? by_run : NULL;
}

static bool ends_with(const char *text, const char *ending) {
    const size_t size = strlen(text), length = strlen(ending);
    return size > length && strcmp(text + size - length, ending) == 0;
}

/* The sums of windows belong to profiles, other facts to the run. A temporary table of the statements
 * themselves has rows of this run alone. */
static void add_condition(struct buffer *sql, const char *table) {
    const struct facts_source *source = facts_sources;
    while (source->table && strcmp(source->table, table) != 0)
        source++;
    if (source->table) /* layers-ok: names of clear's own */
        buffer_printf(sql, " WHERE %s IN (SELECT id FROM %s WHERE run_id = :run)", source->owner, source->owners);
    else if (ends_with(table, "_use_facts"))
        buffer_add_text(sql, by_profile);
    else if (ends_with(table, "_facts"))
        buffer_add_text(sql, by_run);
}

static int has_rows(struct db *db, const char *table, int64_t run_id, bool *has, struct error *err) {
    struct buffer sql = {0};
    buffer_printf(&sql, "SELECT EXISTS (SELECT 1 FROM %s", table); /* layers-ok: a name of clear's own */
    add_condition(&sql, table);
    buffer_add_char(&sql, ')');
    sqlite3_stmt *row = db_prepare(db, buffer_text(&sql), err);
    buffer_free(&sql);
    if (!row) return -1;
    if (sqlite3_bind_parameter_index(row, ":run")) db_bind_int(row, ":run", run_id);
    const int code = db_step(db, row, err);
    *has = code == 1 && sqlite3_column_int(row, 0);
    sqlite3_reset(row);
    return code < 0 ? -1 : 0;
}

/* `line`: tables between " or ", up to the end of the line. */
static int has_any(struct db *db, const char *line, int64_t run_id, bool *any, struct error *err) {
    static const char or [] = " or ";
    *any = false;
    while (!*any) {
        char table[64];
        const size_t size = strcspn(line, " \n");
        snprintf(table, sizeof table, "%.*s", (int)size, line);
        if (has_rows(db, table, run_id, any, err)) return -1;
        if (strncmp(line + size, or, strlen(or)) != 0) return 0;
        line += size + strlen(or);
    }
    return 0;
}

int facts_needs_met(struct db *db, const char *sql, int64_t run_id, bool *met, struct error *err) {
    static const char needs[] = "-- Needs ";
    *met = true;
    for (const char *at = sql; *met && (at = strstr(at, needs));) {
        at += strlen(needs);
        if (has_any(db, at, run_id, met, err)) return -1;
    }
    return 0;
}
