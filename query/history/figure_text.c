#include "query/history/figure_text.h"

#include <math.h>
#include <stdio.h>

#include "schema/figure_kinds.h"

struct units_text figure_text(const char *figure, double value) {
    const struct figure_kind *kind = figure_kind_find(figure);
    struct units_text text;
    if (kind && kind->unit == FIGURE_NS) return units_ns(llround(value));
    if (kind && kind->unit == FIGURE_BYTES) return units_bytes(llround(value));
    if (fabs(value) >= 100 || value == round(value)) return units_count(llround(value));
    snprintf(text.text, sizeof text.text, "%.1f", value);
    return text;
}

struct units_text figure_change_text(double before, double after) {
    struct units_text text = {"new"};
    if (before == after) return (struct units_text){"0 %"};
    if (before == 0) return text;
    double percent = 100 * (after - before) / fabs(before);
    if (percent >= 995) /* x 30,500 is easier to read than +3,049,950 % */
        snprintf(text.text, sizeof text.text, "x %.30s", units_count(llround(1 + percent / 100)).text);
    else if (fabs(percent) >= 9.95)
        snprintf(text.text, sizeof text.text, "%+.0f %%", percent);
    else
        snprintf(text.text, sizeof text.text, fabs(percent) >= 0.095 ? "%+.1f %%" : "%+.2g %%", percent);
    return text;
}
