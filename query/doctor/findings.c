#include <stdlib.h>
#include <string.h>

#include "query/doctor/findings.h"
#include "schema/diagnoses.h"
#include "schema/schema.h"

bool doctor_is_severe(const struct finding *finding) {
    return strcmp(finding->severity, "critical") == 0 || strcmp(finding->severity, "warning") == 0;
}

bool doctor_is_saturation(const struct finding *finding) {
    return strcmp(finding->section, "saturation") == 0;
}

static const char *keep(struct doctor_report *report, sqlite3_stmt *row, int column) {
    struct buffer text = {0};
    buffer_add_text(&text, db_text(row, column));
    buffer_make_visible(&text); /* it is printed, and the file may be a stranger's */
    const char *kept = arena_text(&report->texts, text.data, text.size);
    buffer_free(&text);
    return kept;
}

/* The same where the finding before has the same text, as the findings of one code have: a text that is visible stays as it is. */
static const char *keep_again(struct doctor_report *report, sqlite3_stmt *row, int column, const char *before) {
    return before && strcmp(before, db_text(row, column)) == 0 ? before : keep(report, row, column);
}

static void add(struct doctor_report *report, const struct finding *finding) {
    if (report->count == report->capacity) {
        report->capacity = report->capacity ? report->capacity * 2 : 64;
        report->findings = xrealloc(report->findings, report->capacity * sizeof *report->findings);
    }
    report->findings[report->count++] = *finding;
}

/* ---- the filter ---- */

/* Keeps the stacks of a finding that match. A finding with stacks is kept if one of them matches; a finding without stacks, such
 * as a lock whose callers were not recorded, if its name matches. */
static int narrow(struct doctor_report *report, struct finding *finding, bool *keeps, struct error *err) {
    struct buffer matching = {0};
    int64_t stacks = 0, kept = 0;
    sqlite3_stmt *row = db_prepare(report->db, "SELECT value FROM json_each(:ids)", err);
    if (!row) return -1;
    db_bind_text(row, ":ids", finding->trace_ids);
    int code;
    while ((code = db_step(report->db, row, err)) == 1) {
        int64_t trace_id = sqlite3_column_int64(row, 0);
        stacks++;
        if (trace_filter_keeps_named(&report->filter, report->db, trace_id, finding->subject, keeps, err) < 0)
            return -1;
        if (*keeps && !kept) finding->trace_id = trace_id;
        if (*keeps) buffer_printf(&matching, "%s%s", kept++ ? "," : "[", db_text(row, 0));
    }
    if (code == 0 && !stacks)
        code = trace_filter_keeps_named(&report->filter, report->db, 0, finding->subject, keeps, err);
    if (code == 0 && stacks) *keeps = kept > 0;
    if (code == 0 && kept && kept < stacks) {
        buffer_add_char(&matching, ']');
        finding->trace_ids = arena_text(&report->texts, matching.data, matching.size);
    }
    buffer_free(&matching);
    return code;
}

/* ---- the order of --by ---- */

static int severity_rank(const struct finding *finding) {
    static const char *const names[] = {"critical", "warning", "note"};
    int rank = 0;
    while (rank < 3 && strcmp(finding->severity, names[rank]) != 0)
        rank++;
    return rank;
}

static int larger_first(const void *left, const void *right) {
    const struct finding *a = left, *b = right;
    int ranks = severity_rank(a) - severity_rank(b);
    if (ranks) return ranks;
    if (a->weight != b->weight) return a->weight < b->weight ? 1 : -1;
    int names = strcmp(a->subject, b->subject);
    return names ? names : strcmp(a->trace_ids, b->trace_ids);
}

/* Sorts the heap's findings among themselves; findings of other sections keep their places. */
static void sort_heap(struct doctor_report *report) {
    struct finding *heap = xmalloc((report->count + 1) * sizeof *heap);
    size_t count = 0, next = 0;
    for (size_t i = 0; i < report->count; i++)
        if (strcmp(report->findings[i].section, "heap") == 0) heap[count++] = report->findings[i];
    qsort(heap, count, sizeof *heap, larger_first);
    for (size_t i = 0; i < report->count; i++)
        if (strcmp(report->findings[i].section, "heap") == 0) report->findings[i] = heap[next++];
    free(heap);
}

/* The JSON path of the figure of --by in the evidence. */
static const char *weight_path(enum heap_by by) {
    static const char *const paths[] = {[HEAP_BYTES] = "$.alloc_bytes",
                                        [HEAP_ALLOCS] = "$.alloc_count",
                                        [HEAP_INUSE_BYTES] = "$.inuse_bytes",
                                        [HEAP_INUSE_ALLOCS] = "$.inuse_count"};
    return paths[by];
}

/* Further findings than OWN_MAX keep their subject alone: nobody reads so many, and each is a question. */
enum { FINDINGS_MAX = 1000000, OWN_MAX = 2000 };

static struct finding read_finding(struct doctor_report *report, sqlite3_stmt *row, const struct finding *before) {
    return (struct finding){.section = keep_again(report, row, 0, before->section),
                            .code = keep_again(report, row, 1, before->code),
                            .severity = keep_again(report, row, 2, before->severity),
                            .subject = keep(report, row, 3),
                            .evidence = keep(report, row, 4),
                            .trace_ids = keep(report, row, 5),
                            .advice = keep_again(report, row, 6, before->advice),
                            .title = "",
                            .weight = sqlite3_column_double(row, 7),
                            .trace_id = sqlite3_column_int64(row, 8),
                            .brief = "",
                            .unless = ""};
}

/* report/findings.sql, with the sections of `doctor` that the run has facts of. */
static sqlite3_stmt *prepare_findings(struct doctor_report *report, struct error *err) {
    static const char from[] = "\nFROM ", view[] = "doctor\n";
    const char *text = embedded_text("report/findings.sql"), *place = strstr(text, from);
    if (!place || strncmp(place + strlen(from), view, strlen(view)) != 0)
        bug("report/findings.sql reads no view doctor");
    place += strlen(from);
    struct buffer sql = {0};
    buffer_add(&sql, text, (size_t)(place - text));
    sqlite3_stmt *row = NULL;
    if (diagnoses_of_run(report->db, report->options->run_id, &sql, err) == 0) {
        buffer_add_text(&sql, place + strlen("doctor"));
        row = db_prepare(report->db, buffer_text(&sql), err);
    }
    buffer_free(&sql);
    return row;
}

static int load(struct doctor_report *report, struct error *err) {
    sqlite3_stmt *row = prepare_findings(report, err);
    if (!row) return -1;
    db_bind_int(row, ":run", report->options->run_id);
    if (report->options->has_by) db_bind_text(row, ":weight", weight_path(report->options->by));
    struct finding finding = {0};
    int64_t number = 0;
    int code;
    while ((code = db_step(report->db, row, err)) == 1) {
        finding = read_finding(report, row, &finding);
        finding.number = ++number;
        bool keeps = true;
        if (trace_filter_is_open(&report->filter) && !doctor_is_saturation(&finding) &&
            narrow(report, &finding, &keeps, err) < 0)
            return -1;
        if (keeps) add(report, &finding);
        report->hidden += !keeps;
        if (report->count > FINDINGS_MAX)
            return error_fail(err, "%s: more than %d findings: a view of the file may not end", report->db->path,
                              FINDINGS_MAX);
    }
    return code;
}

/* ---- what is said of findings ---- */

/* The short advice, with what the finding's own advice says behind the text for its code. */
static const char *brief_of(struct doctor_report *report, const struct finding *finding, const char *text,
                            const char *brief) {
    size_t size = strlen(text);
    if (!*brief || strncmp(finding->advice, text, size) != 0 || !finding->advice[size]) return brief;
    struct buffer whole = {0};
    buffer_add_text(&whole, brief);
    buffer_add_text(&whole, finding->advice + size);
    const char *kept = arena_text(&report->texts, whole.data, whole.size);
    buffer_free(&whole);
    return kept;
}

int doctor_find_words(struct doctor_report *report, struct finding *const *findings, size_t count, struct error *err) {
    enum { KEY, TITLE, TEXT, BRIEF, UNLESS };
    struct buffer asked = {0};
    struct finding last = {0};
    const char *text = NULL;
    for (size_t i = 0; i < count; i++) {
        char *code = xasprintf("%s-%s", findings[i]->section, findings[i]->code);
        buffer_add_text(&asked, i ? ",[" : "[[");
        buffer_add_json_text(&asked, code);
        buffer_printf(&asked, ",%lld]", (long long)findings[i]->trace_id);
        free(code);
    }
    buffer_add_text(&asked, count ? "]" : "[]");
    sqlite3_stmt *row = db_prepare(report->db, embedded_text("report/finding_words.sql"), err);
    int code = row ? 0 : -1;
    if (row) db_bind_text(row, ":findings", buffer_text(&asked));
    while (row && (code = db_step(report->db, row, err)) == 1) {
        struct finding *finding = findings[sqlite3_column_int64(row, KEY)];
        finding->title = last.title = keep_again(report, row, TITLE, last.title);
        finding->unless = last.unless = keep_again(report, row, UNLESS, last.unless);
        last.brief = keep_again(report, row, BRIEF, last.brief);
        text = keep_again(report, row, TEXT, text);
        finding->brief = brief_of(report, finding, text, last.brief);
    }
    buffer_free(&asked);
    return code;
}

int doctor_load_alone(struct doctor_report *report, struct error *err) {
    db_cache_more(report->db);
    db_limit(report->db, DOCTOR_LOAD_NS);
    int code = load(report, err);
    db_unlimit(report->db);
    if (code == 0 && report->options->has_by) sort_heap(report);
    return code;
}

int doctor_load(struct doctor_report *report, struct error *err) {
    if (doctor_load_alone(report, err)) return -1;
    struct finding **all = xmalloc((report->count + 1) * sizeof(struct finding *));
    for (size_t i = 0; i < report->count; i++)
        all[i] = &report->findings[i];
    int code = doctor_find_words(report, all, report->count, err) ||
                       doctor_find_own(report, all, report->count < OWN_MAX ? report->count : OWN_MAX, err)
                   ? -1
                   : 0;
    free(all);
    return code;
}

static bool are_alike(const struct finding *a, const struct finding *b) {
    return doctor_is_saturation(a) && doctor_is_saturation(b) && strcmp(a->code, b->code) == 0 &&
           strcmp(a->severity, b->severity) == 0 && strcmp(a->evidence, b->evidence) == 0;
}

/* Kinds that were sampled in the same way become one row that lists them. */
static void merge_alike(struct doctor_report *report) {
    size_t left = 0;
    for (size_t i = 0; i < report->count; i++) {
        struct finding *last = left ? &report->findings[left - 1] : NULL;
        if (!last || !are_alike(last, &report->findings[i])) {
            report->findings[left++] = report->findings[i];
            continue;
        }
        char *both = xasprintf("%s, %s", last->subject, report->findings[i].subject);
        last->subject = arena_text(&report->texts, both, strlen(both));
        free(both);
    }
    report->count = left;
}

void doctor_group_sections(struct doctor_report *report) {
    struct finding *sorted = xmalloc((report->count + 1) * sizeof *sorted);
    size_t done = 0;
    for (size_t i = 0; i < report->count; i++) {
        bool seen = false;
        for (size_t j = 0; j < done && !seen; j++)
            seen = strcmp(sorted[j].section, report->findings[i].section) == 0;
        for (size_t j = i; j < report->count && !seen; j++)
            if (strcmp(report->findings[j].section, report->findings[i].section) == 0)
                sorted[done++] = report->findings[j];
    }
    free(report->findings);
    report->findings = sorted;
    merge_alike(report);
}
