#include "schema/figure_kinds.h"

#include <string.h>

#include "schema/db.h"
#include "schema/schema.h"

/* In the order of the enumerations. */
static const char *const units[] = {"count", "bytes", "ns", "percent", ""};
static const char *const variations[] = {"no", "live", "events", "counted", "much"};

static struct figure_kind *kinds;
static struct figure_column *columns;

static int place_of(const char *const *words, size_t count, const char *word) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(words[i], word) == 0) return (int)i;
    bug("the catalogue of figures has the word '%s'", word);
}

static enum figure_unit unit_of(const char *word) {
    return (enum figure_unit)place_of(units, sizeof units / sizeof *units, word);
}

static enum figure_variation variation_of(const char *word) {
    return (enum figure_variation)place_of(variations, sizeof variations / sizeof *variations, word);
}

static int read_kinds(struct db *db, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("report/figure_kinds.sql"), err);
    size_t count = 0;
    int code = -1;
    while (row && (code = db_step(db, row, err)) == 1) {
        kinds = xrealloc(kinds, (count + 2) * sizeof *kinds);
        kinds[count++] = (struct figure_kind){.name = xstrdup(db_text(row, 0)),
                                              .heading = xstrdup(db_text(row, 1)),
                                              .unit = unit_of(db_text(row, 2)),
                                              .variation = variation_of(db_text(row, 3)),
                                              .profile_kind = xstrdup(db_text(row, 4)),
                                              .importance = sqlite3_column_int(row, 5),
                                              .is_exact = sqlite3_column_int(row, 6) != 0,
                                              .more_is_better = sqlite3_column_int(row, 7) != 0,
                                              .is_of_runs = sqlite3_column_int(row, 8) != 0,
                                              .is_of_functions = sqlite3_column_int(row, 9) != 0};
        kinds[count] = (struct figure_kind){0};
    }
    return code;
}

static int read_columns(struct db *db, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("report/figure_columns.sql"), err);
    size_t count = 0;
    int code = -1;
    while (row && (code = db_step(db, row, err)) == 1) {
        columns = xrealloc(columns, (count + 2) * sizeof *columns);
        columns[count++] = (struct figure_column){.report = xstrdup(db_text(row, 0)),
                                                  .section = xstrdup(db_text(row, 1)),
                                                  .code = xstrdup(db_text(row, 2)),
                                                  .name = xstrdup(db_text(row, 3)),
                                                  .heading = xstrdup(db_text(row, 4)),
                                                  .unit = unit_of(db_text(row, 5)),
                                                  .variation = variation_of(db_text(row, 6))};
        columns[count] = (struct figure_column){0};
    }
    return code;
}

static void read_catalogue(void) {
    struct error err = {0}, ignored = {0};
    struct db db;
    if (kinds) return;
    if (db_open_bare(&db, "figures", &err) || db_exec(&db, embedded_text("views/figure_kinds.sql"), &err) ||
        read_kinds(&db, &err) || read_columns(&db, &err))
        bug("%s", err.message);
    db_close(&db, &ignored);
}

const struct figure_kind *figure_kinds(void) {
    read_catalogue();
    return kinds;
}

const struct figure_kind *figure_kind_find(const char *name) {
    for (const struct figure_kind *kind = figure_kinds(); kind->name; kind++)
        if (strcmp(kind->name, name) == 0) return kind;
    return NULL;
}

bool figure_is_of_sums(const char *name) {
    const struct figure_kind *kind = figure_kind_find(name);
    return kind && strcmp(kind->profile_kind, "heap") == 0;
}

const struct figure_column *figure_columns(void) {
    read_catalogue();
    return columns;
}
