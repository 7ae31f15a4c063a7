#include <stdlib.h>
#include <string.h>

#include "export/drop.h"
#include "export/export.h"
#include "export/kinds.h"
#include "export/rows.h"
#include "export/stored.h"
#include "query/ask.h"
#include "schema/schema.h"

/* Go's viewers open a heap profile on what is in use and a mutex profile on the delay; so do we. */
const struct kind kinds[] = {
    {"heap", "export/heap.sql", "inuse_space", "space", "bytes"},
    {"lock", "export/lock.sql", "delay", "contentions", "count"},
    {"mvcc", "export/mvcc.sql", "cow_bytes", "commits", "count"},
    {"channels", "export/channels.sql", "pushes", "pushes", "count"},
    {"cpu", "export/cpu.sql", "cpu", "cpu", "nanoseconds"},
    {0},
};

/* One profile on its way out. */
struct outgoing {
    struct db *db;
    struct rows rows;
    struct pprof_writer *writer;
    struct names names;
    const struct kind *kind; /* of a run, or … */
    bool is_stored;          /* it goes out as it came in (export/stored.h) */
    int64_t run_id;
    const char *sql; /* … the query */
};

/* One snapshot for all statements of an export, so that a recording that goes on does not show through. (db_begin would
 * take the write lock.) */
static int snapshot_begin(struct db *db, struct error *err) {
    return db_exec(db, "SAVEPOINT export", err);
}

static void snapshot_end(struct db *db) {
    struct error ignored = {0};
    (void)db_exec(db, "RELEASE export", &ignored);
}

/* ---- what a profile says about itself ---- */

enum profile_column {
    TIME,
    DURATION,
    PERIOD,
    PERIOD_TYPE,
    PERIOD_UNIT,
    DEFAULT_TYPE,
    COMMENTS,
    DROP,
    KEEP,
    URL,
    MAPPINGS,
    DROPPED,
    TRUNCATED,
    SAMPLE_N,
    COMMAND,
    UUID,
    LABEL,
    RECORDED
};

/* Sums over the run's profiles of the kind, one a process. */
struct about {
    int64_t dropped, truncated, sample_n, period, profiles;
};

static const char *text_or(sqlite3_stmt *row, int column, const char *otherwise) {
    const char *text = db_text(row, column);
    return *text ? text : otherwise;
}

static void comment(struct outgoing *out, const char *name, const char *text) {
    if (!*text) return;
    char *line = xasprintf("%s: %s", name, text);
    pprof_comment(out->writer, line);
    free(line);
}

/* Each value of a JSON array, given to `use`. */
static int each_value(struct outgoing *out, const char *json,
                      int (*use)(struct outgoing *, sqlite3_stmt *, struct error *), struct error *err) {
    sqlite3_stmt *values = db_prepare(out->db, "SELECT value FROM json_each(:json) ORDER BY key", err);
    if (!values) return -1;
    db_bind_text(values, ":json", json);
    int code;
    while ((code = db_step(out->db, values, err)) == 1)
        if (use(out, values, err) < 0) {
            sqlite3_reset(values);
            return -1;
        }
    return code;
}

static int use_comment(struct outgoing *out, sqlite3_stmt *value, struct error *err) {
    (void)err;
    pprof_comment(out->writer, db_text(value, 0));
    return 0;
}

static int use_mapping(struct outgoing *out, sqlite3_stmt *value, struct error *err) {
    uint64_t id;
    return names_mapping(&out->names, sqlite3_column_int64(value, 0), &id, err);
}

static int describe_drop_frames(struct outgoing *out, sqlite3_stmt *row, struct error *err) {
    struct buffer regex = {0};
    if (*db_text(row, DROP) || !sqlite3_column_int(row, RECORDED)) {
        pprof_frames(out->writer, db_text(row, DROP), db_text(row, KEEP));
        return 0;
    }
    int code = drop_frames(out->db, &regex, err);
    pprof_frames(out->writer, buffer_text(&regex), db_text(row, KEEP));
    buffer_free(&regex);
    return code;
}

/* What holds for all profiles of the run, from the first of them. */
static int describe_first(struct outgoing *out, sqlite3_stmt *row, struct error *err) {
    pprof_time(out->writer, sqlite3_column_int64(row, TIME), sqlite3_column_int64(row, DURATION));
    pprof_default_type(out->writer, text_or(row, DEFAULT_TYPE, out->is_stored ? "" : out->kind->default_type));
    pprof_doc_url(out->writer, db_text(row, URL));
    if (sqlite3_column_int(row, RECORDED)) {
        comment(out, "command", db_text(row, COMMAND));
        comment(out, "run", db_text(row, UUID));
        comment(out, "label", db_text(row, LABEL));
    }
    return describe_drop_frames(out, row, err);
}

static int describe_profile(struct outgoing *out, sqlite3_stmt *row, struct about *about, struct error *err) {
    int64_t period = sqlite3_column_int64(row, PERIOD), sample_n = sqlite3_column_int64(row, SAMPLE_N);
    about->dropped += sqlite3_column_int64(row, DROPPED);
    about->truncated += sqlite3_column_int64(row, TRUNCATED);
    if (sample_n > about->sample_n) about->sample_n = sample_n;
    if (period > about->period || about->profiles == 0) {
        about->period = period || out->is_stored ? period : sample_n;
        pprof_period(out->writer, text_or(row, PERIOD_TYPE, out->is_stored ? "" : out->kind->period_type),
                     text_or(row, PERIOD_UNIT, out->is_stored ? "" : out->kind->period_unit), about->period);
    }
    if (about->profiles++ == 0 && describe_first(out, row, err) < 0) return -1;
    if (each_value(out, db_text(row, COMMENTS), use_comment, err) < 0) return -1;
    return each_value(out, db_text(row, MAPPINGS), use_mapping, err);
}

/* Figures that are not exact say so in the file itself. */
static void describe_losses(struct outgoing *out, const struct about *about) {
    char *texts[] = {
        about->dropped
            ? xasprintf("WARNING: %lld samples dropped: every figure here may be too small", (long long)about->dropped)
            : NULL,
        about->truncated
            ? xasprintf("WARNING: %lld stacks truncated: their callers are missing", (long long)about->truncated)
            : NULL,
        about->sample_n > 1 ? xasprintf("sampled: every %lldth event, counted %lld times", (long long)about->sample_n,
                                        (long long)about->sample_n)
                            : NULL,
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (texts[i]) pprof_comment(out->writer, texts[i]);
        free(texts[i]);
    }
}

static int describe_run(struct outgoing *out, struct error *err) {
    struct about about = {0};
    sqlite3_stmt *rows = db_prepare(out->db, embedded_text("export/profiles.sql"), err);
    if (!rows) return -1;
    db_bind_int(rows, ":run", out->run_id);
    db_bind_text(rows, ":kind", out->kind->name);
    int code;
    while ((code = db_step(out->db, rows, err)) == 1)
        if (describe_profile(out, rows, &about, err) < 0) {
            sqlite3_reset(rows);
            return -1;
        }
    if (about.profiles == 0) /* nothing was recorded, as of a program that allocates nothing */
        pprof_default_type(out->writer, out->kind->default_type);
    describe_losses(out, &about);
    return code;
}

static int describe_query(struct outgoing *out, struct error *err) {
    struct buffer regex = {0};
    pprof_comment(out->writer, out->sql);
    int code = drop_frames(out->db, &regex, err);
    pprof_frames(out->writer, buffer_text(&regex), "");
    buffer_free(&regex);
    return code;
}

/* ---- the two ways in ---- */

static int write_all(struct outgoing *out, struct error *err) {
    if ((out->kind ? describe_run(out, err) : describe_query(out, err)) < 0) return -1;
    if (out->is_stored) return stored_write(out->db, out->run_id, out->kind->name, &out->names, err);
    if (rows_write(&out->rows, &out->names, out->writer, err) < 0) return -1;
    return out->kind ? 0 : names_find_main_mapping(&out->names, err);
}

/* The profile of the rows, once all of them are there. */
static int publish(struct outgoing *out, const char *path, struct error *err) {
    out->writer = pprof_open(path, err);
    if (!out->writer) return -1;
    names_open(&out->names, out->db, out->writer);
    int code = write_all(out, err);
    names_free(&out->names);
    if (code == 0) return pprof_close(out->writer, err);
    pprof_abandon(out->writer);
    return -1;
}

static int read_run(struct outgoing *out, struct error *err) {
    sqlite3_stmt *statement = db_prepare(out->db, embedded_text(out->kind->query), err);
    if (!statement) return -1;
    db_bind_int(statement, ":run", out->run_id);
    if (rows_open(&out->rows, statement, err) < 0) return -1;
    int code;
    while ((code = db_step(out->db, statement, err)) == 1)
        if (rows_add(&out->rows, statement, err) < 0) {
            sqlite3_reset(statement);
            return -1;
        }
    return code;
}

int export_kind(struct db *db, int64_t run_id, const struct kind *kind, const char *path, struct error *err) {
    struct outgoing out = {.db = db, .kind = kind, .run_id = run_id};
    if (snapshot_begin(db, err) < 0) return -1;
    int stored = stored_has(db, run_id, kind->name, err);
    out.is_stored = stored == 1;
    int code = stored < 0 ? -1 : stored ? 0 : read_run(&out, err);
    if (code == 0) code = publish(&out, path, err);
    rows_free(&out.rows);
    snapshot_end(db);
    return code;
}

static const struct kind *find_kind(const char *name, struct error *err) {
    struct buffer known = {0};
    const struct kind *kind = kinds;
    for (; kind->name && strcmp(kind->name, name) != 0; kind++)
        buffer_printf(&known, "%s%s", known.size ? ", " : "", kind->name);
    if (!kind->name) error_usage(err, "no kind of profile is called '%s': %s", name, buffer_text(&known));
    buffer_free(&known);
    return kind->name ? kind : NULL;
}

static int check_run_has(struct db *db, int64_t run_id, const char *kind, struct error *err) {
    sqlite3_stmt *row = db_prepare(db,
                                   "SELECT group_concat(DISTINCT kind), coalesce(max(kind = :kind), 0) FROM profiles"
                                   " WHERE run_id = :run",
                                   err);
    if (!row) return -1;
    db_bind_text(row, ":kind", kind);
    db_bind_int(row, ":run", run_id);
    int code = db_step(db, row, err);
    if (code == 1 && !sqlite3_column_int(row, 1))
        error_fail(err, "%s: run %lld has no %s profile; it has: %s", db->path, (long long)run_id, kind,
                   text_or(row, 0, "none"));
    sqlite3_reset(row);
    return err->status == ERROR_NONE ? 0 : -1;
}

int export_run(struct db *db, int64_t run_id, const char *kind, const char *path, struct error *err) {
    int stored = stored_has(db, run_id, kind, err);
    if (stored < 0) return -1;
    if (stored) return export_kind(db, run_id, &(struct kind){.name = kind}, path, err);
    const struct kind *found = find_kind(kind, err);
    if (!found || check_run_has(db, run_id, kind, err) < 0) return -1;
    return export_kind(db, run_id, found, path, err);
}

static int read_query(struct outgoing *out, struct ask *ask, struct error *err) {
    sqlite3_stmt *statement = ask_prepare(ask, out->sql, err);
    if (!statement) return -1;
    int code = ask_bind(ask, statement, NULL, 0, err);
    if (code == 0) code = rows_open(&out->rows, statement, err);
    while (code == 0 && (code = ask_step(out->db, statement, err)) == 1)
        code = rows_add(&out->rows, statement, err);
    /* The columns' names belong to the statement; after the last row only copies of them are read. */
    sqlite3_finalize(statement);
    return code;
}

int export_sql(struct db *db, const char *sql, const char *path, struct error *err) {
    struct outgoing out = {.db = db, .sql = sql};
    struct ask ask;
    if (snapshot_begin(db, err) < 0) return -1;
    ask_open(&ask, db, 0, false); /* no limit: an export is a file somebody waits for */
    int code = read_query(&out, &ask, err);
    ask_close(&ask);
    if (code == 0) code = publish(&out, path, err);
    rows_free(&out.rows);
    snapshot_end(db);
    return code;
}
