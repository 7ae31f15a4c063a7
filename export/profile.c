#include <stdlib.h>
#include <string.h>

#include "export/describe.h"
#include "export/export.h"
#include "export/file.h"
#include "export/format.h"
#include "export/kinds.h"
#include "export/stored.h"
#include "export/unpack.h"
#include "query/profile/compare.h"
#include "query/profile/load.h"
#include "query/sql/saved.h"

struct export_series {
    struct rows rows;
    int64_t until_ns;
};

/* One profile on its way out. */
struct outgoing {
    struct db *db;
    const struct export_request *request;
    struct rows rows, base;
    struct timespan *spans; /* of each run of the source */
    bool is_stored;         /* it goes out as it came in */
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

/* ---- reading a source ---- */

int export_check(struct db *db, int64_t run_id, const char *kind, struct error *err) {
    if (kind_is_table(kind))
        return error_usage(err, "%s are figures without stacks, and no profile: clear query \"SELECT * FROM %s\"", kind,
                           kind);
    sqlite3_stmt *row = db_prepare(db,
                                   "SELECT group_concat(DISTINCT kind) FILTER (WHERE kind <> 'counters'),"
                                   " coalesce(max(kind IN (:kind, :also)), 0)"
                                   " FROM profiles WHERE run_id = :run",
                                   err);
    if (!row) return -1;
    kind_bind(row, kind);
    db_bind_int(row, ":run", run_id);
    int code = db_step(db, row, err);
    if (code == 1 && !sqlite3_column_int(row, 1))
        error_fail(err, "%s: run %lld has no %s profile; it has: %s", db->path, (long long)run_id, kind,
                   *db_text(row, 0) ? db_text(row, 0) : "none");
    sqlite3_reset(row);
    return err->status == ERROR_NONE ? 0 : -1;
}

/* A word that no run of the file knows is a slip of the pen; what another run has is a matter of this run. */
static int check_kind(struct db *db, const char *kind, struct error *err) {
    if (kind_find(kind)->name) return 0;
    sqlite3_stmt *row =
        db_prepare(db, "SELECT group_concat(DISTINCT kind), coalesce(max(kind = :kind), 0) FROM profiles", err);
    if (!row) return -1;
    db_bind_text(row, ":kind", kind);
    if (db_step(db, row, err) == 1 && !sqlite3_column_int(row, 1)) {
        struct buffer known = {0};
        for (const struct kind *one = kinds; one->name; one++)
            buffer_printf(&known, "%s%s", known.size ? ", " : "", one->name);
        error_usage(err, "no kind of profile is called '%s': %s; this file has: %s", kind, buffer_text(&known),
                    *db_text(row, 0) ? db_text(row, 0) : "none");
        buffer_free(&known);
    }
    sqlite3_reset(row);
    return err->status == ERROR_NONE ? 0 : -1;
}

/* 1 where what came since the mark is in windows of its own: none was folded across it, and none that was told can have been
 * replaced, as a program's own dumps do at the end of a run. */
static int is_apart(struct outgoing *out, int64_t run_id, const char *kind, int64_t mark_ns, struct error *err) {
    sqlite3_stmt *row = db_prepare(
        out->db,
        "SELECT instr(flags, 'unfinished') > 0 AND NOT EXISTS"
        " (SELECT 1 FROM profiles WHERE run_id = :run AND kind IN (:kind, :also)"
        "  AND (process_id IS NULL OR (time_ns > :mark AND time_ns - duration_ns < :mark))) FROM runs WHERE id = :run",
        err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    db_bind_int(row, ":mark", mark_ns);
    kind_bind(row, kind);
    int code = db_step(out->db, row, err);
    if (code == 1) code = sqlite3_column_int(row, 0);
    sqlite3_reset(row);
    return code;
}

/* In the snapshot in which the windows are read: a flush between the two could fold the newest into one that ends later. */
static int newest_window(struct db *db, int64_t run_id, int64_t *end_ns, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, "SELECT coalesce(max(time_ns), 0) FROM profiles WHERE run_id = :run", err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    if (db_step(db, row, err) < 0) return -1;
    *end_ns = sqlite3_column_int64(row, 0);
    sqlite3_reset(row);
    return 0;
}

/* Of the series' rows, which know what was told: what came since is added to them, or all is read again. What they then say of
 * themselves is of the time since. */
static int read_series(struct outgoing *out, int64_t run_id, struct rows *rows, struct timespan *span,
                       struct error *err) {
    const char *kind = out->request->source.kind;
    if (newest_window(out->db, run_id, &span->to_ns, err) < 0) return -1;
    int64_t mark_ns = span->from_ns = out->request->series->until_ns;
    const struct timespan all = {INT64_MIN, span->to_ns};
    int apart = mark_ns && rows->columns.items && rows_are_sums(rows) ? is_apart(out, run_id, kind, mark_ns, err) : 0;
    if (apart < 0) return -1;
    if (!apart) rows_restart(rows);
    int code = apart ? kind_read_more(rows, out->db, run_id, kind, span, err)
                     : kind_read(rows, out->db, run_id, kind, &all, err);
    rows->sparse = true;
    return code;
}

static int find_span(struct outgoing *out, const struct export_source *source, int64_t run_id, struct timespan *span,
                     struct error *err) {
    if (!source->exact) return timespan_find(out->db, run_id, source->kind, &source->span, span, err);
    *span = *source->exact;
    return 0;
}

static int read_run(struct outgoing *out, const struct export_source *source, size_t index, struct rows *rows,
                    struct timespan *span, struct error *err) {
    int64_t run_id = source->runs.ids[index];
    if (!out->request->allows_none && export_check(out->db, run_id, source->kind, err) < 0) return -1;
    if (out->request->series) return read_series(out, run_id, rows, span, err);
    if (find_span(out, source, run_id, span, err) < 0) return -1;
    return kind_read(rows, out->db, run_id, source->kind, span, err);
}

/* `spans`, where it is not NULL, are those of the runs. */
static int read_runs(struct outgoing *out, const struct export_source *source, struct rows *rows,
                     struct timespan *spans, struct error *err) {
    if (check_kind(out->db, source->kind, err) < 0) return -1;
    for (size_t i = 0; i < source->runs.count; i++) {
        struct timespan span;
        if (read_run(out, source, i, rows, &span, err) < 0) return -1;
        if (spans) spans[i] = span;
    }
    return 0;
}

/* The arguments with run=ID before them, or as they are for run 0. */
static int bind_query(struct ask *ask, sqlite3_stmt *statement, const struct export_source *source, int64_t run_id,
                      struct error *err) {
    size_t count = source->argument_count;
    char **arguments = xcalloc(count + 1, sizeof *arguments);
    for (size_t i = 0; i < count; i++)
        arguments[i] = source->arguments[i];
    if (run_id) arguments[count] = xasprintf("run=%lld", (long long)run_id);
    if (run_id) count++;
    int code = source->query ? saved_bind(ask, statement, source->query, arguments, count, err)
                             : ask_bind(ask, statement, arguments, count, err);
    if (run_id) free(arguments[count - 1]);
    free(arguments);
    return code;
}

static int read_once(struct ask *ask, sqlite3_stmt *statement, const struct export_source *source, int64_t run_id,
                     struct rows *rows, struct error *err) {
    int code = bind_query(ask, statement, source, run_id, err);
    if (code == 0 && !rows->columns.items) code = rows_open(rows, statement, err);
    rows->named = true;
    while (code == 0 && (code = ask_step(ask->db, statement, err)) == 1)
        code = rows_add(rows, statement, err);
    return code;
}

static int read_query(struct db *db, const struct export_source *source, struct rows *rows, struct error *err) {
    struct ask ask;
    ask_open(&ask, db, 0, false); /* no limit: an export is a file somebody waits for */
    sqlite3_stmt *statement = ask_prepare(&ask, source->sql, err);
    int code = statement ? 0 : -1;
    if (code == 0 && source->runs.count == 0) code = read_once(&ask, statement, source, 0, rows, err);
    for (size_t i = 0; code == 0 && i < source->runs.count; i++)
        code = read_once(&ask, statement, source, source->runs.ids[i], rows, err);
    sqlite3_finalize(statement);
    ask_close(&ask);
    return code;
}

static int read_source(struct outgoing *out, const struct export_source *source, struct rows *rows,
                       struct timespan *spans, struct error *err) {
    return source->kind ? read_runs(out, source, rows, spans, err) : read_query(out->db, source, rows, err);
}

/* One run of one kind that was ingested, and nothing taken away from it. */
static int find_stored(struct outgoing *out, struct error *err) {
    const struct export_source *source = &out->request->source;
    if (!source->kind || source->runs.count != 1 || out->request->has_base || out->request->series || source->exact ||
        timespan_is_wanted(&source->span))
        return 0;
    int has = stored_has(out->db, source->runs.ids[0], kind_stored(source->kind), err);
    out->is_stored = has == 1;
    return has < 0 ? -1 : 0;
}

static int read_all(struct outgoing *out, struct error *err) {
    if (find_stored(out, err) < 0) return -1;
    if (out->is_stored) return 0; /* read while it is written */
    if (read_source(out, &out->request->source, &out->rows, out->spans, err) < 0) return -1;
    if (!out->request->has_base) return 0;
    if (read_source(out, &out->request->base, &out->base, NULL, err) < 0) return error_prefix(err, "base: ");
    return 0;
}

/* ---- writing ---- */

static bool is_pprof(const struct export_request *request) {
    return !request->format || !request->format->report.write;
}

static int write_base(struct outgoing *out, struct names *names, struct pprof_writer *writer, struct error *err) {
    const struct export_source *base = &out->request->base;
    char *line = base->kind ? xasprintf("base: %zu run%s, the first is %lld", base->runs.count,
                                        base->runs.count == 1 ? "" : "s", (long long)base->runs.ids[0])
                            : xasprintf("base: %s", base->sql);
    pprof_comment(writer, line);
    free(line);
    if (rows_write_base(&out->base, &out->rows, names, writer, err) < 0) return error_prefix(err, "base: ");
    return 0;
}

/* A window that was folded across the mark would make it begin too early. */
static void describe_series(const struct outgoing *out, struct pprof_writer *writer) {
    const struct timespan *span = &out->spans[0];
    if (span->from_ns > 0) pprof_time(writer, span->to_ns, span->to_ns - span->from_ns);
}

static int write_all(struct outgoing *out, struct names *names, struct pprof_writer *writer, struct error *err) {
    const struct export_source *source = &out->request->source;
    int code = source->kind
                   ? describe_runs(out->db, &source->runs, out->spans, source->kind, out->is_stored, names, writer, err)
                   : describe_query(out->db, source->sql, writer, err);
    if (code < 0) return -1;
    if (out->request->series) describe_series(out, writer);
    if (out->is_stored) {
        if (is_pprof(out->request) && out->request->type) pprof_default_type(writer, out->request->type);
        return stored_write(out->db, source->runs.ids[0], kind_stored(source->kind), names, err);
    }
    /* Other formats choose for themselves, of the finished profile. */
    if (rows_types(&out->rows, is_pprof(out->request) ? out->request->type : NULL, writer, err) < 0) return -1;
    if (rows_write(&out->rows, names, writer, err) < 0) return -1;
    if (out->request->has_base && write_base(out, names, writer, err) < 0) return -1;
    return source->kind ? 0 : names_find_main_mapping(names, err);
}

static int fill(struct outgoing *out, struct pprof_writer *writer, struct error *err) {
    struct names names;
    names_open(&names, out->db, writer);
    int code = write_all(out, &names, writer, err);
    names_free(&names);
    return code;
}

static int open_output(const struct export_request *request, bool binary, struct file *file, struct error *err) {
    if (!request->bytes) return file_open(file, request->path, binary, err);
    file_open_memory(file, "the profile", request->bytes);
    return 0;
}

static int publish_pprof(struct outgoing *out, struct error *err) {
    struct file file;
    if (open_output(out->request, true, &file, err)) return -1;
    struct pprof_writer *writer = pprof_open_file(&file, out->request->level);
    if (fill(out, writer, err) == 0) return pprof_close(writer, err);
    pprof_abandon(writer);
    return -1;
}

static char *make_title(struct db *db, const struct export_request *request) {
    const struct export_source *source = &request->source;
    if (request->title) return xstrdup(request->title);
    if (source->query) return xstrdup(source->query->name);
    if (!source->kind) return xasprintf("%.120s", source->sql);
    return run_title(db, source->runs.ids[0], source->runs.count, source->kind);
}

static int publish_text(const struct export_request *request, const struct buffer *text, struct error *err) {
    struct file file;
    if (open_output(request, request->format->report.is_binary, &file, err)) return -1;
    if (file_write(&file, text->data, text->size, err) == 0) return file_publish(&file, err);
    file_abandon(&file);
    return -1;
}

static int read_profile(struct outgoing *out, struct profile *profile, struct error *err) {
    const struct export_request *request = out->request;
    if (read_all(out, err) < 0) return -1;
    struct pprof_writer *writer = pprof_open_memory();
    struct buffer bytes = {0};
    if (fill(out, writer, err) < 0) {
        pprof_abandon(writer);
        return -1;
    }
    pprof_take(writer, &bytes);
    if (!request->series) rows_free(&out->rows);
    rows_free(&out->base);
    bool keeps_base =
        !request->has_base || request->is_diff || report_has_sides(&request->format->report, request->options);
    int code = profile_unpack(profile, &bytes, keeps_base, err);
    buffer_free(&bytes);
    return code;
}

/* Runs whose profile clear report can load, which keeps its order. */
static bool is_loadable(struct outgoing *out, const struct export_source *source) {
    struct error ignored = {0};
    if (!source->kind || kind_find(source->kind)->parts[0] || out->request->series) return false;
    for (size_t i = 0; i < source->runs.count; i++)
        if (export_check(out->db, source->runs.ids[i], source->kind, &ignored) < 0) return false;
    return true;
}

static int load_source(struct outgoing *out, const struct export_source *source, struct profile *profile,
                       struct error *err) {
    struct timespan *spans = xcalloc(source->runs.count + 1, sizeof *spans);
    int code = 0;
    for (size_t i = 0; i < source->runs.count && code == 0; i++)
        code = find_span(out, source, source->runs.ids[i], &spans[i], err);
    if (code == 0) code = profile_load_spans(profile, out->db, &source->runs, spans, source->kind, err);
    free(spans);
    return code;
}

static int load_profile(struct outgoing *out, struct profile *profile, struct error *err) {
    const struct export_request *request = out->request;
    const struct compare_options options = {.is_diff = request->is_diff ||
                                                       report_has_sides(&request->format->report, request->options)};
    struct profile base;
    if (load_source(out, &request->source, profile, err) < 0) return -1;
    if (!request->has_base) return 0;
    int code = load_source(out, &request->base, &base, err);
    if (code == 0) {
        code = compare_subtract(profile, &base, &options, err);
        profile_free(&base);
    }
    if (code < 0) profile_free(profile);
    return code < 0 ? error_prefix(err, "base: ") : 0;
}

static int write_report(struct outgoing *out, struct profile *profile, struct buffer *text, struct error *err) {
    const struct export_request *request = out->request;
    struct report_options options;
    char *title = make_title(out->db, request);
    if (request->options)
        options = *request->options;
    else
        report_options_init(&options);
    if (request->type) options.sample_index = request->type;
    options.title = title;
    int code = report_finish_profile(profile, NULL, err);
    if (code == 0) code = report_write(profile, &request->format->report, &options, text, NULL, NULL, err);
    free(title);
    return code;
}

/* Every format but pprof is a report on the profile, as clear report makes it. */
static int publish_format(struct outgoing *out, struct error *err) {
    struct profile profile;
    struct buffer text = {0};
    const struct export_request *request = out->request;
    bool is_loaded = is_loadable(out, &request->source) && (!request->has_base || is_loadable(out, &request->base));
    if ((is_loaded ? load_profile : read_profile)(out, &profile, err) < 0) return -1;
    int code = write_report(out, &profile, &text, err);
    if (code == 0) code = publish_text(out->request, &text, err);
    buffer_free(&text);
    profile_free(&profile);
    return code;
}

static void open_outgoing(struct outgoing *out) {
    size_t count = out->request->source.runs.count;
    out->spans = xcalloc(count + 1, sizeof *out->spans);
    for (size_t i = 0; i < count; i++)
        out->spans[i] = timespan_all;
}

static void free_outgoing(struct outgoing *out) {
    rows_free(&out->rows);
    rows_free(&out->base);
    free(out->spans);
}

/* ---- series ---- */

struct export_series *export_series_new(void) {
    return xcalloc(1, sizeof(struct export_series));
}

void export_series_free(struct export_series *series) {
    if (!series) return;
    rows_free(&series->rows);
    free(series);
}

int export_series_mark(struct export_series *series, struct db *db, int64_t run_id, const char *kind,
                       struct error *err) {
    struct timespan span = {.from_ns = INT64_MIN};
    rows_free(&series->rows);
    if (snapshot_begin(db, err) < 0) return -1;
    int code = newest_window(db, run_id, &span.to_ns, err);
    if (code == 0) code = kind_read(&series->rows, db, run_id, kind, &span, err);
    snapshot_end(db);
    series->until_ns = span.to_ns;
    return code;
}

/* The rows are the outgoing profile's while it is made, and go back as the new mark, or as they were. */
static void lend_series(struct outgoing *out) {
    struct export_series *series = out->request->series;
    if (!series) return;
    out->rows = series->rows;
    series->rows = (struct rows){0};
    rows_again(&out->rows);
}

static void return_series(struct outgoing *out, int code) {
    struct export_series *series = out->request->series;
    if (!series) return;
    if (code)
        rows_back(&out->rows);
    else
        series->until_ns = out->spans[0].to_ns;
    series->rows = out->rows;
    out->rows = (struct rows){0};
}

int export_write(struct db *db, const struct export_request *request, struct error *err) {
    struct outgoing out = {.db = db, .request = request};
    if (snapshot_begin(db, err) < 0) return -1;
    open_outgoing(&out);
    lend_series(&out);
    int code = is_pprof(request) ? read_all(&out, err) : 0;
    if (code == 0) code = is_pprof(request) ? publish_pprof(&out, err) : publish_format(&out, err);
    return_series(&out, code);
    free_outgoing(&out);
    snapshot_end(db);
    return code;
}

int export_kind(struct db *db, int64_t run_id, const struct kind *kind, const char *path, struct error *err) {
    struct export_request request = {.source = {.kind = kind->name, .runs = {&run_id, 1}}, .path = path};
    struct outgoing out = {.db = db, .request = &request};
    if (snapshot_begin(db, err) < 0) return -1;
    open_outgoing(&out);
    int code = find_stored(&out, err);
    if (code == 0 && !out.is_stored) code = kind_read(&out.rows, db, run_id, kind->name, &timespan_all, err);
    if (code == 0) code = publish_pprof(&out, err);
    free_outgoing(&out);
    snapshot_end(db);
    return code;
}
