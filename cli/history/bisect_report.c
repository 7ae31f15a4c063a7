#include "cli/history/bisect_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/grid.h"
#include "cli/cli.h"
#include "query/diff/diff.h"
#include "query/diff/noise.h"
#include "query/history/figure_text.h"

enum { SUBJECT_WIDTH = 48, DIFF_RUNS = 10, DIFF_TOP = 5 };

/* ---- figures ---- */

static struct noise_side side_of_runs(const struct bisect_commit *commit) {
    return noise_compare(commit->values.values, commit->values.count, commit->values.values, commit->values.count).old;
}

/* "1,234", "3.4 ms ± 0.1 ms"; free() it. */
static char *value_text(const char *figure, const struct bisect_commit *commit) {
    struct noise_side side = side_of_runs(commit);
    if (isnan(side.sd) || side.sd == 0) return xstrdup(figure_text(figure, side.mean).text);
    return xasprintf("%s ± %s", figure_text(figure, side.mean).text, figure_text(figure, side.sd).text);
}

/* A text of the repository, on one line and without what a terminal would obey. free() it. */
static char *shown(const char *text, int width) {
    struct buffer out = {0};
    grid_visible(&out, text, width);
    buffer_add_text(&out, "");
    return buffer_take(&out);
}

/* ---- a line a commit ---- */

static char *subject_of(const struct bisect_git *git, const char *hash) {
    struct bisect_about about;
    struct error ignored = {0};
    char *subject =
        bisect_git_about(git, hash, &about, &ignored) == 0 ? shown(about.subject, SUBJECT_WIDTH) : xstrdup("");
    bisect_about_free(&about);
    return subject;
}

static void print_padded(FILE *out, const char *text, int width) {
    int missing = width - grid_width(text, strlen(text));
    fprintf(out, "  %s%*s", text, missing > 0 ? missing : 0, "");
}

void bisect_print_commit(const struct bisect_report *report, const char *hash, const struct bisect_commit *commit,
                         const char *word, const char *why) {
    enum { VALUE_WIDTH = 22, RUNS_WIDTH = 8 };
    bool has_runs = commit && commit->values.count;
    if (!report->live) return;
    char *brief = bisect_git_short(report->git, hash), *subject = subject_of(report->git, hash);
    char *value = has_runs ? value_text(report->runs->figure, commit) : xstrdup("-");
    fprintf(report->live, "%-4s  %s", word, brief);
    print_padded(report->live, value, VALUE_WIDTH);
    print_padded(report->live, has_runs ? units_things((int64_t)commit->values.count, "run").text : "", RUNS_WIDTH);
    fprintf(report->live, "  %s%s%s\n", subject, why ? ": " : "", why ? why : "");
    fflush(report->live);
    free(brief);
    free(subject);
    free(value);
}

/* ---- the commit ---- */

static int print_about(const struct bisect_git *git, const char *hash, FILE *out, struct error *err) {
    struct bisect_about about;
    int code = bisect_git_about(git, hash, &about, err);
    if (code == 0) {
        char *subject = shown(about.subject, INT32_MAX), *author = shown(about.author, INT32_MAX);
        fprintf(out, "  subject: %s\n  author:  %s, %s\n", subject, author, about.date);
        free(subject);
        free(author);
    }
    bisect_about_free(&about);
    return code;
}

static void print_change(const struct bisect_report *report, const struct bisect_found *found, FILE *out) {
    const char *figure = report->runs->figure;
    if (!found->before || !found->after) return;
    char *before = value_text(figure, found->before), *after = value_text(figure, found->after);
    struct noise_side old = side_of_runs(found->before), new = side_of_runs(found->after);
    char *of = report->runs->of ? shown(report->runs->of, SUBJECT_WIDTH) : NULL;
    fprintf(out, "  %s%s%s: %s -> %s (%s), %s before, %s after\n", figure, of ? " of " : "", of ? of : "", before,
            after, figure_change_text(old.mean, new.mean).text, units_things((int64_t)old.n, "run").text,
            units_things((int64_t) new.n, "run").text);
    free(of);
    free(before);
    free(after);
}

int bisect_print_found(const struct bisect_report *report, const struct bisect_found *found, FILE *out,
                       struct error *err) {
    int code = 0;
    if (found->first_bad) {
        fprintf(out, "\n%s is the first bad commit\n", found->first_bad);
        code = print_about(report->git, found->first_bad, out, err);
    } else {
        fprintf(out, "\nthe first bad commit is one of these; the others could not be tested\n");
        for (size_t i = 0; i < found->possible->count && code == 0; i++) {
            fprintf(out, "%s\n", found->possible->hashes[i]);
            code = print_about(report->git, found->possible->hashes[i], out, err);
        }
    }
    print_change(report, found, out);
    return code;
}

/* ---- JSON ---- */

static int add_about(struct buffer *out, const struct bisect_git *git, const char *hash, struct error *err) {
    struct bisect_about about;
    int code = bisect_git_about(git, hash, &about, err);
    if (code == 0) {
        buffer_add_char(out, '{');
        buffer_add_json_field(out, "commit", hash);
        buffer_add_char(out, ',');
        buffer_add_json_field(out, "subject", about.subject);
        buffer_add_char(out, ',');
        buffer_add_json_field(out, "author", about.author);
        buffer_add_char(out, ',');
        buffer_add_json_field(out, "date", about.date);
        buffer_add_char(out, '}');
    }
    bisect_about_free(&about);
    return code;
}

static void add_runs(struct buffer *out, const struct bisect_commit *commit) {
    if (!commit) {
        buffer_add_text(out, "null");
        return;
    }
    struct noise_side side = side_of_runs(commit);
    buffer_add_char(out, '{');
    buffer_add_json_field(out, "commit", commit->hash);
    buffer_printf(out, ",\"mean\":%.17g,\"deviation\":", side.mean);
    if (isnan(side.sd))
        buffer_add_text(out, "null");
    else
        buffer_printf(out, "%.17g", side.sd);
    buffer_add_text(out, ",\"runs\":[");
    for (size_t i = 0; i < commit->values.count; i++)
        buffer_printf(out, "%s{\"run\":%" PRId64 ",\"value\":%.17g}", i ? "," : "", commit->runs[i],
                      commit->values.values[i]);
    buffer_add_text(out, "]}");
}

static int add_found(struct buffer *out, const struct bisect_report *report, const struct bisect_found *found,
                     struct error *err) {
    int code = 0;
    buffer_add_text(out, "{\"first_bad\":");
    if (found->first_bad)
        code = add_about(out, report->git, found->first_bad, err);
    else
        buffer_add_text(out, "null");
    buffer_add_text(out, ",\n\"possible\":[");
    for (size_t i = 0; found->possible && i < found->possible->count && code == 0; i++) {
        if (i) buffer_add_char(out, ',');
        code = add_about(out, report->git, found->possible->hashes[i], err);
    }
    buffer_add_text(out, "],\n");
    return code;
}

int bisect_print_json(const struct bisect_report *report, const struct bisect_found *found, FILE *out,
                      struct error *err) {
    struct buffer text = {0};
    int code = add_found(&text, report, found, err);
    buffer_add_json_field(&text, "figure", report->runs->figure);
    buffer_add_char(&text, ',');
    buffer_add_json_field(&text, "subject", report->runs->of ? report->runs->of : "");
    buffer_add_text(&text, ",\n\"before\":");
    add_runs(&text, found->before);
    buffer_add_text(&text, ",\n\"after\":");
    add_runs(&text, found->after);
    buffer_add_text(&text, ",\n\"commits\":[");
    for (size_t i = 0; i < report->runs->count; i++) {
        if (i) buffer_add_text(&text, ",\n");
        add_runs(&text, report->runs->commits[i]);
    }
    buffer_add_text(&text, "]}\n");
    if (code == 0) fwrite(text.data, 1, text.size, out);
    buffer_free(&text);
    return code;
}

/* ---- what moved ---- */

static char *add_side(struct run_list *list, struct db *db, const struct bisect_commit *commit) {
    size_t first = commit->values.count > DIFF_RUNS ? commit->values.count - DIFF_RUNS : 0;
    struct buffer name = {0};
    for (size_t i = first; i < commit->values.count; i++) {
        run_list_add(list, db, commit->runs[i]);
        buffer_printf(&name, "%s%" PRId64, i > first ? "," : "", commit->runs[i]);
    }
    return buffer_take(&name);
}

/* Allocations are sorted by the figure that was searched by. */
static enum heap_by heap_by_figure(const char *figure) {
    if (strcmp(figure, "alloc_count") == 0) return HEAP_ALLOCS;
    if (strcmp(figure, "inuse_bytes") == 0) return HEAP_INUSE_BYTES;
    return strcmp(figure, "inuse_count") == 0 ? HEAP_INUSE_ALLOCS : HEAP_BYTES;
}

int bisect_print_moved(const struct bisect_report *report, const struct bisect_found *found, struct db *db,
                       const char *database, struct error *err) {
    if (!found->before || !found->after || found->before == found->after) return 0;
    struct diff_options diff = {.rules = db, .by = heap_by_figure(report->runs->figure), .top = DIFF_TOP};
    struct buffer file = {0};
    char *old = add_side(&diff.sides[DIFF_OLD].runs, db, found->before);
    char *new = add_side(&diff.sides[DIFF_NEW].runs, db, found->after);
    diff.sides[DIFF_OLD].name = old;
    diff.sides[DIFF_NEW].name = new;
    escape_shell(&file, cli_database(database));
    printf("\nwhat moved: clear doctor --db %s %s --diff %s\n", buffer_text(&file), old, new);
    int code = diff_print(stdout, &diff, err);
    for (int side = 0; side < DIFF_SIDES; side++)
        run_list_free(&diff.sides[side].runs);
    buffer_free(&file);
    free(old);
    free(new);
    return code;
}

void bisect_print_end(const struct bisect_found *found, FILE *out) {
    if (found->first_bad)
        fprintf(out, "\nfirst bad commit: %s\n", found->first_bad);
    else
        fprintf(out, "\nfirst bad commit: one of %zu, %.10s to %.10s\n", found->possible->count,
                found->possible->hashes[0], found->possible->hashes[found->possible->count - 1]);
}
