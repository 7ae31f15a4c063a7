#include "query/doctor/findings.h"

#include <string.h>

#include "base/units.h"
#include "base/wrap.h"

/* The advice of each code that was shown, once per code. */
static void print_advice(const struct doctor_report *report, size_t start, size_t end) {
    for (size_t i = start; i < end; i++) {
        const struct finding *finding = &report->findings[i];
        bool first = finding->shown && *finding->advice;
        for (size_t j = start; j < i && first; j++)
            first = !report->findings[j].shown || strcmp(report->findings[j].code, finding->code) != 0;
        if (!first) continue;
        fprintf(report->out, "\n  %s%s%s: %s\n", doctor_bold(report), finding->code, doctor_plain(report),
                finding->title);
        wrap_print(report->out, report->width, "    ", finding->advice);
    }
}

/* How many findings are not shown: "not shown: 3 warnings, 12 notes, 40 ok". */
static void print_rest(const struct doctor_report *report, size_t start, size_t end, bool any_shown) {
    static const char *const severities[] = {"critical", "warning", "note", "ok"};
    const char *separator = any_shown ? "\n  not shown: " : "  no warnings; not shown: ";
    bool any = false, more = false; /* more: some that --top 0 would show; it does not show healthy rows */
    for (size_t level = 0; level < sizeof severities / sizeof *severities; level++) {
        int64_t hidden = 0;
        for (size_t i = start; i < end; i++)
            hidden += !report->findings[i].shown && strcmp(report->findings[i].severity, severities[level]) == 0;
        if (!hidden) continue;
        bool is_noun = strcmp(severities[level], "warning") == 0 || strcmp(severities[level], "note") == 0;
        if (is_noun)
            fprintf(report->out, "%s%s", separator, units_things(hidden, severities[level]).text);
        else
            fprintf(report->out, "%s%s %s", separator, units_count(hidden).text, severities[level]);
        separator = ", ";
        any = true;
        more |= strcmp(severities[level], "ok") != 0;
    }
    if (any) fputs(more ? " (--top 0 shows all findings)\n" : "\n", report->out);
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
    fprintf(report->out, "\n%s%s%s\n", doctor_bold(report), report->findings[start].section, doctor_plain(report));
    if (code == 0 && shown) grid_print(&grid, report->out, true);
    grid_free(&grid);
    print_advice(report, start, end);
    print_rest(report, start, end, shown > 0);
    return code;
}
