#include <stdlib.h>
#include <string.h>

#include "export/encode.h"
#include "export/export.h"
#include "export/file.h"
#include "export/format.h"
#include "query/profile/compare.h"
#include "query/profile/load/load.h"
#include "query/profile/load/load_query.h"
#include "query/profile/load/series.h"
#include "schema/kinds.h"

/* One profile on its way out. */
struct outgoing {
    struct db *db;
    const struct export_request *request;
    struct encoder encoder; /* of profile.proto */
};

/* As it is stored, and no report on it. */
static bool is_pprof(const struct export_request *request) {
    return !request->format || !request->format->report.write;
}

static bool is_streamed(const struct export_request *request) {
    return is_pprof(request) && !(request->format && request->format->stored);
}

/* ---- reading a source ---- */

int export_check(struct db *db, int64_t run_id, const char *kind, struct error *err) {
    if (kind_is_table(kind))
        return error_usage(
            err, "%s have no stacks, so they make no profile; read them with clear query \"SELECT * FROM %s\"", kind,
            kind);
    return profile_check_kind(db, run_id, kind, err);
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

static int find_spans(struct outgoing *out, const struct export_source *source, struct timespan *spans,
                      struct error *err) {
    for (size_t i = 0; i < source->runs.count; i++) {
        int64_t run_id = source->runs.ids[i];
        if (!out->request->allows_none && export_check(out->db, run_id, source->kind, err) < 0) return -1;
        if (source->exact)
            spans[i] = *source->exact;
        else if (timespan_find(out->db, run_id, source->kind, &source->span, &spans[i], err) < 0)
            return -1;
    }
    return 0;
}

static int load_kind(struct outgoing *out, const struct export_source *source, bool is_base, struct profile *profile,
                     struct error *err) {
    const struct export_request *request = out->request;
    struct timespan *spans = xcalloc(source->runs.count + 1, sizeof *spans);
    /* As gather_profile: a run alone is reported as it is stored. */
    bool is_reported_alone = !is_streamed(request) && source->runs.count == 1;
    const struct load_request asked = {
        .kind = source->kind,
        .runs = &source->runs,
        .spans = spans,
        .is_exact = is_pprof(request) || is_reported_alone,
        .keeps_zero = is_reported_alone,
        .may_have_none = request->allows_none,
        .stream = !is_streamed(request) || request->has_base || is_base ? NULL : &out->encoder.stream};
    int code = check_kind(out->db, source->kind, err);
    if (code == 0) code = find_spans(out, source, spans, err);
    if (code == 0) code = profile_load(profile, out->db, &asked, err);
    free(spans);
    return code;
}

static int load_source(struct outgoing *out, const struct export_source *source, bool is_base, struct profile *profile,
                       struct error *err) {
    if (source->kind) return load_kind(out, source, is_base, profile, err);
    const struct profile_query query = {.sql = source->sql,
                                        .comment = source->comment,
                                        .saved = source->query,
                                        .arguments = source->arguments,
                                        .argument_count = source->argument_count,
                                        .runs = &source->runs};
    return profile_load_query(profile, out->db, &query, err);
}

static void describe_base(const struct export_source *base, struct profile *profile) {
    char *line = base->kind ? xasprintf("base: %zu run%s, the first is %lld", base->runs.count,
                                        base->runs.count == 1 ? "" : "s", (long long)base->runs.ids[0])
                            : xasprintf("base: %s", base->sql);
    profile_add_comment(profile, line);
    free(line);
}

/* A profile has the samples of its base beside its own; of a report on it they are taken away as pprof does. */
static int subtract(struct outgoing *out, struct profile *profile, struct error *err) {
    const struct export_request *request = out->request;
    struct profile base;
    int code;
    if (load_source(out, &request->base, true, &base, err) < 0) return -1;
    if (is_pprof(request)) {
        code = compare_append_base(profile, &base, err);
        if (code == 0) describe_base(&request->base, profile);
    } else {
        const struct compare_options options = {
            .is_diff = request->is_diff || report_has_sides(&request->format->report, request->options)};
        code = compare_subtract(profile, &base, &options, err);
    }
    profile_free(&base);
    return code;
}

static int load(struct outgoing *out, struct profile *profile, struct error *err) {
    const struct export_request *request = out->request;
    const struct export_source *source = &request->source;
    if (request->series)
        return profile_series_next(request->series, profile, out->db, source->runs.ids[0], source->kind, err);
    if (load_source(out, source, false, profile, err) < 0) return -1;
    if (!request->has_base || subtract(out, profile, err) == 0) return 0;
    profile_free(profile);
    return error_prefix(err, "base: ");
}

/* ---- writing ---- */

/* NAME or NAME/UNIT */
static bool is_type(const struct profile_type *type, const char *wanted) {
    size_t size = strlen(type->type);
    if (strncmp(wanted, type->type, size) != 0) return false;
    return !wanted[size] || (wanted[size] == '/' && strcmp(wanted + size + 1, type->unit) == 0);
}

/* What viewers show first. */
static int choose_type(struct profile *profile, const char *wanted, struct error *err) {
    struct buffer known = {0};
    for (size_t i = 0; wanted && i < profile->type_count; i++) {
        if (is_type(&profile->types[i], wanted)) {
            profile->default_type = profile->types[i].type;
            wanted = NULL;
        }
        buffer_printf(&known, "%s%s", i ? ", " : "", profile->types[i].type);
    }
    if (wanted) error_usage(err, "--type %s: the profile has %s", wanted, buffer_text(&known));
    buffer_free(&known);
    return wanted ? -1 : 0;
}

static int publish_pprof(struct outgoing *out, struct error *err) {
    const struct export_request *request = out->request;
    const struct encode_target target = {request->path, request->bytes, request->level};
    struct profile profile;
    encode_open(&out->encoder, &target);
    int code = load(out, &profile, err);
    if (code == 0) {
        code = choose_type(&profile, request->type, err);
        if (code == 0) code = encode_finish(&out->encoder, &profile, err);
        profile_free(&profile);
    }
    encode_abandon(&out->encoder);
    return code;
}

static char *title_of_source(struct db *db, const struct export_source *source) {
    if (source->query) return xstrdup(source->query->name);
    if (!source->kind) return xasprintf("%.120s", source->sql);
    return run_title(db, source->runs.ids[0], source->runs.count, source->kind);
}

static char *make_title(struct db *db, const struct export_request *request) {
    return request->title ? xstrdup(request->title) : title_of_source(db, &request->source);
}

static int publish_text(const struct export_request *request, const struct buffer *text, struct error *err) {
    struct file file;
    if (request->bytes)
        file_open_memory(&file, "the profile", request->bytes);
    else if (file_open(&file, request->path, request->format->report.is_binary, err) < 0)
        return -1;
    if (file_write(&file, text->data, text->size, err) == 0) return file_publish(&file, err);
    file_abandon(&file);
    return -1;
}

static int write_report(struct outgoing *out, struct profile *profile, struct buffer *text, struct error *err) {
    const struct export_request *request = out->request;
    struct report_options options;
    char *title = make_title(out->db, request);
    char *base_title = request->has_base ? title_of_source(out->db, &request->base) : NULL;
    if (request->options)
        options = *request->options;
    else
        report_options_init(&options);
    if (request->type) options.sample_index = request->type;
    options.title = title;
    if (base_title) options.base_title = base_title;
    int code = report_finish_profile(profile, NULL, err);
    const struct export_source *source = &request->source;
    if (code == 0 && source->kind && source->runs.count == 1 && !request->has_base)
        code = report_find_sampling(&options, out->db, source->runs.ids[0], source->kind, profile, err);
    if (code == 0) code = report_write(profile, &request->format->report, &options, text, NULL, NULL, err);
    free(title);
    free(base_title);
    return code;
}

/* One kind. */
static int load_stored(struct outgoing *out, const char *kind, struct profile **profiles, size_t *count,
                       struct error *err) {
    struct export_request one = *out->request;
    struct outgoing part = {.db = out->db, .request = &one};
    one.source.kind = kind;
    if (!one.base.sql) one.base.kind = kind;
    *profiles = xrealloc(*profiles, (*count + 1) * sizeof **profiles);
    int code = load(&part, &(*profiles)[*count], err);
    if (code == 0) code = choose_type(&(*profiles)[(*count)++], one.type, err);
    return code;
}

/* The kind or query that was chosen, or all kinds that every run has and that are profiles. */
static int load_all_stored(struct outgoing *out, struct profile **profiles, size_t *count, struct error *err) {
    const struct export_source *source = &out->request->source;
    char *lines = NULL;
    if (source->kind || source->sql) return load_stored(out, source->kind, profiles, count, err);
    int code = profile_common_kinds(out->db, &source->runs, &lines, err);
    for (char *kind = lines, *end; code == 0 && *kind; kind = end + 1) {
        end = kind + strcspn(kind, "\n");
        *end = '\0';
        if (!kind_is_table(kind)) code = load_stored(out, kind, profiles, count, err);
    }
    if (code == 0 && *count == 0)
        code = error_usage(err, source->runs.count > 1
                                    ? "no one kind of profile is in all of these runs: export each by itself"
                                    : "the run has no profile");
    free(lines);
    return code;
}

static int publish_stored(struct outgoing *out, struct error *err) {
    struct profile *profiles = NULL;
    struct buffer bytes = {0};
    size_t count = 0;
    int code = load_all_stored(out, &profiles, &count, err);
    if (code == 0) code = out->request->format->stored(profiles, count, &bytes, err);
    if (code == 0) code = publish_text(out->request, &bytes, err);
    for (size_t i = 0; i < count; i++)
        profile_free(&profiles[i]);
    free(profiles);
    buffer_free(&bytes);
    return code;
}

/* Every format that is not the profile as it is stored is a report on it, as clear report makes it. */
static int publish_report(struct outgoing *out, struct error *err) {
    struct profile profile;
    struct buffer text = {0};
    if (load(out, &profile, err) < 0) return -1;
    int code = write_report(out, &profile, &text, err);
    if (code == 0) code = publish_text(out->request, &text, err);
    buffer_free(&text);
    profile_free(&profile);
    return code;
}

static int publish(struct outgoing *out, struct error *err) {
    if (is_streamed(out->request)) return publish_pprof(out, err);
    return is_pprof(out->request) ? publish_stored(out, err) : publish_report(out, err);
}

/* One snapshot for all statements of an export, so that a recording that goes on does not show through. (db_begin would
 * take the write lock.) */
int export_write(struct db *db, const struct export_request *request, struct error *err) {
    struct outgoing out = {.db = db, .request = request};
    struct error ignored = {0};
    if (db_exec(db, "SAVEPOINT export", err) < 0) return -1;
    int code = publish(&out, err);
    (void)db_exec(db, "RELEASE export", &ignored);
    return code;
}
