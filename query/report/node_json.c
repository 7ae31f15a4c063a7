/* What reports as JSON say in the same way: the call graph, means over runs, columns by tag. */
#include "base/hex.h"
#include "query/report/report.h"

static void add_known(struct buffer *out, const char *key, const char *text) {
    if (!*text) return;
    buffer_add_char(out, ',');
    buffer_add_json_field(out, key, text);
}

void report_json_end(const struct report *report, struct buffer *out, size_t original_count, size_t dropped_count) {
    buffer_printf(out, "],\n\"original_nodes\":%zu,\"dropped_nodes\":%zu", original_count, dropped_count);
    if (report->options.all) {
        struct buffer words = {0};
        report_add_exactness(report, &words);
        buffer_add_char(out, ',');
        buffer_add_json_field(out, "figures", buffer_text(&words));
        buffer_free(&words);
    }
    buffer_add_text(out, "}\n");
}

void report_json_info(struct buffer *out, const char *name, const struct graph_info *info) {
    buffer_add_json_field(out, "name", name);
    add_known(out, "function", info->name);
    add_known(out, "file", info->file);
    if (info->line) buffer_printf(out, ",\"line\":%lld", (long long)info->line);
    if (info->address) buffer_printf(out, ",\"address\":\"%s\"", hex_address(info->address).text);
    add_known(out, "object", info->object);
}
