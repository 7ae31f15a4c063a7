#include "schema/retention.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"

static const int64_t forever_ns = INT64_C(100) * 365 * 86400 * 1000000000 / 2;

int retention_keep(struct retention *retention, const char *name, const char *text, struct error *err) {
    retention->has_keep = true;
    return number_duration(name, text, 0, forever_ns, &retention->keep_ns, err);
}

int retention_thin(struct retention *retention, const char *name, const char *text, struct error *err) {
    static const char *const spans[] = {"hour", "day", "week", "month"};
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++)
        if (strcmp(text, spans[i]) == 0) {
            retention->thin = spans[i];
            return 0;
        }
    return error_usage(err, "%s must be hour, day, week or month, not '%s'", name, text);
}

int retention_max_size(struct retention *retention, const char *name, const char *text, struct error *err) {
    return number_bytes(name, text, 1, INT64_MAX, &retention->max_bytes, err);
}

void retention_add_base(struct retention *retention, const char *text) {
    retention->bases = xrealloc(retention->bases, (retention->base_count + 1) * sizeof *retention->bases);
    retention->bases[retention->base_count++] = xstrdup(text);
}

void retention_free(struct retention *retention) {
    for (size_t i = 0; i < retention->base_count; i++)
        free(retention->bases[i]);
    free(retention->bases);
    *retention = (struct retention){0};
}

/* ---- clear.yaml -------------------------------------------------------------------------------------------------- */

/* A value that is refused is wrong at its place in the file. */
static int read_rule(struct retention *retention, struct document *document, const yaml_node_t *value,
                     int (*read)(struct retention *retention, const char *name, const char *text, struct error *err),
                     const char *name) {
    struct error wrong = {0};
    const char *text = document_text(document, value);
    if (!text) return -1;
    return read(retention, name, text, &wrong) ? document_wrong(document, value, "%s", wrong.message) : 0;
}

static int read_keep(void *context, struct document *document, const char *key, const yaml_node_t *at,
                     const yaml_node_t *value) {
    (void)at;
    return read_rule(context, document, value, retention_keep, key);
}

static int read_thin(void *context, struct document *document, const char *key, const yaml_node_t *at,
                     const yaml_node_t *value) {
    (void)at;
    return read_rule(context, document, value, retention_thin, key);
}

static int read_max_size(void *context, struct document *document, const char *key, const yaml_node_t *at,
                         const yaml_node_t *value) {
    (void)at;
    return read_rule(context, document, value, retention_max_size, key);
}

static int take_budget(struct retention *retention, const char *name, const char *text, struct error *err) {
    return number_duration(name, text, 0, forever_ns, &retention->budget_ns, err);
}

static int read_budget(void *context, struct document *document, const char *key, const yaml_node_t *at,
                       const yaml_node_t *value) {
    (void)at;
    return read_rule(context, document, value, take_budget, key);
}

static int read_base(void *context, struct document *document, const char *key, const yaml_node_t *at,
                     const yaml_node_t *value) {
    const char *text = document_text(document, value);
    (void)key;
    (void)at;
    if (text) retention_add_base(context, text);
    return text ? 0 : -1;
}

int retention_read(struct retention *retention, struct document *document, const yaml_node_t *value) {
    static const struct document_key keys[] = {{"keep", read_keep},         {"thin", read_thin},
                                               {"max_size", read_max_size}, {"budget", read_budget},
                                               {"base", read_base},         {0}};
    retention->is_set = true;
    retention->budget_ns = (int64_t)RETENTION_BUDGET_MS * 1000000;
    return document_keys(document, value, keys, retention);
}
