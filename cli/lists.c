#include "cli/lists.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "export/format.h"
#include "schema/schema.h"

static char *kept_term, *kept_text;

static bool keep(struct manual_entry *entry, char *term, char *text) {
    free(kept_term);
    free(kept_text);
    *entry = (struct manual_entry){kept_term = term, kept_text = text};
    return true;
}

static bool commands_entry(const char *purpose, size_t at, struct manual_entry *entry) {
    for (const struct command *command = commands; command->name; command++)
        if (strcmp(command_purposes[command->purpose], purpose) == 0 && at-- == 0)
            return keep(entry, xasprintf("clear-%s(1)", command->name), xstrdup(command->help));
    return false;
}

static bool formats_entry(size_t at, struct manual_entry *entry) {
    for (const struct export_format *format = export_formats; format->report.name; format++)
        if (at-- == 0)
            return keep(entry, xasprintf("`%s` (%s)", format->report.name, format->report.suffix),
                        xstrdup(format->report.help));
    return false;
}

static bool reports_entry(size_t at, struct manual_entry *entry) {
    const struct report_format *format = report_format_at(at);
    if (!format) return false;
    return keep(entry, xasprintf("`%s%s`", format->name, format->takes_pattern ? "=REGEX" : ""), xstrdup(format->help));
}

/* "20 percent: operations that waited, ..." */
static char *threshold_text(sqlite3_stmt *row) {
    const char *unit = db_text(row, 2);
    bool is_plain = strcmp(unit, "count") == 0 || strcmp(unit, "ratio") == 0;
    return xasprintf("%.15g%s%s: %s", sqlite3_column_double(row, 1), is_plain ? "" : " ", is_plain ? "" : unit,
                     db_text(row, 3));
}

/* "warning: allocated and never freed" */
static char *code_text(sqlite3_stmt *row) {
    return xasprintf("%s: %s", db_text(row, 1), db_text(row, 2));
}

/* The rows of a new warehouse. It is open from the first entry to the last. */
static bool row_entry(const char *sql, char *(*text)(sqlite3_stmt *), size_t at, struct manual_entry *entry) {
    static struct db db;
    struct error err = {0};
    bool is_found = false;
    if (at == 0 && db_open(&db, ":memory:", DB_WRITE, &err) < 0) bug("%s", err.message);
    sqlite3_stmt *row = db_prepare(&db, sql, &err);
    if (row) db_bind_int(row, ":at", (int64_t)at);
    if (row && db_step(&db, row, &err) == 1) is_found = keep(entry, xasprintf("`%s`", db_text(row, 0)), text(row));
    if (err.status != ERROR_NONE || (!is_found && db_close(&db, &err) < 0)) bug("%s", err.message);
    return is_found;
}

bool lists_entry(const char *name, size_t at, struct manual_entry *entry) {
    static const char of_purpose[] = "commands ";
    if (strncmp(name, of_purpose, strlen(of_purpose)) == 0) return commands_entry(name + strlen(of_purpose), at, entry);
    if (strcmp(name, "formats") == 0) return formats_entry(at, entry);
    if (strcmp(name, "reports") == 0) return reports_entry(at, entry);
    if (strcmp(name, "thresholds") == 0)
        return row_entry(embedded_text("manual/thresholds.sql"), threshold_text, at, entry);
    if (strcmp(name, "codes") == 0) return row_entry(embedded_text("manual/codes.sql"), code_text, at, entry);
    bug("no list is called '%s'", name);
}
