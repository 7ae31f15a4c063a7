#include "cli/merge_files.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/grid.h"
#include "base/units.h"

static void tell(const char *line) {
    fflush(stdout);
    error_print("%s", line);
}

static void print_json(struct merge_files *files, const char *path, const struct merge_result *result) {
    struct buffer text = {0};
    buffer_add_text(&text, files->printed++ ? ",\n{" : "[{");
    buffer_add_json_field(&text, "file", path);
    buffer_printf(&text,
                  ",\"runs\":%" PRId64 ",\"known\":%" PRId64 ",\"replaced\":%" PRId64 ",\"unfinished\":%" PRId64
                  ",\"rows\":%" PRId64 ",\"queries\":%" PRId64 ",\"views\":%" PRId64 ",\"accepted\":%" PRId64,
                  result->runs, result->known, result->replaced, result->unfinished, result->rows, result->queries,
                  result->views, result->accepted);
    buffer_printf(&text, ",\"first_run\":%" PRId64 ",\"last_run\":%" PRId64 "}", result->first_run, result->last_run);
    fputs(buffer_text(&text), stdout);
    buffer_free(&text);
}

static void add_count(struct buffer *line, int64_t count, const char *what) {
    if (count) buffer_printf(line, ", %s", units_things(count, what).text);
}

static void print_text(const char *path, const struct merge_result *result) {
    struct buffer line = {0};
    grid_visible(&line, path, INT32_MAX);
    buffer_printf(&line, ": %s", units_things(result->runs, "run").text);
    if (result->runs == 1) buffer_printf(&line, " (%" PRId64 ")", result->first_run);
    if (result->runs > 1) buffer_printf(&line, " (%" PRId64 "..%" PRId64 ")", result->first_run, result->last_run);
    add_count(&line, result->rows, "row");
    if (result->known) buffer_printf(&line, ", %s already here", units_count(result->known).text);
    if (result->replaced)
        buffer_printf(&line, ", %s in place of an unfinished copy", units_count(result->replaced).text);
    if (result->unfinished) buffer_printf(&line, ", %s without an end", units_count(result->unfinished).text);
    if (result->queries) buffer_printf(&line, ", saved queries: %s", units_count(result->queries).text);
    add_count(&line, result->views, "view");
    add_count(&line, result->accepted, "accepted change");
    puts(buffer_text(&line));
    buffer_free(&line);
}

void merge_one_file(struct merge_files *files, struct merge *merge, const char *path) {
    struct merge_result result;
    struct error err = {0};
    merge->tell = files->is_quiet ? NULL : tell;
    if (merge_file(merge, path, &result, &err)) {
        files->failed++;
        tell(err.message);
        return;
    }
    if (result.last_run) files->last_run = result.last_run;
    if (files->is_json)
        print_json(files, path, &result);
    else if (!files->is_quiet)
        print_text(path, &result);
}

void merge_single_file(struct merge_files *files, struct db *db, const char *path) {
    struct merge merge;
    struct error err = {0};
    if (merge_open(&merge, db, &err) == 0) {
        merge_one_file(files, &merge, path);
    } else {
        files->failed++;
        tell(err.message);
    }
    merge_close(&merge);
}
