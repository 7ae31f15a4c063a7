#include <stdlib.h>
#include <string.h>

#include "query/doctor/findings.h"

/* The filter that was given, and how many findings it removed. */
static void print_filters(const struct doctor_report *report) {
    const struct doctor_options *options = report->options;
    struct buffer line = {0}, shown = {0};
    if (!options->focus && !options->ignore) return;
    buffer_printf(&line, "filter:%s%s%s%s", options->focus ? " --focus=" : "", options->focus ? options->focus : "",
                  options->ignore ? " --ignore=" : "", options->ignore ? options->ignore : "");
    if (!options->peek) buffer_printf(&line, "; %zu finding%s hidden", report->hidden, report->hidden == 1 ? "" : "s");
    grid_visible(&shown, buffer_text(&line), report->width - 2);
    fprintf(report->out, "  %s\n", buffer_text(&shown));
    buffer_free(&line);
    buffer_free(&shown);
}

static int print_sections(struct doctor_report *report, struct error *err) {
    for (size_t start = 0, end; start < report->count; start = end) {
        end = start + 1;
        while (end < report->count && strcmp(report->findings[end].section, report->findings[start].section) == 0)
            end++;
        if (report->peek && !doctor_is_saturation(&report->findings[start])) continue;
        if (doctor_print_section(report, start, end, err) < 0) return -1;
    }
    return 0;
}

static bool has_severe(const struct doctor_report *report) {
    for (size_t i = 0; i < report->count; i++)
        if (!doctor_is_saturation(&report->findings[i]) && doctor_is_severe(&report->findings[i])) return true;
    return false;
}

static int print_report(struct doctor_report *report, struct error *err) {
    if (doctor_load(report, err) < 0) return -1;
    if (!report->peek && doctor_print_verdict(report, err) < 0) return -1;
    if (doctor_print_head(report, err) < 0) return -1;
    doctor_group_sections(report);
    print_filters(report);
    if (print_sections(report, err) < 0) return -1;
    if (report->peek) return doctor_print_peek(report, err);
    if (doctor_wants_functions(report->options)) {
        if (doctor_print_functions(report, err) < 0) return -1;
    } else if (doctor_print_undiagnosed(report, has_severe(report), err) < 0) {
        return -1; /* what costs most CPU time is asked beside any finding; if nothing is wrong, the rest of what was sampled too */
    }
    return doctor_print_next(report, err) < 0 ? -1 : doctor_find_unnamed(report, err);
}

/* Patterns are compiled before anything else is done: a bad one is a usage error. */
static int open_report(struct doctor_report *report, struct error *err) {
    const struct doctor_options *options = report->options;
    if (trace_filter_open(&report->filter, options->focus, options->ignore, err) < 0) return -1;
    if (options->peek && !(report->peek = pattern_compile("--peek", options->peek, err))) return -1;
    return 0;
}

static void close_report(struct doctor_report *report) {
    trace_filter_close(&report->filter);
    pattern_free(report->peek);
    free(report->findings);
    arena_free(&report->texts);
}

typedef int report_writer(struct doctor_report *report, struct error *err);

/* The report is made in memory first: matching a pattern can fail late. */
static int write_report(FILE *out, struct db *db, const struct doctor_options *options, report_writer *write,
                        struct error *err) {
    struct doctor_report report = {.db = db, .options = options, .width = report_width(out)};
    char *text = NULL;
    size_t size = 0;
    int code = open_report(&report, err);
    if (code == 0 && !(report.out = open_memstream(&text, &size))) code = error_fail(err, "not enough memory");
    if (code == 0) code = write(&report, err);
    if (report.out && fclose(report.out) != 0) code = error_fail(err, "not enough memory for the report");
    if (code == 0) fwrite(text, 1, size, out);
    if (code == 0 && report.unnamed_file && options->unnamed) options->unnamed(report.unnamed_file, report.unnamed);
    free(text);
    close_report(&report);
    return code;
}

int doctor_print(FILE *out, struct db *db, const struct doctor_options *options, struct error *err) {
    return write_report(out, db, options, options->why ? doctor_print_why : print_report, err);
}

/* ---- JSON ---- */

static void add_text(struct buffer *out, const char *key, const char *text) {
    buffer_printf(out, ",\"%s\":", key);
    buffer_add_json_string(out, text, strlen(text));
}

static void print_finding(const struct doctor_report *report, const struct finding *finding, const char **separator) {
    struct buffer out = {0};
    buffer_printf(&out, "{\"run_id\":%lld,\"number\":%lld", (long long)report->options->run_id,
                  (long long)finding->number);
    add_text(&out, "section", finding->section);
    add_text(&out, "code", finding->code);
    add_text(&out, "severity", finding->severity);
    add_text(&out, "subject", finding->subject);
    buffer_printf(&out, ",\"evidence\":%s,\"trace_ids\":%s", finding->evidence, finding->trace_ids);
    if (*finding->advice)
        add_text(&out, "advice", finding->advice);
    else
        buffer_add_text(&out, ",\"advice\":null");
    if (finding->own_function) {
        add_text(&out, "own_function", finding->own_function);
        add_text(&out, "own_file", finding->own_file);
        buffer_printf(&out, ",\"own_line\":%lld", (long long)finding->own_line);
        if (finding->own_is_user) add_text(&out, "own_callee", finding->own_callee);
    }
    if (*finding->brief) add_text(&out, "short", finding->brief);
    if (*finding->unless) add_text(&out, "unless", finding->unless);
    fprintf(report->out, "%s%s}", *separator, buffer_text(&out));
    *separator = ",\n";
    buffer_free(&out);
}

static void print_findings(const struct doctor_report *report, const char **separator) {
    for (size_t i = 0; i < report->count; i++) {
        const struct finding *finding = &report->findings[i];
        int64_t ahead = 0; /* findings of its section before it */
        if (report->peek && !doctor_is_saturation(finding)) continue;
        for (size_t j = 0; j < i && report->options->has_top && report->options->top; j++)
            ahead += strcmp(report->findings[j].section, finding->section) == 0;
        bool is_cut = report->options->has_top && report->options->top && ahead >= report->options->top;
        if (!is_cut || doctor_is_saturation(finding)) print_finding(report, finding, separator);
    }
}

static int print_json(struct doctor_report *report, struct error *err) {
    const char *separator = "[";
    if (doctor_load(report, err) < 0) return -1;
    print_findings(report, &separator);
    if (report->peek && doctor_print_peek_json(report, &separator, err) < 0) return -1;
    if (!report->peek && doctor_wants_functions(report->options) &&
        doctor_print_functions_json(report, &separator, err) < 0)
        return -1;
    fputs(*separator == '[' ? "[]\n" : "]\n", report->out);
    return 0;
}

int doctor_print_json(FILE *out, struct db *db, const struct doctor_options *options, struct error *err) {
    report_writer *write = options->overview ? doctor_print_overview_json
                           : options->why    ? doctor_print_why_json
                                             : print_json;
    return write_report(out, db, options, write, err);
}
