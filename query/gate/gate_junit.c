#include "base/escape.h"
#include "query/gate/gate_formats.h"
#include "query/gate/gate_words.h"

static void add_attribute(struct buffer *out, const char *name, const char *value) {
    buffer_printf(out, " %s=\"", name);
    escape_xml(out, value);
    buffer_add_char(out, '"');
}

static void open_case(struct buffer *out, const struct gate_rule *rule, const char *subject) {
    struct buffer name = {0};
    buffer_printf(&name, "%s%s%s", words_figure(rule), *subject ? " of " : "", subject);
    buffer_add_text(out, "    <testcase classname=\"clear.gate.");
    escape_xml(out, rule->name);
    buffer_add_char(out, '"');
    add_attribute(out, "name", buffer_text(&name));
    buffer_add_text(out, " time=\"0\"");
    buffer_free(&name);
}

static void add_element(struct buffer *out, const char *element, const char *type, const char *text) {
    buffer_printf(out, ">\n      <%s", element);
    add_attribute(out, "message", text);
    if (type) add_attribute(out, "type", type);
    buffer_add_text(out, "/>\n    </testcase>\n");
}

/* Servers of CI show skipped tests, and do not fail for them: that is what an undecided row and a warning are. */
static void add_row(struct buffer *out, const struct gate_row *row) {
    struct buffer text = {0};
    if (row->verdict != GATE_FAIL) buffer_printf(&text, "%s: ", gate_word(row->verdict));
    words_sentence(&text, row);
    if (row->file && !row->blame) buffer_printf(&text, " (%s:%lld)", row->file, (long long)row->line);
    open_case(out, row->rule, row->subject);
    if (row->verdict == GATE_FAIL)
        add_element(out, "failure", "gate", buffer_text(&text));
    else
        add_element(out, "skipped", NULL, buffer_text(&text));
    buffer_free(&text);
}

static void add_result(struct buffer *out, const struct gate_result *result) {
    open_case(out, result->rule, result->worst ? result->worst->subject : result->rule->subject);
    if (result->verdict == GATE_PASS)
        buffer_add_text(out, "/>\n");
    else
        add_element(out, "skipped", NULL, result->why ? result->why : gate_word(result->verdict));
}

static bool is_whole(const struct gate_result *result) {
    return !result->worst || !words_is_shown(result->worst);
}

void gate_junit(const struct gate *gate, struct buffer *out) {
    struct buffer cases = {0};
    size_t tests = 0, failures = 0, skipped = 0;
    for (size_t i = 0; i < gate->row_count; i++) {
        const struct gate_row *row = gate->rows[i];
        if (!words_is_shown(row)) continue;
        add_row(&cases, row);
        tests++;
        failures += row->verdict == GATE_FAIL;
        skipped += row->verdict != GATE_FAIL;
    }
    for (size_t i = 0; i < gate->results.count; i++) {
        const struct gate_result *result = &gate->results.items[i];
        if (!is_whole(result)) continue;
        add_result(&cases, result);
        tests++;
        skipped += result->verdict != GATE_PASS;
    }
    buffer_add_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    buffer_printf(out,
                  "  <testsuite name=\"clear gate\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\" "
                  "time=\"0\">\n",
                  tests, failures, skipped);
    buffer_add_text(out, buffer_text(&cases));
    buffer_add_text(out, "  </testsuite>\n</testsuites>\n");
    buffer_free(&cases);
}
