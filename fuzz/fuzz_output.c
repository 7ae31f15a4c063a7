/* A profile, written in every format and as every report. None may crash, fail without a message, or be larger than the limit. What
 * starts other programs (graphviz, objdump) is left out. The input is a pprof profile or folded stacks; its size chooses among the
 * options. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limit.h"
#include "export/export.h"
#include "export/format.h"
#include "fuzz/fuzz.h"
#include "fuzz/replay.h"
#include "query/profile/compare.h"
#include "query/profile/load/load.h"

enum { OUTPUT_LIMIT = 4 << 20, SLACK = 1 << 20 /* between two looks at the size */, RENEW = 500 };

static struct db db;
static struct ingest ingest;

static void renew(void) {
    static const struct ingest_options options = {.label = "fuzz"};
    struct error err = {0};
    limit_set(OUTPUT_LIMIT);
    ingest_close(&ingest);
    if (db.handle && db_close(&db, &err) != 0) bug("%s", err.message);
    if (db_open(&db, ":memory:", DB_WRITE, &err) != 0) bug("%s", err.message);
    if (ingest_open(&ingest, &db, &options, &err) != 0) bug("%s", err.message);
}

/* True if it is in the warehouse as a run. */
static bool take_in(const uint8_t *data, size_t size, int64_t *run_id) {
    struct ingest_result result;
    struct input input;
    struct error err = {0};
    if (input_open_memory(&input, "fuzz", data, size, &err) != 0) return false;
    const struct format *format = format_pprof.recognise(&input) ? &format_pprof : &format_folded;
    bool is_taken = format->recognise(&input) && ingest_input(&ingest, &input, format, &result, &err) == 0;
    if (is_taken) *run_id = result.run_id;
    input_close(&input);
    return is_taken;
}

static void check(int code, const struct buffer *out, const char *format, const struct error *err) {
    if (code != 0 && (err->status == ERROR_NONE || !*err->message)) bug("%s failed without an error", format);
    if (code == 0 && out->size > OUTPUT_LIMIT + SLACK) bug("%s has %zu bytes", format, out->size);
}

static bool starts_programs(const struct report_format *format) {
    return format->is_drawn || strcmp(format->name, "disasm") == 0 || strcmp(format->name, "weblist") == 0;
}

static void choose_options(struct report_options *options, const struct report_format *format, size_t size) {
    report_options_init(options);
    options->source_path = "/nonexistent";
    options->title = "fuzz";
    if (format->takes_pattern) options->symbol = "a|main";
    options->call_tree = size & 1;
    options->cum = size & 2;
    options->all = size & 4;
    options->noinlines = size & 8;
    options->all_types = options->before_after = size & 16;
    options->granularity = (int)(size / 32 % 4);
    options->mean = size % 7 == 0;
    options->drop_negative = size % 11 == 0;
}

static void write_report(struct profile *profile, const struct report_format *format, size_t size) {
    struct report_options options;
    struct profile copy;
    struct buffer out = {0};
    struct error err = {0};
    choose_options(&options, format, size);
    profile_copy(&copy, profile);
    check(report_write(&copy, format, &options, &out, NULL, NULL, &err), &out, format->name, &err);
    profile_free(&copy);
    buffer_free(&out);
}

static void write_reports(struct profile *profile, size_t size) {
    const struct report_format *format;
    for (size_t i = 0; (format = report_format_at(i)); i++)
        if (format->write && !starts_programs(format)) write_report(profile, format, size);
}

/* `format` NULL: pprof. */
static void write_stored(const struct export_format *format, const char *kind, const struct run_set *runs,
                         bool has_base) {
    struct buffer out = {0};
    struct error err = {0};
    const struct export_request request = {.source = {.kind = kind, .runs = *runs},
                                           .base = {.kind = kind, .runs = *runs},
                                           .has_base = has_base,
                                           .format = format,
                                           .path = "-",
                                           .bytes = &out};
    check(export_write(&db, &request, &err), &out, format ? format->report.name : "pprof", &err);
    buffer_free(&out);
}

/* The profile, and its difference to itself, with both sides. */
static void write_kind(const char *kind, int64_t run_id, size_t size) {
    const struct run_set runs = {.ids = &run_id, .count = 1};
    const struct load_request request = {.kind = kind, .runs = &runs};
    struct profile profile, base;
    struct error err = {0};
    if (profile_load(&profile, &db, &request, &err) != 0) return;
    if (report_finish_profile(&profile, NULL, &err) == 0) write_reports(&profile, size);
    if (profile_load(&base, &db, &request, &err) == 0) {
        const struct compare_options options = {.is_diff = true};
        if (compare_subtract(&profile, &base, &options, &err) == 0) write_reports(&profile, size);
        profile_free(&base);
    }
    profile_free(&profile);
    write_stored(NULL, kind, &runs, false);
    write_stored(NULL, kind, &runs, true);
    for (const struct export_format *format = export_formats; format->report.name; format++)
        if (format->stored) write_stored(format, kind, &runs, false);
    replay_taken++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static unsigned inputs;
    struct run_set runs = {.count = 1};
    struct error err = {0};
    int64_t run_id;
    char *kinds = NULL;
    if (inputs++ % RENEW == 0) renew();
    if (!take_in(data, size, &run_id)) return 0;
    runs.ids = &run_id;
    if (profile_common_kinds(&db, &runs, &kinds, &err) == 0) {
        char *rest = kinds, *kind = strsep(&rest, "\n");
        if (kind && *kind) write_kind(kind, run_id, size);
        free(kinds);
    }
    if (db_exec(&db, "DELETE FROM runs", &err) != 0) bug("%s", err.message);
    return 0;
}
