#include "query/profile/load/load_header.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "query/profile/drop_frames.h"
#include "schema/schema.h"

enum profile_column { /* of export/profiles.sql */
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

/* A profile whose head is being read, and sums over the runs' profiles of the kind. */
struct heading {
    struct profile_names *names;
    struct profile *profile;
    const struct kind *kind;
    bool is_stored, is_recorded; /* the last row is of a run that clear recorded */
    struct map comments;         /* that are there already */
    int64_t dropped, truncated, sample_n, sample_bytes, profiles, run_profiles;
    int64_t processes;          /* recorded ones */
    int64_t run_start, run_end; /* of the recorded processes of a run, in the span; 0: none yet */
};

static const char *text_or(sqlite3_stmt *row, int column, const char *otherwise) {
    const char *text = db_text(row, column);
    return *text ? text : otherwise;
}

/* Once, as pprof does when it merges: the runs of a set have most of them in common. */
static void comment(struct heading *head, const char *text) {
    bool added;
    map_put(&head->comments, text, strlen(text), &added);
    if (added) profile_append_comment(head->profile, text);
}

static void comment_named(struct heading *head, const char *name, const char *text) {
    if (!*text) return;
    char *line = xasprintf("%s: %s", name, text);
    comment(head, line);
    free(line);
}

/* Each value of a JSON array, given to `use`. */
static int each_value(struct heading *head, const char *json,
                      int (*use)(struct heading *, sqlite3_stmt *, struct error *), struct error *err) {
    if (strcmp(json, "[]") == 0) return 0;
    sqlite3_stmt *values = db_prepare(head->names->db, "SELECT value FROM json_each(:json) ORDER BY key", err);
    if (!values) return -1;
    db_bind_text(values, ":json", json);
    int code;
    while ((code = db_step(head->names->db, values, err)) == 1)
        if (use(head, values, err) < 0) {
            sqlite3_reset(values);
            return -1;
        }
    return code;
}

/* Lines of "#" are not in the head of a report; that a program ran before is to be. */
static int use_comment(struct heading *head, sqlite3_stmt *value, struct error *err) {
    static const char attached[] = "# attached: ";
    const char *text = db_text(value, 0);
    (void)err;
    comment(head, strncmp(text, attached, sizeof attached - 1) == 0 && head->is_recorded ? text + 2 : text);
    return 0;
}

static int use_mapping(struct heading *head, sqlite3_stmt *value, struct error *err) {
    uint32_t mapping;
    int64_t shift;
    return profile_names_mapping(head->names, sqlite3_column_int64(value, 0), &mapping, &shift, err);
}

static int read_drop_frames(struct heading *head, sqlite3_stmt *row, struct error *err) {
    struct profile *profile = head->profile;
    profile->keep_frames = profile_text(profile, db_text(row, KEEP));
    profile->drop_frames = profile_text(profile, db_text(row, DROP));
    if (*profile->drop_frames || !sqlite3_column_int(row, RECORDED) || !head->kind->hides_wrappers) return 0;
    struct buffer regex = {0};
    int code = drop_frames(head->names->db, &regex, err);
    profile->drop_frames = profile_text(profile, buffer_text(&regex));
    buffer_free(&regex);
    return code;
}

/* Of a merged profile only the first mapping of the first is wanted before the stacks are: it is the main binary. */
static int read_mappings(struct heading *head, sqlite3_stmt *row, struct error *err) {
    uint32_t mapping;
    int64_t shift;
    if (head->names->builder->is_exact) return each_value(head, db_text(row, MAPPINGS), use_mapping, err);
    if (head->profile->mapping_count) return 0;
    sqlite3_stmt *first = db_prepare(head->names->db, "SELECT coalesce(:json ->> 0, 0)", err);
    if (!first) return -1;
    db_bind_text(first, ":json", db_text(row, MAPPINGS));
    if (db_step(head->names->db, first, err) < 0) return -1;
    int64_t id = sqlite3_column_int64(first, 0);
    sqlite3_reset(first);
    return profile_names_mapping(head->names, id, &mapping, &shift, err);
}

/* What holds for all, from the first profile. */
static int read_first(struct heading *head, sqlite3_stmt *row, struct error *err) {
    struct profile *profile = head->profile;
    const struct kind *kind = head->kind;
    profile->period_type.type =
        profile_text(profile, text_or(row, PERIOD_TYPE, head->is_stored ? "" : kind->period_type));
    profile->period_type.unit =
        profile_text(profile, text_or(row, PERIOD_UNIT, head->is_stored ? "" : kind->period_unit));
    profile->doc_url = profile_text(profile, db_text(row, URL));
    return read_drop_frames(head, row, err);
}

/* Processes ran beside each other, so a recorded run took from the start of the first to the end of the last. */
static void read_span(struct heading *head, sqlite3_stmt *row) {
    int64_t end = sqlite3_column_int64(row, TIME), start = end - sqlite3_column_int64(row, DURATION);
    head->processes++;
    if (start == end) return;
    if (!head->run_end || start < head->run_start) head->run_start = start;
    if (end > head->run_end) head->run_end = end;
}

/* Runs are after each other: pprof adds up files, and a run is one. */
static void read_run(struct heading *head, sqlite3_stmt *row) {
    struct profile *profile = head->profile;
    int64_t time_ns = sqlite3_column_int64(row, TIME);
    if (profile->time_ns == 0 || time_ns < profile->time_ns) profile->time_ns = time_ns;
    if (!*profile->default_type)
        profile->default_type =
            profile_text(profile, text_or(row, DEFAULT_TYPE, head->is_stored ? "" : head->kind->default_type));
    if (!sqlite3_column_int(row, RECORDED)) {
        profile->duration_ns += sqlite3_column_int64(row, DURATION);
        return;
    }
    comment_named(head, "command", db_text(row, COMMAND));
    comment_named(head, "run", db_text(row, UUID));
    comment_named(head, "label", db_text(row, LABEL));
}

static int read_profile(struct heading *head, sqlite3_stmt *row, struct error *err) {
    struct profile *profile = head->profile;
    int64_t period = sqlite3_column_int64(row, PERIOD), sample_n = sqlite3_column_int64(row, SAMPLE_N);
    head->dropped += sqlite3_column_int64(row, DROPPED);
    head->truncated += sqlite3_column_int64(row, TRUNCATED);
    if (sample_n > head->sample_n) head->sample_n = sample_n;
    if (sample_n <= 1 && strcmp(db_text(row, PERIOD_TYPE), "space") == 0 && sqlite3_column_int(row, RECORDED))
        head->sample_bytes = period;
    if (!period && !head->is_stored) period = sample_n;
    if (profile->period == 0 || profile->period < period) profile->period = period;
    if (head->profiles++ == 0 && read_first(head, row, err) < 0) return -1;
    if (head->run_profiles++ == 0) read_run(head, row);
    head->is_recorded = sqlite3_column_int(row, RECORDED);
    if (head->is_recorded) read_span(head, row);
    if (each_value(head, db_text(row, COMMENTS), use_comment, err) < 0) return -1;
    return read_mappings(head, row, err);
}

/* Figures that are not exact say so in the profile itself. */
static void add_sums(struct heading *head, int64_t runs) {
    bool is_cpu_time = head->kind == &kinds[KIND_CPU] || head->kind == &kinds[KIND_RECORDER];
    char *texts[] = {
        head->dropped
            ? xasprintf("WARNING: %lld samples dropped: every figure here may be too small", (long long)head->dropped)
            : NULL,
        head->truncated
            ? xasprintf("WARNING: %lld stacks truncated: their callers are missing", (long long)head->truncated)
            : NULL,
        head->sample_n > 1 ? xasprintf("sampled: every %lldth event, counted %lld times", (long long)head->sample_n,
                                       (long long)head->sample_n)
                           : NULL,
        head->sample_bytes > 1
            ? xasprintf("sampled: one allocation in %lld bytes on average, scaled up", (long long)head->sample_bytes)
            : NULL,
        is_cpu_time && head->processes > runs
            ? xasprintf("CPU time of %lld processes, added up; the duration is that of the whole run",
                        (long long)head->processes)
            : NULL,
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (texts[i]) comment(head, texts[i]);
        free(texts[i]);
    }
}

static int read_run_profiles(struct heading *head, int64_t run_id, const struct timespan *span, const char *kind,
                             struct error *err) {
    sqlite3_stmt *rows = db_prepare(head->names->db, embedded_text("export/profiles.sql"), err);
    if (!rows) return -1;
    db_bind_int(rows, ":run", run_id);
    kind_bind(rows, kind);
    timespan_bind(rows, span);
    int code;
    head->run_profiles = head->run_start = head->run_end = 0;
    while ((code = db_step(head->names->db, rows, err)) == 1)
        if (read_profile(head, rows, err) < 0) {
            sqlite3_reset(rows);
            return -1;
        }
    head->profile->duration_ns += head->run_end - head->run_start;
    return code;
}

int profile_head_read(struct profile_names *names, const struct run_set *runs, const struct timespan *spans,
                      const char *kind, bool is_stored, struct error *err) {
    struct heading head = {
        .names = names, .profile = names->builder->profile, .kind = kind_find(kind), .is_stored = is_stored};
    int code = 0;
    for (size_t i = 0; code == 0 && i < runs->count; i++)
        code = read_run_profiles(&head, runs->ids[i], spans ? &spans[i] : &timespan_all, kind, err);
    if (head.profiles == 0) /* nothing was recorded, as of a program that allocates nothing */
        head.profile->default_type = profile_text(head.profile, head.kind->default_type);
    add_sums(&head, (int64_t)runs->count);
    map_free(&head.comments);
    return code;
}
