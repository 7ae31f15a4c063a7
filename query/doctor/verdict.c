/* verdict.c: the first lines of a report: how many findings there are of each severity, where the worst are, and what they cost. */
#include "query/doctor/findings.h"

#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/units.h"
#include "query/profile/usual_name.h"
#include "schema/schema.h"

enum { NAMED = 3 }; /* findings of one severity that have a line */

static bool is_of(const struct finding *finding, const char *severity) {
    return strcmp(finding->severity, severity) == 0;
}

static size_t count_of(const struct doctor_report *report, const char *severity) {
    size_t count = 0;
    for (size_t i = 0; i < report->count; i++)
        count += is_of(&report->findings[i], severity);
    return count;
}

static bool has_diagnoses(const struct doctor_report *report) {
    for (size_t i = 0; i < report->count; i++)
        if (!doctor_is_saturation(&report->findings[i])) return true;
    return false;
}

static struct units_text in_unit(const char *unit, int64_t value) {
    if (strcmp(unit, "bytes") == 0) return units_bytes(value);
    return strcmp(unit, "ns") == 0 ? units_ns(value) : units_count(value);
}

/* What a reader may want to see of a name in the line: written, and noted. */
static void add_link(struct doctor_line *line, const char *what, const char *function, const char *text) {
    if (line->link_count < DOCTOR_LINKS) {
        struct doctor_link *link = &line->links[line->link_count++];
        *link = (struct doctor_link){.what = what, .function = xstrdup(function), .from = line->text.size};
        link->to = link->from + strlen(text);
    }
    buffer_add_text(&line->text, text);
}

void doctor_line_free(struct doctor_line *line) {
    while (line->link_count)
        free(line->links[--line->link_count].function);
    buffer_free(&line->text);
}

static void add_file_line(struct doctor_line *line, const char *what, const char *function, const char *file,
                          const char *number) {
    char *place = xasprintf("%s:%s", path_base(file), number);
    add_link(line, what, function, place);
    free(place);
}

/* ", at table.c:42"; nothing where no line is known. */
static int add_place(struct doctor_report *report, const struct finding *finding, struct doctor_line *line,
                     struct error *err) {
    if (finding->own_function) {
        char number[24];
        snprintf(number, sizeof number, "%lld", (long long)finding->own_line);
        if (!*finding->own_file || !finding->own_line) return 0;
        buffer_add_text(&line->text, ", at ");
        add_file_line(line, "place", finding->own_function, finding->own_file, number);
        return 0;
    }
    sqlite3_stmt *row = db_prepare(report->db, embedded_text("report/stack.sql"), err);
    if (!row) return -1;
    db_bind_int(row, ":trace", finding->trace_id);
    db_bind_text(row, ":subject", finding->subject);
    db_bind_int(row, ":count", 1);
    int code = db_step(report->db, row, err);
    if (code == 1 && *db_text(row, 1) && sqlite3_column_int64(row, 2)) {
        buffer_add_text(&line->text, ", at ");
        add_file_line(line, "place", db_text(row, 0), db_text(row, 1), db_text(row, 2));
    }
    sqlite3_reset(row);
    return code < 0 ? -1 : 0;
}

/* ", costs 0.9 s of 1.2 s of thread time"; nothing where the evidence has no cost. */
static int add_cost(struct doctor_report *report, const struct finding *finding, struct doctor_line *line,
                    struct error *err) {
    enum { VERB, VALUE, UNIT, WHOLE, WHOLE_NAME };
    sqlite3_stmt *row = db_prepare(report->db, embedded_text("report/verdict.sql"), err);
    if (!row) return -1;
    db_bind_text(row, ":section", finding->section);
    db_bind_text(row, ":code", finding->code);
    db_bind_text(row, ":evidence", finding->evidence);
    db_bind_int(row, ":run", report->options->run_id);
    int code = db_step(report->db, row, err);
    if (code == 1) {
        int64_t value = sqlite3_column_int64(row, VALUE), whole = sqlite3_column_int64(row, WHOLE);
        buffer_printf(&line->text, ", %s %s", db_text(row, VERB), in_unit(db_text(row, UNIT), value).text);
        if (whole >= value)
            buffer_printf(&line->text, " of %s %s", in_unit(db_text(row, UNIT), whole).text, db_text(row, WHOLE_NAME));
    }
    sqlite3_reset(row);
    return code < 0 ? -1 : 0;
}

static void add_name(const struct doctor_report *report, struct doctor_line *line, const char *what,
                     const char *function) {
    struct buffer plain = {0}, name = {0};
    grid_visible(&name, usual_name_unless(report->options->full_names, function, &plain), report->width / 2);
    add_link(line, what, function, buffer_text(&name));
    buffer_free(&name);
    buffer_free(&plain);
}

/* "save, cache.c:36", and "save in sqlite3_exec, cache.c:36" where that is a library's. */
static void add_holding(const struct doctor_report *report, const struct finding *holder, struct doctor_line *line) {
    add_name(report, line, "holder", holder->own_function);
    if (holder->own_callee) {
        buffer_add_text(&line->text, " in ");
        add_name(report, line, "holder", holder->own_callee);
    }
    if (!*holder->own_file || !holder->own_line) return;
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)holder->own_line);
    buffer_add_text(&line->text, ", ");
    add_file_line(line, "holder", holder->own_function, holder->own_file, number);
}

/* ", held for 0.5 s by save, cache.c:36": of a lock the stack that had it for most of the time, where its stacks were recorded. */
static int add_holder(struct doctor_report *report, const struct finding *finding, struct doctor_line *line,
                      struct error *err) {
    enum { FUNCTION, FILE_NAME, LINE, HOLD_NS, TRACE };
    if (strcmp(finding->section, "lock") != 0) return 0;
    sqlite3_stmt *row = db_prepare(report->db, embedded_text("report/holder.sql"), err);
    if (!row) return -1;
    db_bind_text(row, ":subject", finding->subject);
    db_bind_int(row, ":run", report->options->run_id);
    int code = db_step(report->db, row, err);
    if (code == 1) {
        struct finding holder = {.own_function = db_text(row, FUNCTION),
                                 .own_file = db_text(row, FILE_NAME),
                                 .own_line = sqlite3_column_int64(row, LINE)};
        int64_t trace_id = sqlite3_column_int64(row, TRACE);
        if (trace_id && doctor_find_own_of(report, trace_id, &holder, err)) code = -1;
        buffer_printf(&line->text, ", held for %s by ", units_ns(sqlite3_column_int64(row, HOLD_NS)).text);
        add_holding(report, &holder, line);
    }
    sqlite3_reset(row);
    return code < 0 ? -1 : 0;
}

/* The subject, "read_config in SUBJECT" where it is not the program's own, and "SUBJECT, used by save in sqlite3_exec" of a lock that a library takes. */
static void add_subject(const struct doctor_report *report, const struct finding *finding, struct doctor_line *line) {
    if (finding->own_function && !finding->own_is_user) {
        add_name(report, line, "caller", finding->own_function);
        buffer_add_text(&line->text, " in ");
    }
    add_name(report, line, "subject", finding->subject);
    if (finding->own_function && finding->own_is_user) {
        buffer_add_text(&line->text, ", used by ");
        add_name(report, line, "caller", finding->own_function);
        buffer_add_text(&line->text, " in ");
        add_name(report, line, "caller", finding->own_callee);
    }
}

int doctor_line_add(struct doctor_report *report, const struct finding *finding, struct doctor_line *line,
                    struct error *err) {
    buffer_printf(&line->text, "[%lld] %s", (long long)finding->number, finding->section);
    if (strcmp(finding->section, finding->code) != 0) buffer_printf(&line->text, " %s", finding->code);
    if (finding->trace_id ||
        strcmp(finding->section, finding->subject) != 0) { /* processors are a section and a subject */
        buffer_add_text(&line->text, ", ");
        add_subject(report, finding, line);
    }
    return add_place(report, finding, line, err) || add_cost(report, finding, line, err) ||
                   add_holder(report, finding, line, err)
               ? -1
               : 0;
}

/* The words of a line after `used` columns of it, the next lines below its first word. */
static void print_wrapped(const struct doctor_report *report, int used, const char *text) {
    struct buffer indent = {0};
    buffer_printf(&indent, "%*s", used, "");
    char *wrapped = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&wrapped, &size);
    if (memory) {
        wrap_print(memory, report->width, buffer_text(&indent), text);
        fclose(memory);
        fputs(size > (size_t)used ? wrapped + used : "\n", report->out);
    }
    free(wrapped);
    buffer_free(&indent);
}

static int print_named(struct doctor_report *report, const struct finding *finding, int used, struct error *err) {
    struct doctor_line line = {0};
    int code = doctor_line_add(report, finding, &line, err);
    if (code == 0) print_wrapped(report, used, buffer_text(&line.text));
    doctor_line_free(&line);
    return code;
}

int doctor_print_finding(struct doctor_report *report, const struct finding *finding, struct error *err) {
    int used = (int)strlen(finding->severity) + 2;
    fprintf(report->out, "%s%s:%s ", doctor_severity_style(report, finding->severity), finding->severity,
            doctor_plain(report));
    return print_named(report, finding, used, err);
}

/* "2 warnings:", "1 critical:". */
static void add_severity(struct buffer *head, const char *severity, size_t count) {
    if (strcmp(severity, "warning") == 0)
        buffer_printf(head, "%s:", units_things((int64_t)count, severity).text);
    else
        buffer_printf(head, "%s %s:", units_count((int64_t)count).text, severity);
}

/* "2 warnings: [2] ...", a line for each of the first ones. What the run did comes before what was not recorded of it. */
static int print_severity(struct doctor_report *report, const char *severity, struct error *err) {
    size_t count = count_of(report, severity), named = 0;
    struct buffer head = {0};
    int code = 0;
    if (!count) return 0;
    add_severity(&head, severity, count);
    int used = (int)head.size + 1;
    for (int saturation = 0; saturation < 2 && code == 0; saturation++)
        for (size_t i = 0; i < report->count && named < NAMED && code == 0; i++) {
            const struct finding *finding = &report->findings[i];
            if (!is_of(finding, severity) || doctor_is_saturation(finding) != saturation) continue;
            if (!named)
                fprintf(report->out, "%s%s%s ", doctor_severity_style(report, severity), buffer_text(&head),
                        doctor_plain(report));
            else
                fprintf(report->out, "%*s", used, "");
            code = print_named(report, finding, used, err);
            named++;
        }
    if (count > named) fprintf(report->out, "%*sand %s more\n", used, "", units_count((int64_t)(count - named)).text);
    buffer_free(&head);
    return code;
}

/* How many findings of the severity its section has, 0 where an earlier one has told that. */
static int64_t count_in_section(const struct doctor_report *report, size_t first, const char *severity) {
    int64_t count = 0;
    for (size_t i = 0; i < report->count; i++) {
        const struct finding *finding = &report->findings[i];
        if (!is_of(finding, severity) || strcmp(finding->section, report->findings[first].section) != 0) continue;
        if (i < first) return 0;
        count++;
    }
    return count;
}

/* "3 notes (heap 2, lock 1)", "1 ok (lock)". Notes about the recording are always shown, and not counted. */
static void add_quiet(const struct doctor_report *report, const char *severity, struct buffer *line) {
    struct buffer sections = {0};
    int64_t all = 0, kinds = 0, count;
    const char *only = "";
    for (size_t i = 0; i < report->count; i++) {
        const struct finding *finding = &report->findings[i];
        if (doctor_is_saturation(finding) || !is_of(finding, severity)) continue;
        if (!(count = count_in_section(report, i, severity))) continue;
        buffer_printf(&sections, "%s%s %s", kinds++ ? ", " : "", finding->section, units_count(count).text);
        only = finding->section;
        all += count;
    }
    bool is_noun = strcmp(severity, "note") == 0;
    if (all)
        buffer_printf(line, "%s%s%s%s (%s)", line->size ? ", " : "",
                      is_noun ? units_things(all, severity).text : units_count(all).text, is_noun ? "" : " ",
                      is_noun ? "" : severity, kinds == 1 ? only : buffer_text(&sections));
    buffer_free(&sections);
}

/* What is said where nothing is worse than a note. */
static const char *no_warning(const struct doctor_report *report, const char *quiet) {
    if (*quiet) return "no warnings: ";
    return report->hidden ? "" : "no findings";
}

const struct finding *doctor_worst(const struct doctor_report *report) {
    static const char *const severities[] = {"critical", "warning"};
    for (size_t level = 0; level < 2; level++)
        for (int saturation = 0; saturation < 2; saturation++)
            for (size_t i = 0; i < report->count; i++) {
                const struct finding *finding = &report->findings[i];
                if (is_of(finding, severities[level]) && doctor_is_saturation(finding) == saturation) return finding;
            }
    return NULL;
}

int doctor_first_line(struct doctor_report *report, struct doctor_line *line, struct error *err) {
    const struct finding *worst = doctor_worst(report);
    if (worst) {
        add_severity(&line->text, worst->severity, count_of(report, worst->severity));
        buffer_add_char(&line->text, ' ');
        return doctor_line_add(report, worst, line, err);
    }
    struct buffer quiet = {0};
    add_quiet(report, "note", &quiet);
    add_quiet(report, "ok", &quiet);
    buffer_printf(&line->text, "%s%s", no_warning(report, buffer_text(&quiet)), buffer_text(&quiet));
    buffer_free(&quiet);
    return 0;
}

int doctor_print_verdict(struct doctor_report *report, struct error *err) {
    struct buffer line = {0};
    if (print_severity(report, "critical", err) || print_severity(report, "warning", err)) return -1;
    bool severe = count_of(report, "critical") || count_of(report, "warning");
    add_quiet(report, "note", &line);
    bool notes = line.size > 0;
    add_quiet(report, "ok", &line);
    const char *head = severe ? "" : no_warning(report, buffer_text(&line));
    if (notes && report->options->top) buffer_add_text(&line, "; --top 0 shows the notes");
    fputs(head, report->out);
    if (line.size)
        print_wrapped(report, (int)strlen(head), buffer_text(&line));
    else if (*head)
        fputc('\n', report->out);
    if (report->hidden && !has_diagnoses(report)) fputs("no finding matches\n", report->out);
    fputc('\n', report->out);
    buffer_free(&line);
    return 0;
}
