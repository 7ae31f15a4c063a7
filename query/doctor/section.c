#include "query/doctor/findings.h"

#include <string.h>

#include "base/units.h"
#include "base/wrap.h"

/* Whether an earlier finding of the section has said the same. */
static bool is_said(const struct doctor_report *report, size_t start, size_t at) {
    const struct finding *finding = &report->findings[at];
    for (size_t i = start; i < at; i++) {
        const struct finding *other = &report->findings[i];
        if (other->shown && strcmp(other->code, finding->code) == 0 && strcmp(other->brief, finding->brief) == 0)
            return true;
    }
    return false;
}

/* The advice of each code that was shown, once for each language; of a user's own diagnosis the advice as it is. */
static void print_advice(const struct doctor_report *report, size_t start, size_t end) {
    for (size_t i = start; i < end; i++) {
        const struct finding *finding = &report->findings[i];
        const char *text = *finding->brief ? finding->brief : finding->advice;
        if (!finding->shown || !*text || is_said(report, start, i)) continue;
        fprintf(report->out, "\n  %s%s%s: %s\n", doctor_bold(report), finding->code, doctor_plain(report),
                finding->title);
        wrap_print(report->out, report->width, "    ", text);
        if (!*finding->unless) continue;
        struct buffer unless = {0};
        buffer_printf(&unless, "Not a fault if %s", finding->unless);
        wrap_print(report->out, report->width, "    ", buffer_text(&unless));
        buffer_free(&unless);
    }
}

/* How many severe findings --top has left out. Notes and healthy rows are counted in the first lines. */
static void print_rest(const struct doctor_report *report, size_t start, size_t end) {
    static const char *const severities[] = {"critical", "warning"};
    const char *separator = "\n  not shown: ";
    bool any = false;
    for (size_t level = 0; level < sizeof severities / sizeof *severities; level++) {
        int64_t hidden = 0;
        for (size_t i = start; i < end; i++)
            hidden += !report->findings[i].shown && strcmp(report->findings[i].severity, severities[level]) == 0;
        if (!hidden) continue;
        if (level)
            fprintf(report->out, "%s%s", separator, units_things(hidden, severities[level]).text);
        else
            fprintf(report->out, "%s%s %s", separator, units_count(hidden).text, severities[level]);
        separator = ", ";
        any = true;
    }
    if (any) fputs(" (--top 0 shows all findings)\n", report->out);
}

int doctor_print_section(struct doctor_report *report, size_t start, size_t end, struct error *err) {
    struct grid grid = {.width = report->width};
    const struct doctor_options *options = report->options;
    int64_t shown = 0;
    int code = 0;
    doctor_start_grid(&report->findings[start], &grid);
    for (size_t i = start; i < end && code == 0; i++) {
        struct finding *finding = &report->findings[i];
        bool is_shown =
            doctor_is_saturation(finding) || options->top == 0 || (doctor_is_severe(finding) && shown < options->top);
        if (!is_shown || strcmp(finding->severity, "ok") == 0) continue;
        code = doctor_add_finding(report, &grid, finding, err);
        shown++;
    }
    if (code == 0 && shown) {
        fprintf(report->out, "\n%s%s%s\n", doctor_bold(report), report->findings[start].section, doctor_plain(report));
        grid_print(&grid, report->out, true);
        print_advice(report, start, end);
        print_rest(report, start, end);
    }
    grid_free(&grid);
    return code;
}
