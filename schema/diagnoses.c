#include "schema/diagnoses.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "schema/facts_needs.h"
#include "schema/schema.h"

#define COLUMNS "run_id, section, code, severity, subject, evidence, trace_ids, advice"

struct diagnosis {
    char *view, *text; /* text: its CREATE VIEW */
    char *why;         /* it is left out, or NULL */
    bool has_weight;
};

struct diagnoses {
    struct diagnosis *items;
    size_t count;
};

static void free_diagnoses(struct diagnoses *diagnoses) {
    for (size_t i = 0; i < diagnoses->count; i++) {
        free(diagnoses->items[i].view);
        free(diagnoses->items[i].text);
        free(diagnoses->items[i].why);
    }
    free(diagnoses->items);
}

/* ---- finding them ------------------------------------------------------------------------------------------------ */

/* Clear's own are the files of schema/doctor: "doctor/heap.sql" is the view doctor_heap. */
static bool is_own(const char *view) {
    static const char folder[] = "doctor/";
    const char *name = view + strlen("doctor_");
    for (const struct embedded *file = embedded_files; file->name; file++) {
        if (strncmp(file->name, folder, strlen(folder)) != 0) continue;
        const char *own = file->name + strlen(folder);
        size_t size = strcspn(own, ".");
        if (strlen(name) == size && sqlite3_strnicmp(own, name, (int)size) == 0) return true;
    }
    return false;
}

static int find(struct db *db, struct diagnoses *diagnoses, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("warehouse/diagnoses/diagnoses"), err);
    int code = -1;
    while (row && (code = db_step(db, row, err)) == 1) {
        if (is_own(db_text(row, 0))) continue;
        diagnoses->items = xrealloc(diagnoses->items, (diagnoses->count + 1) * sizeof *diagnoses->items);
        diagnoses->items[diagnoses->count++] =
            (struct diagnosis){.view = xstrdup(db_text(row, 0)), .text = xstrdup(db_text(row, 1))};
    }
    return code;
}

/* ---- checking one ----------------------------------------------------------------------------------------------- */

static void leave_out(struct diagnosis *diagnosis, const char *why, const char *detail) {
    if (!diagnosis->why) diagnosis->why = xasprintf("%s%s", why, detail);
}

/* Finds missing columns, if the view can be prepared at all. */
static int look_at_columns(struct db *db, struct diagnosis *diagnosis, struct error *err) {
    struct error ignored = {0};
    sqlite3_stmt *row = db_prepare(db, embedded_text("warehouse/diagnoses/diagnosis_columns"), err);
    if (!row) return -1;
    db_bind_text(row, ":view", diagnosis->view);
    if (db_step(db, row, &ignored) != 1) return 0; /* the view itself is wrong: preparing it gives the reason */
    if (*db_text(row, 0)) leave_out(diagnosis, "it has no column ", db_text(row, 0));
    diagnosis->has_weight = sqlite3_column_int(row, 1);
    sqlite3_reset(row);
    return 0;
}

static void add_name(struct buffer *sql, const char *name) {
    buffer_add_char(sql, '"');
    for (; *name; name++) {
        if (*name == '"') buffer_add_char(sql, '"');
        buffer_add_char(sql, *name);
    }
    buffer_add_char(sql, '"');
}

/* What is wrong with each row of the view, of all runs or of ?1. */
static sqlite3_stmt *prepare_rows(struct db *db, const char *view, bool of_one_run) {
    struct buffer sql = {0};
    sqlite3_stmt *statement = NULL;
    buffer_add_text(&sql, embedded_text("warehouse/diagnoses/diagnosis_rows"));
    add_name(&sql, view);
    if (of_one_run) buffer_add_text(&sql, " WHERE run_id = ?1");
    (void)sqlite3_prepare_v2(db->handle, sql.data, -1, &statement, NULL);
    buffer_free(&sql);
    return statement;
}

/* Time for preparing all of them, which takes some 0.1 ms each. One that doubles another many times takes seconds. */
#define LOOK_NS INT64_C(10000000000)

/* SQLite passes the name of the view that reads a table or calls a function. */
static int look_for_doctor(void *context, int action, const char *first, const char *second, const char *database,
                           const char *view) {
    (void)first;
    (void)database;
    if (view && sqlite3_stricmp(view, "doctor") == 0) *(bool *)context = true;
    return action == SQLITE_FUNCTION && second && !db_allows_function(second) ? SQLITE_DENY : SQLITE_OK;
}

static void look_at_text(struct db *db, struct diagnosis *diagnosis) {
    bool reads_doctor = false;
    db_limit(db, LOOK_NS);
    sqlite3_set_authorizer(db->handle, look_for_doctor, &reads_doctor);
    sqlite3_stmt *statement = prepare_rows(db, diagnosis->view, true);
    if (reads_doctor)
        leave_out(diagnosis, "it reads the view doctor, which it would be part of", "");
    else if (!statement)
        leave_out(diagnosis, sqlite3_errmsg(db->handle), "");
    sqlite3_finalize(statement);
    db_guard(db);
    db_unlimit(db);
}

/* A view of a stranger may have no end. */
#define ROWS_NS INT64_C(5000000000)
enum { ROWS_MAX = 100000 };

static void look_at_rows(struct db *db, struct diagnosis *diagnosis, int64_t run_id) {
    int code = SQLITE_ERROR, rows = 0;
    db_limit(db, ROWS_NS);
    sqlite3_stmt *statement = prepare_rows(db, diagnosis->view, true);
    if (statement) {
        sqlite3_bind_int64(statement, 1, run_id);
        while (!diagnosis->why && (code = sqlite3_step(statement)) == SQLITE_ROW) {
            if (*db_text(statement, 0)) leave_out(diagnosis, db_text(statement, 0), "");
            if (++rows > ROWS_MAX) leave_out(diagnosis, "it has more than 100,000 rows for this run", "");
        }
    }
    if (code == SQLITE_INTERRUPT) leave_out(diagnosis, "it takes longer than 5 s for this run", "");
    if (code != SQLITE_ROW && code != SQLITE_DONE) leave_out(diagnosis, sqlite3_errmsg(db->handle), "");
    sqlite3_finalize(statement);
    db_unlimit(db);
}

static int look_at_all(struct db *db, struct diagnoses *diagnoses, struct error *err) {
    int code = find(db, diagnoses, err);
    int64_t until_ns = clock_monotonic_ns() + LOOK_NS;
    for (size_t i = 0; i < diagnoses->count && code == 0; i++) {
        if (clock_monotonic_ns() >= until_ns) {
            leave_out(&diagnoses->items[i], "preparing the diagnoses before it took longer than 10 s", "");
            continue;
        }
        code = look_at_columns(db, &diagnoses->items[i], err);
        if (code == 0) look_at_text(db, &diagnoses->items[i]);
    }
    return code;
}

/* ---- trying them ------------------------------------------------------------------------------------------------ */

/* The key of `meta` whose value is a JSON array of [text of the view, why it fails]. The text is the key, so that a view that was
 * changed is tried again. */
#define FAILING "failing_diagnoses"

static int recall(struct db *db, struct diagnosis *diagnosis, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("warehouse/diagnoses/failing_diagnosis"), err);
    if (!row) return -1;
    db_bind_text(row, ":key", FAILING);
    db_bind_text(row, ":text", diagnosis->text);
    int code = db_step(db, row, err);
    if (code == 1) leave_out(diagnosis, db_text(row, 0), "");
    sqlite3_reset(row);
    return code < 0 ? -1 : 0;
}

static int find_good(struct db *db, struct diagnoses *diagnoses, struct error *err) {
    if (look_at_all(db, diagnoses, err)) return -1;
    for (size_t i = 0; i < diagnoses->count; i++)
        if (!diagnoses->items[i].why && recall(db, &diagnoses->items[i], err)) return -1;
    return 0;
}

/* About 0.3 s of work: a view that has not failed by then is accepted. */
enum { TRIAL_STEPS = 1000000, TRIAL_TURNS = 20, TRIAL_VALUE_BYTES = 1 << 20 };

static int count_turn(void *turns) {
    return ++*(int *)turns > TRIAL_TURNS;
}

/* All its rows, of all runs. */
static void try_whole(struct db *db, struct diagnosis *diagnosis) {
    int turns = 0, code = SQLITE_OK;
    db_limit(db, LOOK_NS);
    sqlite3_limit(db->handle, SQLITE_LIMIT_LENGTH, TRIAL_VALUE_BYTES);
    sqlite3_stmt *statement = prepare_rows(db, diagnosis->view, false);
    sqlite3_progress_handler(db->handle, TRIAL_STEPS, count_turn, &turns);
    while (statement && (code = sqlite3_step(statement)) == SQLITE_ROW)
        continue;
    if ((code & 0xff) == SQLITE_ERROR) leave_out(diagnosis, sqlite3_errmsg(db->handle), "");
    sqlite3_finalize(statement);
    db_unlimit(db);
}

/* [["CREATE VIEW ...", "malformed JSON"], ...]; empty if none fails. */
static void try_all(struct db *db, struct diagnoses *diagnoses, struct buffer *failing) {
    for (size_t i = 0; i < diagnoses->count; i++) {
        struct diagnosis *diagnosis = &diagnoses->items[i];
        if (diagnosis->why) continue;
        try_whole(db, diagnosis);
        if (!diagnosis->why) continue;
        buffer_add_text(failing, failing->size ? ",[" : "[[");
        buffer_add_json_string(failing, diagnosis->text, strlen(diagnosis->text));
        buffer_add_char(failing, ',');
        buffer_add_json_string(failing, diagnosis->why, strlen(diagnosis->why));
        buffer_add_char(failing, ']');
    }
    if (failing->size) buffer_add_char(failing, ']');
}

static int remember(struct db *db, const struct buffer *failing, struct error *err) {
    const char *sql = failing->size ? embedded_text("warehouse/set_meta.sql") : "DELETE FROM meta WHERE key = :key";
    sqlite3_stmt *statement = db_prepare(db, sql, err);
    if (!statement) return -1;
    db_bind_text(statement, ":key", FAILING);
    if (failing->size) db_bind_text(statement, ":value", failing->data);
    return db_run(db, statement, err);
}

static int is_known(struct db *db, const struct buffer *failing, bool *known, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, "SELECT value FROM meta WHERE key = :key", err);
    if (row) db_bind_text(row, ":key", FAILING);
    int code = row ? db_step(db, row, err) : -1;
    if (code < 0) return -1;
    *known = strcmp(code ? db_text(row, 0) : "", failing->size ? failing->data : "") == 0;
    sqlite3_reset(row);
    return 0;
}

/* ---- the view `doctor` ------------------------------------------------------------------------------------------- */

static void add_diagnosis(struct buffer *sql, const struct diagnosis *diagnosis) {
    buffer_add_text(sql, "    UNION ALL\n    SELECT " COLUMNS ",\n           iif(section = 'saturation', 0, 1), ");
    buffer_add_text(sql, diagnosis->has_weight ? "CAST(weight AS REAL)" : "-1");
    buffer_add_text(sql, "\n    FROM ");
    add_name(sql, diagnosis->view);
    buffer_add_char(sql, '\n');
}

/* The part of views/doctor.sql at which `line` stands alone. */
static const char *place_in(const char *text, const char *line) {
    const char *place = strstr(text, line);
    if (!place) bug("views/doctor.sql has no line \"%s\"", line);
    return place;
}

/* The text as SQLite stores it: "CREATE VIEW doctor AS ...", without the semicolon. A line of views/doctor.sql marks the place of the
 * users' views. What is behind another line is for them alone: the rows are in order without it. */
static void doctor_text(const struct diagnoses *diagnoses, struct buffer *sql) {
    static const char here[] = "    -- views of users\n", with[] = "\n-- with views of users\n";
    const char *text = strstr(embedded_text("views/doctor.sql"), "CREATE VIEW ");
    const char *place = place_in(text, here), *rest = place + strlen(here), *end = place_in(rest, with);
    buffer_add(sql, text, (size_t)(place - text));
    for (size_t i = 0; i < diagnoses->count; i++) {
        if (diagnoses->items[i].why) continue;
        add_diagnosis(sql, &diagnoses->items[i]);
        end = strrchr(rest, ';');
    }
    buffer_add(sql, rest, (size_t)(end - rest));
}

static int wanted_text(struct db *db, struct buffer *sql, struct error *err) {
    struct diagnoses diagnoses = {0};
    int code = find_good(db, &diagnoses, err);
    if (code == 0) doctor_text(&diagnoses, sql);
    free_diagnoses(&diagnoses);
    return code;
}

int diagnoses_are_joined(struct db *db, bool *joined, struct error *err) {
    struct buffer wanted = {0};
    int code = wanted_text(db, &wanted, err);
    sqlite3_stmt *row =
        code == 0 ? db_prepare(db, "SELECT sql FROM main.sqlite_schema WHERE name = 'doctor'", err) : NULL;
    int found = row ? db_step(db, row, err) : -1;
    if (found >= 0) *joined = found && strcmp(db_text(row, 0), buffer_text(&wanted)) == 0;
    if (row) sqlite3_reset(row);
    buffer_free(&wanted);
    return found < 0 ? -1 : 0;
}

static int join_good(struct db *db, struct error *err) {
    struct buffer sql = {0};
    int code = wanted_text(db, &sql, err) || db_exec(db, "DROP VIEW IF EXISTS main.doctor", err) ||
                       db_exec(db, buffer_text(&sql), err)
                   ? -1
                   : 0;
    buffer_free(&sql);
    return code;
}

/* `failing`: the result of try_all for all of them. */
static int try_anew(struct db *db, struct buffer *failing, bool *any, struct error *err) {
    struct diagnoses diagnoses = {0};
    int code = look_at_all(db, &diagnoses, err);
    if (code == 0) try_all(db, &diagnoses, failing);
    *any = diagnoses.count > 0;
    free_diagnoses(&diagnoses);
    return code;
}

int diagnoses_join(struct db *db, struct error *err) {
    struct buffer failing = {0};
    bool any;
    int code = try_anew(db, &failing, &any, err) || remember(db, &failing, err) || join_good(db, err) ? -1 : 0;
    buffer_free(&failing);
    return code;
}

int diagnoses_renew(struct db *db, struct error *err) {
    struct buffer failing = {0};
    bool any = false, known = true;
    int code = try_anew(db, &failing, &any, err);
    if (code == 0 && any) code = is_known(db, &failing, &known, err);
    if (code == 0 && !known && (code = db_begin(db, err)) == 0) {
        code = remember(db, &failing, err) || join_good(db, err) ? -1 : 0;
        if (code == 0)
            code = db_commit(db, err);
        else
            db_rollback(db);
    }
    buffer_free(&failing);
    return code;
}

static int make_temporary(struct db *db, const char *text, struct error *err) {
    struct buffer sql = {0};
    buffer_add_text(&sql, "DROP VIEW IF EXISTS temp.doctor; CREATE TEMP VIEW ");
    buffer_add_text(&sql, text + strlen("CREATE VIEW "));
    int code = db_exec(db, sql.data, err);
    buffer_free(&sql);
    return code;
}

int diagnoses_join_temporarily(struct db *db, struct error *err) {
    struct buffer sql = {0};
    int code = wanted_text(db, &sql, err);
    if (code == 0) code = make_temporary(db, buffer_text(&sql), err);
    buffer_free(&sql);
    return code;
}

int diagnoses_check(struct db *db, int64_t run_id, diagnosis_left_out *left_out, void *context, struct error *err) {
    struct diagnoses diagnoses = {0};
    struct buffer sql = {0};
    bool fails = false;
    int code = find_good(db, &diagnoses, err);
    for (size_t i = 0; i < diagnoses.count && code == 0; i++) {
        struct diagnosis *diagnosis = &diagnoses.items[i];
        bool was_good = !diagnosis->why;
        if (was_good) look_at_rows(db, diagnosis, run_id);
        fails |= was_good && diagnosis->why;
        if (diagnosis->why) left_out(context, diagnosis->view, diagnosis->why);
    }
    doctor_text(&diagnoses, &sql);
    if (code == 0 && fails) code = make_temporary(db, buffer_text(&sql), err);
    buffer_free(&sql);
    free_diagnoses(&diagnoses);
    return code;
}

/* ---- the findings of one run ------------------------------------------------------------------------------------- */

/* Whether `doctor` of this connection is the view that clear makes of its own diagnoses alone. */
static int is_clears_view(struct db *db, bool *own, struct error *err) {
    static const char sql[] = "SELECT (SELECT sql FROM main.sqlite_schema WHERE name = 'doctor') = :text"
                              " AND NOT EXISTS (SELECT 1 FROM temp.sqlite_schema WHERE name = 'doctor')";
    struct buffer text = {0};
    doctor_text(&(struct diagnoses){0}, &text);
    sqlite3_stmt *row = db_prepare(db, sql, err);
    if (row) db_bind_text(row, ":text", buffer_text(&text));
    const int code = row ? db_step(db, row, err) : -1;
    *own = code == 1 && sqlite3_column_int(row, 0);
    if (row) sqlite3_reset(row);
    buffer_free(&text);
    return code < 0 ? -1 : 0;
}

/* The select of the view, with the sections that can have findings. The first, saturation, needs nothing: it stays. */
static int add_needed(struct db *db, int64_t run_id, struct buffer *sql, struct error *err) {
    static const char select[] = "SELECT run_id,", joined[] = "UNION ALL\n", last[] = "              )\n";
    struct buffer text = {0};
    doctor_text(&(struct diagnoses){0}, &text);
    const char *at = place_in(buffer_text(&text), select), *end = place_in(at, joined), *rest = place_in(at, last);
    buffer_add(sql, at, (size_t)(end - at));
    int code = 0;
    for (const char *next; code == 0 && end < rest; end = next) {
        next = strstr(end + strlen(joined), joined);
        if (!next || next > rest) next = rest;
        char *section = xasprintf("%.*s", (int)(next - end), end);
        bool met;
        code = facts_needs_met(db, section, run_id, &met, err);
        if (code == 0 && met) buffer_add_text(sql, section);
        free(section);
    }
    buffer_add_text(sql, rest);
    buffer_free(&text);
    return code;
}

int diagnoses_of_run(struct db *db, int64_t run_id, struct buffer *sql, struct error *err) {
    bool own;
    if (is_clears_view(db, &own, err)) return -1;
    if (!own) {
        buffer_add_text(sql, "doctor");
        return 0;
    }
    buffer_add_char(sql, '(');
    const int code = add_needed(db, run_id, sql, err);
    buffer_add_text(sql, ") AS doctor");
    return code;
}
