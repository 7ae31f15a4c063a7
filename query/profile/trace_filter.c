#include "query/profile/trace_filter.h"

#include <string.h>

#include "schema/schema.h"

enum { MET_FOCUS = 1, MET_IGNORE = 2 };

int trace_filter_open(struct trace_filter *filter, const char *focus, const char *ignore, struct error *err) {
    *filter = (struct trace_filter){0};
    if (focus && !(filter->focus = pattern_compile("--focus", focus, err))) return -1;
    if (ignore && !(filter->ignore = pattern_compile("--ignore", ignore, err))) return -1;
    return 0;
}

void trace_filter_close(struct trace_filter *filter) {
    pattern_free(filter->focus);
    pattern_free(filter->ignore);
    map_free(&filter->texts);
}

/* Names come again and again: each is matched once. */
static int met_by(struct trace_filter *filter, const char *text) {
    bool is_new;
    struct map_entry *entry = map_put(&filter->texts, text, strlen(text), &is_new);
    if (is_new) {
        entry->value = filter->focus && pattern_matches(filter->focus, text) ? MET_FOCUS : 0;
        entry->value |= filter->ignore && pattern_matches(filter->ignore, text) ? MET_IGNORE : 0;
    }
    return (int)entry->value;
}

int trace_filter_keeps_named(struct trace_filter *filter, struct db *db, int64_t trace_id, const char *name,
                             bool *keeps, struct error *err) {
    int met = 0, code;
    *keeps = true;
    if (!trace_filter_is_open(filter)) return 0;
    if (name) met |= met_by(filter, name);
    sqlite3_stmt *row = db_prepare(db, embedded_text("diff/frame_texts.sql"), err);
    if (!row) return -1;
    db_bind_int(row, ":trace", trace_id);
    while ((code = db_step(db, row, err)) == 1)
        for (int i = 0; i < 3; i++)
            if (*db_text(row, i)) met |= met_by(filter, db_text(row, i));
    *keeps = !(met & MET_IGNORE) && (!filter->focus || met & MET_FOCUS);
    if (code == 0) code = pattern_check(filter->focus, err) < 0 ? -1 : pattern_check(filter->ignore, err);
    return code;
}

int trace_filter_keeps(struct trace_filter *filter, struct db *db, int64_t trace_id, bool *keeps, struct error *err) {
    return trace_filter_keeps_named(filter, db, trace_id, NULL, keeps, err);
}
