#include "base/units.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static uint64_t magnitude(int64_t value) {
    return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

struct units_text units_count(int64_t count) {
    char digits[24];
    struct units_text out;
    char *at = out.text;
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)magnitude(count));
    if (count < 0) *at++ = '-';
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0) *at++ = ',';
        *at++ = digits[i];
    }
    *at = '\0';
    return out;
}

struct units_text units_things(int64_t count, const char *thing) {
    struct units_text out;
    size_t size = strlen(thing);
    bool hisses = size > 1 && (thing[size - 1] == 's' || strcmp(thing + size - 2, "sh") == 0);
    const char *ending = count == 1 ? "" : hisses ? "es" : "s";
    snprintf(out.text, sizeof out.text, "%.26s %.17s%s", units_count(count).text, thing, ending);
    return out;
}

/* Always one decimal, so that figures in a column are easy to compare. */
struct units_text units_bytes(int64_t bytes) {
    static const char *const names[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    struct units_text out;
    double size = (double)magnitude(bytes);
    const char *sign = bytes < 0 ? "-" : "";
    if (size < 1024) {
        snprintf(out.text, sizeof out.text, "%s%.0f B", sign, size);
        return out;
    }
    size_t unit = 0;
    /* 1023.95 would be printed as 1024.0. */
    for (size /= 1024; size >= 1023.95 && unit + 1 < sizeof names / sizeof *names; unit++)
        size /= 1024;
    snprintf(out.text, sizeof out.text, "%s%.1f %s", sign, size, names[unit]);
    return out;
}

/* Two digits below 100. (%.2g alone makes 2e+02 of 234.) */
struct units_text units_percent(double percent) {
    struct units_text out;
    if (fabs(percent) < 99.5)
        snprintf(out.text, sizeof out.text, "%.2g %%", percent);
    else
        snprintf(out.text, sizeof out.text, "%.26s %%", units_count(llround(percent)).text);
    return out;
}

struct units_text units_ns(int64_t ns) {
    struct units_text out;
    uint64_t left = magnitude(ns), seconds = left / 1000000000;
    const char *sign = ns < 0 ? "-" : "";
    if (left < 1000)
        snprintf(out.text, sizeof out.text, "%s%d ns", sign, (int)left);
    else if (left < 999950)
        snprintf(out.text, sizeof out.text, "%s%.1f us", sign, (double)left / 1e3);
    else if (left < 999950000)
        snprintf(out.text, sizeof out.text, "%s%.1f ms", sign, (double)left / 1e6);
    else if (left < 59950000000)
        snprintf(out.text, sizeof out.text, "%s%.1f s", sign, (double)left / 1e9);
    else if (seconds < 3600)
        snprintf(out.text, sizeof out.text, "%s%dm %02ds", sign, (int)(seconds / 60), (int)(seconds % 60));
    else if (seconds < 86400)
        snprintf(out.text, sizeof out.text, "%s%dh %02dm", sign, (int)(seconds / 3600), (int)(seconds / 60 % 60));
    else
        snprintf(out.text, sizeof out.text, "%s%llud %02dh", sign, (unsigned long long)(seconds / 86400),
                 (int)(seconds / 3600 % 24));
    return out;
}

struct units_text units_time(int64_t ns) {
    struct units_text out;
    struct tm parts;
    time_t seconds = (time_t)(ns / 1000000000 - (ns % 1000000000 < 0));
    if (!localtime_r(&seconds, &parts) || !strftime(out.text, sizeof out.text, "%Y-%m-%d %H:%M:%S", &parts))
        snprintf(out.text, sizeof out.text, "%lld", (long long)seconds);
    return out;
}
