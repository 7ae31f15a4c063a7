#include "export/export.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "cli/cli.h"
#include "cli/export_html.h"
#include "cli/run_or_file.h"
#include "cli/span_options.h"
#include "export/format.h"
#include "query/profile/load/gather.h"
#include "query/runs/select.h"
#include "query/sql/saved.h"

struct export_options {
    const char *db, *kind, *sql, *query, *base, *format, *type, *title, *output;
    bool is_diff; /* of the base */
    bool html;
    struct report_options report; /* of formats that are reports */
    int64_t level;
    struct timespan_request span, base_span;
    char *settings[4]; /* from a saved query; owned */
    char **rest;       /* runs, or NAME=VALUE for a query */
    size_t rest_count;
    char *only_kind; /* that of runs with one kind, where --kind is not given; owned */
};

#define AT(member) offsetof(struct export_options, member)

static int take_base(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct export_options *options = into;
    bool is_diff = strcmp(row->name, "diff_base") == 0;
    if (options->base && options->is_diff != is_diff) return error_usage(err, "base and diff_base exclude each other");
    options->base = text;
    options->is_diff = is_diff;
    return 0;
}

static const struct option_row source_rows[] = {
    {"kind", .type = OPTION_TEXT, .offset = AT(kind), .argument = "KIND", .words = "<kind>",
     .help =
         "Export this kind of profile of the runs: heap, lock, mvcc, channels, cpu, mutex and block (as Go has them), "
         "or another kind that the runs have. Optional if they have only one."},
    {"sql", .type = OPTION_TEXT, .offset = AT(sql), .argument = "SQL",
     .help = "Export the rows of this query as samples. `:run` is bound to each run of run=RUNS in turn."},
    {"query", .type = OPTION_TEXT, .offset = AT(query), .argument = "NAME", .words = "<query>",
     .help = "Export the rows of a saved query in the same way."},
    {"base", .type = OPTION_TAKE, .take = take_base, .argument = "RUNS|SQL", .words = "<runs>",
     .help = "Subtract these runs, or the rows of this query."},
    {"diff_base", .type = OPTION_TAKE, .take = take_base, .argument = "RUNS|SQL", .words = "<runs>",
     .help = "Subtract them. Percentages are of their total."},
    {0},
};

static const struct option_row output_rows[] = {
    {"output", .letter = 'o', .type = OPTION_TEXT, .offset = AT(output), .argument = "FILE", .words = "<file>",
     .help = "Write to FILE. `-` is standard output, the default of text formats. A name that ends in / is a directory "
             "that "
             "gets all kinds and text dumps of one run."},
    {"format", .type = OPTION_TEXT, .offset = AT(format), .argument = "FORMAT", .words = "<export-format>",
     .help = "Default: the format whose suffix FILE has; pprof for a FILE without one."},
    {"type", .type = OPTION_TEXT, .offset = AT(type), .argument = "TYPE",
     .help = "The sample type that pprof shows by default, and that formats with one value contain."},
    {"html", .type = OPTION_SWITCH, .offset = AT(html),
     .help = "Write one HTML file with the browser's pages and the data of one run, which is opened without clear and "
             "without a network."},
    {"level", .type = OPTION_COUNT, .offset = AT(level), .min = 1, .max = 9, .argument = "N",
     .help = "Compression level of gzip, 1 (fast) to 9 (small). Default: 3."},
    {0},
};

const struct option_group export_options[] = {{"What is exported", source_rows, 0},
                                              {"Part of a run", span_options, AT(span)},
                                              {"Part of the base", base_span_options, AT(base_span)},
                                              {"Output", output_rows, 0},
                                              REPORT_OPTION_GROUPS(AT(report)),
                                              CLI_WAREHOUSE_OR_STORE(export_options, db),
                                              CLI_OPTIONS_END};
#undef AT

static int read_options(int argc, char **argv, struct export_options *options, struct error *err) {
    report_options_init(&options->report);
    if (cli_options(&argc, argv, options, err) < 0) return -1;
    options->rest = argv + 1;
    options->rest_count = (size_t)(argc - 1);
    return 0;
}

static bool is_directory(const struct export_options *options) {
    size_t size = options->output ? strlen(options->output) : 0;
    return size > 1 && options->output[size - 1] == '/';
}

static bool ends_in(const char *name, const char *suffix) {
    size_t size = strlen(name), suffix_size = strlen(suffix);
    return size >= suffix_size && strcmp(name + size - suffix_size, suffix) == 0;
}

/* "graph.svg.gz": no format is written so, and a profile under that name would surprise. */
static bool is_other_format_gzipped(const char *name) {
    for (const struct export_format *format = export_formats + 1; format->report.name; format++) {
        if (!format->report.suffix || ends_in(".pb.gz", format->report.suffix)) continue;
        char *gzipped = xasprintf("%s.gz", format->report.suffix);
        bool is = ends_in(name, gzipped);
        free(gzipped);
        if (is) return true;
    }
    return false;
}

/* A name that is made for a profile as it is stored: it ends in what such files are called, or has no ending, or is that of a
 * pipe or a device. */
static bool is_plain_profile(const char *name) {
    static const char *const suffixes[] = {".gz", ".pb", ".pprof", ".prof", ".profile", ".bin"};
    struct stat about;
    if (!strchr(path_base(name), '.') || (stat(name, &about) == 0 && !S_ISREG(about.st_mode))) return true;
    if (is_other_format_gzipped(name)) return false;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (ends_in(name, suffixes[i])) return true;
    return false;
}

/* Whether a file name alone may ask for the format: not for one of the whole warehouse, nor for a text dump, which needs a kind too. */
static bool is_named_by_ending(const struct export_format *format) {
    return format->report.suffix && !format->about && (!format->dump || format->kind);
}

static int unknown_ending(const char *name, struct error *err) {
    struct buffer known = {0};
    for (const struct export_format *format = export_formats; format->report.name; format++) {
        bool is_new = is_named_by_ending(format);
        for (const struct export_format *before = export_formats; is_new && before < format; before++)
            is_new = strcmp(before->report.suffix, format->report.suffix) != 0;
        if (is_new) buffer_printf(&known, "%s%s", known.size ? ", " : "", format->report.suffix);
    }
    error_usage(err, "-o %s: no format has this ending: %s; or say the format with --format", name,
                buffer_text(&known));
    buffer_free(&known);
    return -1;
}

/* The format of --format, else the one with the longest suffix that the file name ends in, else pprof. */
static const struct export_format *choose_format(const struct export_options *options, struct error *err) {
    if (options->format) return export_format_find(options->format, err);
    const struct export_format *chosen = export_formats;
    size_t best = 0, size = options->output ? strlen(options->output) : 0;
    for (const struct export_format *format = export_formats; format->report.name; format++) {
        size_t suffix = is_named_by_ending(format) ? strlen(format->report.suffix) : 0;
        if (suffix <= best || suffix > size) continue;
        if (strcmp(options->output + size - suffix, format->report.suffix) != 0) continue;
        chosen = format;
        best = suffix;
    }
    /* A saved query may still set the format. */
    if (best || !options->output || options->query || is_directory(options) || is_plain_profile(options->output))
        return chosen;
    return unknown_ending(options->output, err) < 0 ? NULL : chosen;
}

/* Checks that the options that say what is exported do not exclude each other. */
/* A base is SQL if it begins with a keyword of a query and a blank. No name of a run does. */
static bool is_sql(const char *text) {
    static const char *const words[] = {"select", "with", "values"};
    while (isspace((unsigned char)*text))
        text++;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t size = strlen(words[i]);
        if (strncasecmp(text, words[i], size) == 0 && (isspace((unsigned char)text[size]) || text[size] == '('))
            return true;
    }
    return false;
}

static int check_options(struct export_options *options, const struct export_format *format, struct error *err) {
    if (format->about) {
        if (options->kind || options->sql || options->query || options->base || options->rest_count)
            return error_usage(err, "--format %s is for the whole warehouse: it takes no run, --kind, --sql or --query",
                               format->report.name);
    } else if ((options->sql || options->query) && options->kind) {
        return error_usage(err, "--sql and --kind exclude each other: the query says what is exported");
    } else if (options->sql && options->query) {
        return error_usage(err, "--sql and --query exclude each other");
    }
    const char *changed = format->report.write ? NULL : report_options_changed(&options->report);
    if (changed)
        return error_usage(err, "--%s is not an option of %s: %s", changed, format->report.name,
                           format->dump || format->about ? "other formats have it"
                                                         : "--format proto writes a filtered profile");
    if (timespan_is_wanted(&options->span) && !options->kind &&
        (options->sql || options->query || is_directory(options) || format->stored))
        return error_usage(
            err, "--from, --to and --window need --kind (in SQL, profiles.time_ns is the time of each window)");
    if (timespan_is_wanted(&options->base_span) && (!options->kind || (options->base && is_sql(options->base))))
        return error_usage(err, "--base_from, --base_to and --base_window need --kind and a run as the base");
    if (span_options_check(&options->span, err) ||
        base_span_options_check(&options->base_span, options->base != NULL, err))
        return -1;
    if (format->kind && options->kind && strcmp(options->kind, format->kind) != 0)
        return error_usage(err, "--format %s is of the kind %s, not %s", format->report.name, format->kind,
                           options->kind);
    if (format->dump && (options->sql || options->query || options->base))
        return error_usage(err, "--format %s needs a run: give RUN and --kind", format->report.name);
    if (!options->output && (format->report.write || format->dump || format->about)) options->output = "-";
    if (!options->output || !*options->output)
        return error_usage(err, "no output: give -o FILE, as in -o %s.pb.gz, or -o - for standard output",
                           options->kind ? options->kind : "query");
    return 0;
}

/* ---- sources ---- */

/* Adds run=SET to the runs of the source; the other arguments are its parameters. */
static int read_arguments(struct db *db, const struct export_options *options, struct export_source *source,
                          struct error *err) {
    source->arguments = options->rest;
    for (size_t i = 0; i < options->rest_count; i++) {
        char *argument = options->rest[i];
        if (strncmp(argument, "run=", strlen("run=")) != 0)
            options->rest[source->argument_count++] = argument;
        else if (run_set_add(&source->runs, db, argument + strlen("run="), err) < 0)
            return -1;
    }
    return 0;
}

static int read_runs(struct db *db, const struct export_options *options, struct export_source *source,
                     struct error *err) {
    source->kind = options->kind;
    source->span = options->span;
    for (size_t i = 0; i < options->rest_count; i++)
        if (run_set_add(&source->runs, db, options->rest[i], err) < 0) return -1;
    return options->rest_count ? 0 : run_set_add(&source->runs, db, "latest", err);
}

/* Runs replace the runs of the source: the same kind, or the same query. */
static int read_base(struct db *db, const struct export_options *options, struct export_request *request,
                     struct error *err) {
    const char *text = options->base;
    if (!text) return 0;
    request->has_base = true;
    if (is_sql(text)) {
        request->base.sql = text;
        return 0;
    }
    request->base = request->source;
    request->base.runs = (struct run_set){0};
    if (timespan_is_wanted(&options->base_span)) request->base.span = options->base_span;
    return run_set_add(&request->base.runs, db, text, err);
}

/* Prints which windows are taken: a span is extended to whole windows. */
static int say_windows(struct db *db, const struct export_source *source, struct error *err) {
    for (size_t i = 0; timespan_is_wanted(&source->span) && i < source->runs.count; i++) {
        struct timespan span;
        struct buffer words = {0};
        int code = timespan_find(db, source->runs.ids[i], source->kind, &source->span, &span, err);
        if (code == 0) code = timespan_describe(db, source->runs.ids[i], source->kind, &span, &words, err);
        if (code == 0) error_print("%s", buffer_text(&words));
        buffer_free(&words);
        if (code < 0) return -1;
    }
    return 0;
}

/* Takes the settings of a saved query that the command line does not override. */
static int read_settings(struct db *db, const struct saved_query *query, struct export_options *options,
                         struct error *err) {
    const struct {
        const char *key, **value;
    } known[] = {
        {"format", &options->format}, {"type", &options->type}, {"title", &options->title}, {"base", &options->base}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        sqlite3_stmt *row = db_prepare(db, "SELECT :json ->> :key", err);
        if (!row) return -1;
        db_bind_text(row, ":json", query->export);
        db_bind_text(row, ":key", known[i].key);
        if (db_step(db, row, err) < 0) return -1;
        if (!*known[i].value && sqlite3_column_type(row, 0) == SQLITE_TEXT)
            *known[i].value = options->settings[i] = xstrdup(db_text(row, 0));
        sqlite3_reset(row);
    }
    return 0;
}

static int write_request(struct db *db, struct export_options *options, const struct saved_query *query,
                         struct error *err) {
    struct export_request request = {
        .options = &options->report, .type = options->type, .level = (int)options->level, .is_diff = options->is_diff};
    request.title = *options->report.title ? options->report.title : options->title;
    request.source.query = query;
    request.source.sql = query ? query->sql : options->sql;
    request.format = choose_format(options, err);
    request.path = options->output;
    int code = request.format ? check_options(options, request.format, err) : -1;
    request.path = options->output;
    if (code == 0)
        code = request.source.sql ? read_arguments(db, options, &request.source, err)
                                  : read_runs(db, options, &request.source, err);
    if (code == 0) code = read_base(db, options, &request, err);
    if (code == 0) code = say_windows(db, &request.source, err);
    if (code == 0 && timespan_is_wanted(&options->base_span)) code = say_windows(db, &request.base, err);
    if (code == 0) code = export_write(db, &request, err);
    run_set_free(&request.source.runs);
    run_set_free(&request.base.runs);
    return code;
}

static int write_query(struct db *db, struct export_options *options, struct error *err) {
    struct saved_query query = {0};
    if (saved_find(db, options->query, &query, err) < 0) return -1;
    int code = read_settings(db, &query, options, err);
    if (code == 0) code = write_request(db, options, &query, err);
    queries_free(&query);
    for (size_t i = 0; i < sizeof options->settings / sizeof *options->settings; i++)
        free(options->settings[i]);
    return code;
}

static int write_dump(struct db *db, int64_t run_id, const struct export_options *options,
                      const struct export_format *format, struct error *err) {
    struct export_source source = {.kind = options->kind, .span = options->span, .runs = {&run_id, 1}};
    struct timespan span;
    if (timespan_find(db, run_id, options->kind, &options->span, &span, err) < 0 || say_windows(db, &source, err) < 0)
        return -1;
    return format->dump(db, run_id, &span, options->kind, options->output, err);
}

/* Writes what is made from one run directly: a dump, a directory. */
static int write_run(struct db *db, const struct export_options *options, const struct export_format *format,
                     struct error *err) {
    int64_t run_id;
    if (options->rest_count > 1)
        return error_usage(err, "only one run can be written to a directory or a dump, not also '%s'",
                           options->rest[1]);
    if (select_run(db, options->rest_count ? options->rest[0] : NULL, &run_id, err) < 0) return -1;
    if (format->dump) return write_dump(db, run_id, options, format, err);
    return export_directory(db, run_id, options->output, err);
}

/* The kind that the runs have, where it is one alone. */
static int choose_kind(struct db *db, struct export_options *options, struct error *err) {
    struct export_source source = {0};
    struct run_list runs = {0};
    struct buffer others = {0};
    int code = read_runs(db, options, &source, err);
    for (size_t i = 0; i < source.runs.count; i++)
        run_list_add(&runs, db, source.runs.ids[i]);
    if (code == 0) code = gather_kind(&runs, &options->only_kind, &others, err);
    if (code == 0 && others.size)
        code = error_usage(
            err,
            "there is more than one kind to export (%s, %s): choose with --kind %s; or a query with --sql or --query",
            options->only_kind, buffer_text(&others), options->only_kind);
    options->kind = options->only_kind;
    run_set_free(&source.runs);
    run_list_free(&runs);
    buffer_free(&others);
    return code;
}

static int write_export(struct db *db, struct export_options *options, const struct export_format *format,
                        struct error *err) {
    if (format->about) return format->about(db, options->output, err);
    if (options->query) return write_query(db, options, err);
    if (format->kind && !options->kind) options->kind = format->kind;
    bool takes_all = format->stored && !is_directory(options);
    if (!options->sql && !options->kind && !takes_all && !is_directory(options) && choose_kind(db, options, err) < 0)
        return -1;
    if (format->dump || (!options->sql && !options->kind && !takes_all)) return write_run(db, options, format, err);
    return write_request(db, options, NULL, err);
}

/* Opens the warehouse, or the files that are named as RUNS, --base or run=RUNS. */
static int open_named(struct db *db, struct export_options *options, struct error *err) {
    bool is_query = options->sql || options->query, has_base = options->base && !is_sql(options->base);
    size_t count = options->rest_count;
    if (is_query) return target_open(db, options->db, "run=", (const char **)options->rest, count, err);
    const char **names = xcalloc(count + 1, sizeof *names);
    memcpy(names, options->rest, count * sizeof *names);
    if (has_base) names[count] = options->base;
    int code = target_open(db, options->db, "", names, count + has_base, err);
    memcpy(options->rest, names, count * sizeof *names);
    if (has_base) options->base = names[count];
    free(names);
    return code;
}

/* ---- pages ---- */

/* Its pages choose the kind and the rest. */
static int check_html(const struct export_options *options, struct error *err) {
    const char *changed = report_options_changed(&options->report);
    if (options->rest_count > 1) return error_usage(err, "--html is of one run, not also '%s'", options->rest[1]);
    if (options->kind || options->sql || options->query || options->format || options->type || options->level ||
        timespan_is_wanted(&options->span) || timespan_is_wanted(&options->base_span) ||
        (changed && strcmp(changed, "source_path") != 0))
        return error_usage(err, "--html takes a run, --base, --source_path and -o FILE: the pages choose the rest");
    if (!options->output || !*options->output) return error_usage(err, "no output: give -o FILE, as in -o run.html");
    return 0;
}

static int write_html(const struct export_options *options, struct error *err) {
    const char *places = options->report.source_path;
    const struct export_html request = {.db = options->db,
                                        .run = options->rest_count ? options->rest[0] : "latest",
                                        .base = options->base,
                                        .source_path = places && *places ? places : NULL,
                                        .output = options->output};
    return check_html(options, err) ? -1 : export_html(&request, err);
}

int command_export(int argc, char **argv, struct error *err) {
    struct export_options options = {0};
    struct db db;
    if (read_options(argc, argv, &options, err) < 0) return -1;
    if (options.html) return write_html(&options, err);
    const struct export_format *format = choose_format(&options, err);
    /* A saved query may set the format, so its options are checked later. */
    if (!format || (!options.query && check_options(&options, format, err) < 0)) return -1;
    if (open_named(&db, &options, err) < 0) return -1;
    int code = write_export(&db, &options, format, err);
    free(options.only_kind);
    return db_close(&db, err) < 0 ? -1 : code;
}
