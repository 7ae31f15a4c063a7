#include "base/number.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct number_unit {
    const char *suffix;
    double factor;
};

enum { LIMIT_SIZE = 32 };

/* What the numbers of one function are. */
struct number_format {
    const struct number_unit *units;
    const char *example;             /* for messages */
    const struct number_unit *shown; /* for limits in messages, the largest first */
};

static const struct number_unit count_units[] = {{"", 1}, {"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {0}};
static const struct number_unit byte_units[] = {
    {"", 1},       {"B", 1},       {"K", 0x1p10},   {"k", 0x1p10}, {"KB", 0x1p10}, {"kB", 0x1p10},  {"KiB", 0x1p10},
    {"M", 0x1p20}, {"MB", 0x1p20}, {"MiB", 0x1p20}, {"G", 0x1p30}, {"GB", 0x1p30}, {"GiB", 0x1p30}, {0}};
static const struct number_unit duration_units[] = {{"", 1e9},      {"ns", 1},          {"us", 1e3}, {"µs", 1e3},
                                                    {"ms", 1e6},    {"s", 1e9},         {"m", 60e9}, {"h", 3600e9},
                                                    {"d", 86400e9}, {"w", 7 * 86400e9}, {0}};

static const struct number_unit count_shown[] = {{"", 1}, {0}};
static const struct number_unit byte_shown[] = {{" GiB", 0x1p30}, {" MiB", 0x1p20}, {" KiB", 0x1p10}, {" B", 1}, {0}};
static const struct number_unit duration_shown[] = {{" h", 3600e9}, {" s", 1e9}, {" ms", 1e6},
                                                    {" us", 1e3},   {" ns", 1},  {0}};

static const struct number_format count_format = {count_units, "1000 or 10k", count_shown};
static const struct number_format byte_format = {byte_units, "4096 or 512KiB", byte_shown};
static const struct number_format duration_format = {duration_units, "0.5, 250ms or 2m", duration_shown};

/* A factor where the suffix is known, else 0. */
static double factor_of(const struct number_unit *units, const char *suffix) {
    for (; units->suffix; units++)
        if (strcmp(units->suffix, suffix) == 0) return units->factor;
    return 0;
}

/* A limit as a whole number, in the largest unit that it is a multiple of. */
static void print_limit(char text[LIMIT_SIZE], int64_t limit, const struct number_format *format) {
    const struct number_unit *unit = format->shown;
    while (unit[1].suffix && (limit == 0 || limit % (int64_t)unit->factor != 0))
        unit++;
    snprintf(text, LIMIT_SIZE, "%lld%s", (long long)(limit / (int64_t)unit->factor), unit->suffix);
}

struct units_text number_limit(int64_t bytes) {
    struct units_text text;
    char whole[LIMIT_SIZE];
    print_limit(whole, bytes, &byte_format);
    snprintf(text.text, sizeof text.text, "%s", whole);
    return text;
}

static int out_of_range(const char *name, const char *text, const struct number_format *format, int64_t min,
                        int64_t max, struct error *err) {
    char least[LIMIT_SIZE], most[LIMIT_SIZE];
    print_limit(least, min, format);
    print_limit(most, max, format);
    return error_usage(err, "%s %s is out of range (%s to %s)", name, text, least, most);
}

static int number(const char *name, const char *text, const struct number_format *format, int64_t min, int64_t max,
                  int64_t *value, struct error *err) {
    char *end;
    errno = 0;
    /* Digits first: strtod would also take "nan", "inf", hexadecimal and leading blanks. */
    bool decimal = text[strspn(text, "+-")] >= '0' && text[strspn(text, "+-")] <= '9' && !strpbrk(text, "xXpP");
    double parsed = strtod(text, &end);
    double factor = factor_of(format->units, end);
    if (!decimal || factor == 0 || errno || (format == &count_format && parsed * factor != floor(parsed * factor)))
        return error_usage(err, "%s must be a number such as %s, not '%s'", name, format->example, text);
    double scaled = parsed * factor;
    if (scaled < (double)min || scaled > (double)max) return out_of_range(name, text, format, min, max, err);
    /* 2^63 itself passes the comparison above where max is INT64_MAX, and would overflow the conversion. */
    *value = scaled >= 0x1p63 ? INT64_MAX : (int64_t)scaled;
    return 0;
}

int number_count(const char *name, const char *text, int64_t min, int64_t max, int64_t *value, struct error *err) {
    return number(name, text, &count_format, min, max, value, err);
}

int number_bytes(const char *name, const char *text, int64_t min, int64_t max, int64_t *value, struct error *err) {
    return number(name, text, &byte_format, min, max, value, err);
}

int number_duration(const char *name, const char *text, int64_t min_ns, int64_t max_ns, int64_t *ns,
                    struct error *err) {
    return number(name, text, &duration_format, min_ns, max_ns, ns, err);
}
