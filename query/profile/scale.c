#include "query/profile/scale.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SORTS = 3, UNITS_MAX = 10, ALIASES_MAX = 4, ALIAS_SIZE_MAX = 32 };

struct unit {
    const char *name;
    const char *aliases[ALIASES_MAX];
    double factor;
};

static const struct sort {
    const char *name; /* of the unit that is the sort's default */
    double factor;
    struct unit units[UNITS_MAX];
} sorts[SORTS] = {
    {"B",
     1,
     {{"B", {"b", "byte"}, 1},
      {"kB", {"kb", "kbyte", "kilobyte"}, 0x1p10},
      {"MB", {"mb", "mbyte", "megabyte"}, 0x1p20},
      {"GB", {"gb", "gbyte", "gigabyte"}, 0x1p30},
      {"TB", {"tb", "tbyte", "terabyte"}, 0x1p40},
      {"PB", {"pb", "pbyte", "petabyte"}, 0x1p50}}},
    {"s",
     1e9,
     {{"ns", {"ns", "nanosecond"}, 1},
      {"us", {"μs", "us", "microsecond"}, 1e3},
      {"ms", {"ms", "millisecond"}, 1e6},
      {"s", {"s", "sec", "second"}, 1e9},
      {"hrs", {"hour", "hr"}, 3600e9}}},
    {"GCU",
     1,
     {{"n*GCU", {"nanogcu"}, 1e-9},
      {"u*GCU", {"microgcu"}, 1e-6},
      {"m*GCU", {"milligcu"}, 1e-3},
      {"GCU", {"gcu"}, 1},
      {"k*GCU", {"kilogcu"}, 1e3},
      {"M*GCU", {"megagcu"}, 1e6},
      {"G*GCU", {"gigagcu"}, 1e9},
      {"T*GCU", {"teragcu"}, 1e12},
      {"P*GCU", {"petagcu"}, 1e15}}},
};

/* In any case, and without a plural's s where more than two letters are left to tell it from seconds. */
static const struct unit *find_unit(const struct sort *sort, const char *name) {
    char alias[ALIAS_SIZE_MAX];
    size_t size = strlen(name);
    if (size >= sizeof alias) return NULL;
    for (size_t i = 0; i <= size; i++)
        alias[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] + 'a' - 'A' : name[i]);
    if (size > 2 && alias[size - 1] == 's') alias[size - 1] = '\0';
    for (const struct unit *unit = sort->units; unit < sort->units + UNITS_MAX && unit->name; unit++)
        for (int i = 0; i < ALIASES_MAX && unit->aliases[i]; i++)
            if (strcmp(unit->aliases[i], alias) == 0) return unit;
    return NULL;
}

static bool is_automatic(const char *unit) {
    return strcmp(unit, "minimum") == 0 || strcmp(unit, "auto") == 0;
}

/* The largest unit of the sort in which the value is at least 1, or NULL. */
static const struct unit *fitting_unit(const struct sort *sort, double value) {
    const struct unit *best = NULL;
    for (const struct unit *unit = sort->units; unit < sort->units + UNITS_MAX && unit->name; unit++)
        if ((!best || unit->factor >= best->factor) && value / unit->factor >= 1) best = unit;
    return best;
}

static double convert(const struct sort *sort, double value, const char *to, const char **name) {
    const struct unit *unit = is_automatic(to) ? fitting_unit(sort, value) : find_unit(sort, to);
    *name = unit ? unit->name : sort->name;
    return value / (unit ? unit->factor : sort->factor);
}

double scale_value(int64_t value, const char *from, const char *to, const char **unit) {
    if (value < 0 && value != INT64_MIN) return -scale_value(-value, from, to, unit);
    for (int i = 0; i < SORTS; i++) {
        const struct unit *known = find_unit(&sorts[i], from);
        if (known) return convert(&sorts[i], (double)value * known->factor, to, unit);
    }
    bool is_dull = strcmp(to, "count") == 0 || strcmp(to, "sample") == 0 || strcmp(to, "unit") == 0 || is_automatic(to);
    *unit = is_dull ? "" : to;
    return (double)value;
}

void scale_label(struct buffer *text, int64_t value, const char *from, const char *to) {
    const char *unit;
    char number[352]; /* as long as the largest double */
    double scaled = scale_value(value, from, to, &unit);
    int size = snprintf(number, sizeof number, "%.2f", scaled);
    if (size > 3 && strcmp(number + size - 3, ".00") == 0) number[size - 3] = '\0';
    bool is_zero = strcmp(number, "0") == 0 || strcmp(number, "-0") == 0;
    buffer_add_text(text, is_zero ? "0" : number);
    if (!is_zero) buffer_add_text(text, unit);
}

struct scale_percent scale_percentage(double value, double total) {
    struct scale_percent percent;
    double ratio = total != 0 ? fabs(value / total) * 100 : 0;
    if (ratio >= 99.95 && ratio <= 100.05)
        snprintf(percent.text, sizeof percent.text, "  100%%");
    else
        snprintf(percent.text, sizeof percent.text, ratio >= 1 ? "%5.2f%%" : "%5.2g%%", ratio);
    return percent;
}

bool scale_is_compatible(const char *a, const char *b) {
    if (strcmp(a, b) == 0) return true;
    for (int i = 0; i < SORTS; i++)
        if (find_unit(&sorts[i], a) && find_unit(&sorts[i], b)) return true;
    return false;
}
