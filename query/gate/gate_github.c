#include <string.h>

#include "base/escape.h"
#include "query/gate/gate_formats.h"
#include "query/gate/gate_words.h"

enum { ANNOTATIONS_MAX = 10 }; /* the runner shows no more of a kind in one step */

/* As the runner's toolkit writes them: a line is one command, and the parts of a property end at ':' and ','. */
static void add_escaped(struct buffer *out, const char *text, bool is_property) {
    for (; *text; text++) {
        bool is_special = strchr("%\r\n", *text) || (is_property && strchr(":,", *text));
        if (is_special)
            buffer_printf(out, "%%%02X", (unsigned)(unsigned char)*text);
        else
            buffer_add_char(out, *text);
    }
}

/* A log is looked at on terminals too. */
static void add_text(struct buffer *out, const char *text, bool is_property) {
    struct buffer safe = {0};
    escape_controls(&safe, text, strlen(text));
    add_escaped(out, buffer_text(&safe), is_property);
    buffer_free(&safe);
}

static const char *level(enum gate_verdict verdict) {
    return verdict == GATE_FAIL ? "error" : verdict == GATE_ACCEPTED ? "notice" : "warning";
}

static void annotate(struct buffer *out, const struct gate_row *row) {
    struct buffer text = {0};
    if (row->verdict != GATE_FAIL) buffer_printf(&text, "%s: ", gate_word(row->verdict));
    words_sentence(&text, row);
    buffer_printf(out, "::%s ", level(row->verdict));
    if (row->file) {
        buffer_add_text(out, "file=");
        add_text(out, row->file, true);
        if (row->line > 0) buffer_printf(out, ",line=%lld", (long long)row->line);
        buffer_add_char(out, ',');
    }
    buffer_add_text(out, "title=clear gate%3A ");
    add_text(out, row->rule->name, true);
    buffer_add_text(out, "::");
    add_text(out, buffer_text(&text), false);
    buffer_add_char(out, '\n');
    buffer_free(&text);
}

void gate_github(const struct gate *gate, struct buffer *out) {
    struct buffer summary = {0};
    size_t shown = 0;
    for (size_t i = 0; i < gate->row_count && shown < ANNOTATIONS_MAX; i++) {
        if (!words_is_shown(gate->rows[i])) continue;
        annotate(out, gate->rows[i]);
        shown++;
    }
    words_summary(&summary, gate);
    buffer_printf(out, "clear gate: %s: ", gate_word(gate->verdict));
    add_text(out, buffer_text(&summary), false);
    buffer_add_char(out, '\n');
    buffer_free(&summary);
}
