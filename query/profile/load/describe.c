#include "query/profile/load/describe.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "query/profile/load/load.h"
#include "query/profile/load/load_types.h"
#include "schema/schema.h"

/* ---- kinds ---- */

static int find_default(struct db *db, int64_t run_id, const char *kind, const struct load_types *types,
                        struct buffer *json, struct error *err) {
    const struct kind *known = kind_find(kind);
    sqlite3_stmt *row = db_prepare(db, embedded_text("runs/describe/default_type"), err);
    if (!row) return -1;
    kind_bind(row, kind);
    db_bind_int(row, ":run", run_id);
    int code = db_step(db, row, err);
    const char *type = code == 1 ? db_text(row, 0) : known->default_type;
    size_t i = 0;
    while (type && i < types->count && strcmp(types->types[i].type, type) != 0)
        i++;
    if (!type || i == types->count) i = types->count - 1;
    buffer_add_char(json, ',');
    buffer_add_json_field(json, "default_type", types->count ? types->types[i].type : "");
    sqlite3_reset(row);
    return code < 0 ? -1 : 0;
}

static void add_types(const struct load_types *types, struct buffer *json) {
    buffer_add_text(json, ",\"types\":[");
    for (size_t i = 0; i < types->count; i++) {
        buffer_add_text(json, i ? ",{" : "{");
        buffer_add_json_field(json, "type", types->types[i].type);
        buffer_add_char(json, ',');
        buffer_add_json_field(json, "unit", types->types[i].unit);
        buffer_add_char(json, '}');
    }
    buffer_add_char(json, ']');
}

static int add_kind(struct db *db, const struct run_set *runs, const char *kind, struct buffer *json,
                    struct error *err) {
    struct load_types types;
    struct error unlike = {0};
    buffer_add_json_field(json, "kind", kind);
    if (load_types_find(&types, db, runs, kind, false, &unlike)) {
        buffer_add_char(json, ',');
        buffer_add_json_field(json, "error", unlike.message);
        return 0;
    }
    add_types(&types, json);
    int code = find_default(db, runs->ids[0], kind, &types, json, err);
    load_types_free(&types);
    return code;
}

static int add_kinds(struct db *db, const struct run_set *runs, struct buffer *json, struct error *err) {
    char *lines, *rest, *kind;
    int code = 0;
    if (profile_common_kinds(db, runs, &lines, err)) return -1;
    rest = lines;
    buffer_add_text(json, "\"kinds\":[");
    for (bool any = false; code == 0 && (kind = strsep(&rest, "\n"));) {
        if (!*kind) continue;
        buffer_add_text(json, any ? ",\n{" : "{");
        code = add_kind(db, runs, kind, json, err);
        buffer_add_char(json, '}');
        any = true;
    }
    buffer_add_char(json, ']');
    free(lines);
    return code;
}

/* ---- losses ---- */

struct sentences {
    struct buffer *json;
    bool any;
};

static void say(struct sentences *sentences, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct sentences *sentences, const char *format, ...) {
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (sentences->any) buffer_add_char(sentences->json, ',');
    buffer_add_json_text(sentences->json, text);
    sentences->any = true;
}

enum column { RUNS, UNFINISHED, DROPPED, TRUNCATED, SAMPLE_N, SAMPLE_BYTES, SAMPLED, PROCESSES, HAS_EVENTS };

static void add_sentences(sqlite3_stmt *row, struct sentences *sentences) {
    int64_t runs = sqlite3_column_int64(row, RUNS), unfinished = sqlite3_column_int64(row, UNFINISHED);
    int64_t dropped = sqlite3_column_int64(row, DROPPED), truncated = sqlite3_column_int64(row, TRUNCATED);
    int64_t sample_n = sqlite3_column_int64(row, SAMPLE_N), sample_bytes = sqlite3_column_int64(row, SAMPLE_BYTES);
    int64_t sampled = sqlite3_column_int64(row, SAMPLED);
    if (unfinished && runs == 1)
        say(sentences, "The run is not over, or was interrupted: figures are those of the last flush.");
    else if (unfinished)
        say(sentences, "%s of %s are not over, or were interrupted: figures are those of the last flush.",
            units_count(unfinished).text, units_things(runs, "run").text);
    if (dropped)
        say(sentences, "%s %s not recorded.", units_things(dropped, "event").text, dropped == 1 ? "was" : "were");
    if (truncated)
        say(sentences, "%s %s cut: the frames at the root are missing.", units_things(truncated, "stack").text,
            truncated == 1 ? "was" : "were");
    if (sampled && sampled < runs)
        say(sentences, "%s of %s were sampled, the others were not.", units_count(sampled).text,
            units_things(runs, "run").text);
    if (sample_n > 1) say(sentences, "Sampled 1 in %s: figures are scaled up.", units_count(sample_n).text);
    if (sample_bytes > 1)
        say(sentences, "Allocations were sampled every %s: figures are estimates.", units_bytes(sample_bytes).text);
}

static int add_losses(struct db *db, const struct run_set *runs, struct buffer *json, struct error *err) {
    struct sentences sentences = {.json = json};
    struct buffer ids = {0};
    sqlite3_stmt *row = db_prepare(db, embedded_text("runs/describe/losses"), err);
    if (!row) return -1;
    for (size_t i = 0; i < runs->count; i++)
        buffer_printf(&ids, "%s%" PRId64, i ? "," : "[", runs->ids[i]);
    buffer_add_text(&ids, runs->count ? "]" : "[]");
    db_bind_text(row, ":only", buffer_text(&ids));
    buffer_free(&ids);
    if (db_step(db, row, err) < 0) return -1;
    buffer_printf(json, ",\n\"processes\":%" PRId64 ",\n\"has_events\":%s,\n\"losses\":[",
                  (int64_t)sqlite3_column_int64(row, PROCESSES),
                  sqlite3_column_int(row, HAS_EVENTS) ? "true" : "false");
    add_sentences(row, &sentences);
    buffer_add_char(json, ']');
    sqlite3_reset(row);
    return 0;
}

int describe_runs(struct db *db, const struct run_set *runs, struct buffer *json, struct error *err) {
    return add_kinds(db, runs, json, err) || add_losses(db, runs, json, err) ? -1 : 0;
}
