#include "export/describe.h"

#include <stdlib.h>
#include <string.h>

#include "export/kinds.h"
#include "query/profile/drop_frames.h"
#include "schema/schema.h"

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

/* A profile being described, and sums over the runs' profiles of the kind, one a process. */
struct describing {
    struct db *db;
    struct names *names;
    struct pprof_writer *writer;
    const struct kind *kind;
    bool is_stored;
    struct map comments; /* that are there already */
    int64_t dropped, truncated, sample_n, sample_bytes, period, profiles, run_profiles;
    int64_t time_ns, duration_ns; /* the first; the sum over runs, whose processes ran beside each other */
};

static const char *text_or(sqlite3_stmt *row, int column, const char *otherwise) {
    const char *text = db_text(row, column);
    return *text ? text : otherwise;
}

/* Once, as pprof does when it merges: the runs of a set have most of them in common. */
static void comment(struct describing *out, const char *text) {
    bool added;
    map_put(&out->comments, text, strlen(text), &added);
    if (added) pprof_comment(out->writer, text);
}

static void comment_named(struct describing *out, const char *name, const char *text) {
    if (!*text) return;
    char *line = xasprintf("%s: %s", name, text);
    comment(out, line);
    free(line);
}

/* Each value of a JSON array, given to `use`. */
static int each_value(struct describing *out, const char *json,
                      int (*use)(struct describing *, sqlite3_stmt *, struct error *), struct error *err) {
    if (strcmp(json, "[]") == 0) return 0;
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

static int use_comment(struct describing *out, sqlite3_stmt *value, struct error *err) {
    (void)err;
    comment(out, db_text(value, 0));
    return 0;
}

static int use_mapping(struct describing *out, sqlite3_stmt *value, struct error *err) {
    uint64_t id;
    return names_mapping(out->names, sqlite3_column_int64(value, 0), &id, err);
}

static int describe_drop_frames(struct describing *out, sqlite3_stmt *row, struct error *err) {
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

/* What holds for all, from the first profile. */
static int describe_first(struct describing *out, sqlite3_stmt *row, struct error *err) {
    out->time_ns = sqlite3_column_int64(row, TIME);
    pprof_default_type(out->writer, text_or(row, DEFAULT_TYPE, out->is_stored ? "" : out->kind->default_type));
    pprof_doc_url(out->writer, db_text(row, URL));
    return describe_drop_frames(out, row, err);
}

static void describe_run(struct describing *out, sqlite3_stmt *row) {
    int64_t time_ns = sqlite3_column_int64(row, TIME);
    if (time_ns < out->time_ns) out->time_ns = time_ns;
    out->duration_ns += sqlite3_column_int64(row, DURATION);
    if (!sqlite3_column_int(row, RECORDED)) return;
    comment_named(out, "command", db_text(row, COMMAND));
    comment_named(out, "run", db_text(row, UUID));
    comment_named(out, "label", db_text(row, LABEL));
}

static int describe_profile(struct describing *out, sqlite3_stmt *row, struct error *err) {
    int64_t period = sqlite3_column_int64(row, PERIOD), sample_n = sqlite3_column_int64(row, SAMPLE_N);
    out->dropped += sqlite3_column_int64(row, DROPPED);
    out->truncated += sqlite3_column_int64(row, TRUNCATED);
    if (sample_n > out->sample_n) out->sample_n = sample_n;
    if (sample_n <= 1 && strcmp(db_text(row, PERIOD_TYPE), "space") == 0 && sqlite3_column_int(row, RECORDED))
        out->sample_bytes = period;
    if (!period && !out->is_stored) period = sample_n;
    if (period > out->period || out->profiles == 0) {
        out->period = period;
        pprof_period(out->writer, text_or(row, PERIOD_TYPE, out->is_stored ? "" : out->kind->period_type),
                     text_or(row, PERIOD_UNIT, out->is_stored ? "" : out->kind->period_unit), out->period);
    }
    if (out->profiles++ == 0 && describe_first(out, row, err) < 0) return -1;
    if (out->run_profiles++ == 0) describe_run(out, row);
    if (each_value(out, db_text(row, COMMENTS), use_comment, err) < 0) return -1;
    return each_value(out, db_text(row, MAPPINGS), use_mapping, err);
}

/* Figures that are not exact say so in the file itself. */
static void describe_losses(struct describing *out) {
    char *texts[] = {
        out->dropped
            ? xasprintf("WARNING: %lld samples dropped: every figure here may be too small", (long long)out->dropped)
            : NULL,
        out->truncated
            ? xasprintf("WARNING: %lld stacks truncated: their callers are missing", (long long)out->truncated)
            : NULL,
        out->sample_n > 1 ? xasprintf("sampled: every %lldth event, counted %lld times", (long long)out->sample_n,
                                      (long long)out->sample_n)
                          : NULL,
        out->sample_bytes > 1
            ? xasprintf("sampled: one allocation in %lld bytes on average, scaled up", (long long)out->sample_bytes)
            : NULL,
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (texts[i]) comment(out, texts[i]);
        free(texts[i]);
    }
}

static int describe_profiles(struct describing *out, int64_t run_id, const struct timespan *span, const char *kind,
                             struct error *err) {
    sqlite3_stmt *rows = db_prepare(out->db, embedded_text("export/profiles.sql"), err);
    if (!rows) return -1;
    db_bind_int(rows, ":run", run_id);
    kind_bind(rows, kind);
    timespan_bind(rows, span);
    int code;
    out->run_profiles = 0;
    while ((code = db_step(out->db, rows, err)) == 1)
        if (describe_profile(out, rows, err) < 0) {
            sqlite3_reset(rows);
            return -1;
        }
    return code;
}

int describe_runs(struct db *db, const struct run_set *runs, const struct timespan *spans, const char *kind,
                  bool is_stored, struct names *names, struct pprof_writer *writer, struct error *err) {
    struct describing out = {
        .db = db, .names = names, .writer = writer, .kind = kind_find(kind), .is_stored = is_stored};
    int code = 0;
    for (size_t i = 0; code == 0 && i < runs->count; i++)
        code = describe_profiles(&out, runs->ids[i], &spans[i], kind, err);
    if (out.profiles == 0) /* nothing was recorded, as of a program that allocates nothing */
        pprof_default_type(writer, out.kind->default_type);
    else
        pprof_time(writer, out.time_ns, out.duration_ns);
    describe_losses(&out);
    map_free(&out.comments);
    return code;
}

int describe_query(struct db *db, const char *sql, struct pprof_writer *writer, struct error *err) {
    struct buffer regex = {0};
    pprof_comment(writer, sql);
    int code = drop_frames(db, &regex, err);
    pprof_frames(writer, buffer_text(&regex), "");
    buffer_free(&regex);
    return code;
}
