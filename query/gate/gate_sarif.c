#include <string.h>

#include "query/gate/gate_formats.h"
#include "query/gate/gate_words.h"

/* A path as the path of a URI (RFC 3986): what is no unreserved character and no '/' is a percent and two digits. */
static void add_path(struct buffer *out, const char *path) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
    for (; *path; path++) {
        if (strchr(plain, *path))
            buffer_add_char(out, *path);
        else
            buffer_printf(out, "%%%02X", (unsigned)(unsigned char)*path);
    }
}

static void add_field(struct buffer *out, const char *key, const char *text) {
    buffer_printf(out, "\"%s\": ", key);
    buffer_add_json_text(out, text);
}

/* ---- the tool ---- */

static void add_rule(struct buffer *out, const struct gate_rule *rule) {
    struct buffer text = {0};
    buffer_printf(&text, "%s%s%s: a change (%s) of more than %s", words_figure(rule), *rule->subject ? " of " : "",
                  rule->subject, gates_direction(rule->direction), words_limit(rule).text);
    buffer_add_text(out, "        {");
    add_field(out, "id", rule->name);
    buffer_add_text(out, ", \"shortDescription\": {");
    add_field(out, "text", buffer_text(&text));
    buffer_printf(out, "}, \"defaultConfiguration\": {\"level\": \"%s\"}}", rule->only_warns ? "warning" : "error");
    buffer_free(&text);
}

static void add_tool(struct buffer *out, const struct gate *gate) {
    buffer_add_text(out, "    \"tool\": {\"driver\": {");
    add_field(out, "name", "clear gate");
    buffer_add_text(out, ", ");
    add_field(out, "version", CLEAR_VERSION);
    buffer_add_text(out, ", \"rules\": [\n");
    for (size_t i = 0; i < gate->rule_count; i++) {
        if (i) buffer_add_text(out, ",\n");
        add_rule(out, &gate->rules[i]);
    }
    buffer_add_text(out, "]}},\n");
}

/* ---- results ---- */

/* Paths inside of the root are relative to it; others are whole. */
static void add_location(struct buffer *out, const struct gate_row *row) {
    bool is_whole = *row->file == '/';
    buffer_add_text(out, ",\n       \"locations\": [{\"physicalLocation\": {\"artifactLocation\": {\"uri\": \"");
    if (is_whole) buffer_add_text(out, "file://");
    add_path(out, row->file);
    buffer_add_text(out, is_whole ? "\"}" : "\", \"uriBaseId\": \"SRCROOT\"}");
    if (row->line > 0) buffer_printf(out, ", \"region\": {\"startLine\": %lld}", (long long)row->line);
    buffer_add_text(out, "}");
    if (*row->subject) {
        buffer_add_text(out, ", \"logicalLocations\": [{");
        add_field(out, "fullyQualifiedName", row->subject);
        buffer_add_text(out, "}]");
    }
    buffer_add_text(out, "}]");
}

/* "open" is the standard's word for: not enough is known to decide. Its level must be none then. */
static const char *kind_and_level(const struct gate_row *row) {
    if (row->verdict == GATE_UNDECIDED) return "\"kind\": \"open\", \"level\": \"none\"";
    if (row->verdict == GATE_WARN) return "\"kind\": \"fail\", \"level\": \"warning\"";
    return "\"kind\": \"fail\", \"level\": \"error\"";
}

static void add_result(struct buffer *out, const struct gate *gate, const struct gate_row *row) {
    struct buffer text = {0}, print = {0};
    words_sentence(&text, row);
    buffer_printf(&print, "%s/%s/%s", row->rule->name, words_figure(row->rule), row->subject);
    buffer_add_text(out, "      {");
    add_field(out, "ruleId", row->rule->name);
    buffer_printf(out, ", \"ruleIndex\": %zu, %s, \"message\": {", (size_t)(row->rule - gate->rules),
                  kind_and_level(row));
    add_field(out, "text", buffer_text(&text));
    buffer_add_text(out, "}, \"partialFingerprints\": {");
    add_field(out, "clearGate/v1", buffer_text(&print));
    buffer_add_char(out, '}');
    if (row->file) add_location(out, row);
    if (row->verdict == GATE_ACCEPTED) {
        buffer_add_text(out, ",\n       \"suppressions\": [{\"kind\": \"external\", \"status\": \"accepted\", ");
        add_field(out, "justification", row->why ? row->why : "");
        buffer_add_text(out, "}]");
    }
    buffer_add_char(out, '}');
    buffer_free(&text);
    buffer_free(&print);
}

static void add_root(struct buffer *out, const char *root) {
    if (!root) return;
    buffer_add_text(out, "    \"originalUriBaseIds\": {\"SRCROOT\": {\"uri\": \"file://");
    add_path(out, root);
    buffer_add_text(out, "/\"}},\n");
}

void gate_sarif(const struct gate *gate, struct buffer *out) {
    const char *comma = "\n";
    buffer_add_text(out, "{\"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\", \"version\": \"2.1.0\",\n"
                         " \"runs\": [{\n");
    add_tool(out, gate);
    add_root(out, gate->options->root);
    buffer_add_text(out, "    \"columnKind\": \"unicodeCodePoints\",\n    \"results\": [");
    for (size_t i = 0; i < gate->row_count; i++) {
        if (!words_is_shown(gate->rows[i])) continue;
        buffer_add_text(out, comma);
        add_result(out, gate, gate->rows[i]);
        comma = ",\n";
    }
    buffer_add_text(out, "]}]}\n");
}
