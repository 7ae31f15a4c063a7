#include <string.h>

#include "query/doctor/findings.h"

const char *doctor_style(const struct doctor_report *report, const char *code) {
    return report->options->colour ? code : "";
}

const char *doctor_bold(const struct doctor_report *report) {
    return doctor_style(report, "\033[1m");
}

const char *doctor_plain(const struct doctor_report *report) {
    return doctor_style(report, GRID_PLAIN);
}

const char *doctor_severity_style(const struct doctor_report *report, const char *severity) {
    if (strcmp(severity, "critical") == 0) return doctor_style(report, "\033[1;31m");
    return doctor_style(report, strcmp(severity, "warning") == 0 ? "\033[33m" : "");
}
