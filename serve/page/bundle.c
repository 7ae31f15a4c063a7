#include "serve/page/bundle.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "schema/schema.h"
#include "serve/exchange.h"

#define PREFIX "web/"

/* What a file has in the place of a module. */
static const struct {
    const char *name, *instead;
} stand_ins[] = {{"state/api.js", "file/file_api.js"}, {"state/place.js", "file/file_place.js"}};

static bool is_stand_in(const char *name) {
    for (size_t i = 0; i < sizeof stand_ins / sizeof *stand_ins; i++)
        if (strcmp(name, stand_ins[i].instead) == 0) return true;
    return false;
}

/* The file of that name, or what stands in for it. */
static const struct embedded *file_of(const char *name) {
    for (size_t i = 0; i < sizeof stand_ins / sizeof *stand_ins; i++)
        if (strcmp(name, stand_ins[i].name) == 0) name = stand_ins[i].instead;
    char *path = xasprintf(PREFIX "%s", name);
    const struct embedded *file = application_file(path);
    free(path);
    if (!file) bug("the application has no %s", name);
    return file;
}

static bool begins(const char *line, const char *word) {
    return strncmp(line, word, strlen(word)) == 0;
}

static bool ends(const char *name, const char *suffix) {
    size_t size = strlen(name), end = strlen(suffix);
    return size > end && strcmp(name + size - end, suffix) == 0;
}

/* The name of a module as another one, in the folder of `from`, writes it: './FILE' or '../ROOM/FILE'. Rooms have no rooms in them. */
static void add_name(const char *from, const char *written, size_t size, struct buffer *out) {
    const char *room_end = strchr(from, '/');
    bool is_above = size > 3 && strncmp(written, "../", 3) == 0;
    size_t skip = is_above ? strlen("../") : strlen("./");
    if (is_above && !room_end) bug("%s imports from outside of the application", from);
    buffer_add_text(out, "./");
    if (!is_above && room_end) buffer_add(out, from, (size_t)(room_end + 1 - from));
    buffer_add(out, written + skip, size - skip);
}

/* import * as NAME from './FILE'; and import { A, B as C } from './FILE'; as constants. */
static void add_import(const char *from, const char *line, size_t size, struct buffer *out) {
    const char *file = memmem(line, size, " from '", 7), *what = line + strlen("import ");
    if (!file || line[size - 1] != ';') bug("an import of another form: %.*s", (int)size, line);
    bool is_whole = begins(what, "* as ");
    if (is_whole) what += strlen("* as ");
    buffer_add_text(out, "const ");
    for (; what < file; what++) {
        bool is_renamed = !is_whole && begins(what, " as ");
        if (is_renamed) what += strlen(" as ") - 1;
        buffer_add(out, is_renamed ? ": " : what, is_renamed ? 2 : 1);
    }
    const char *name = file + strlen(" from '");
    buffer_add_text(out, " = need('");
    add_name(from, name, (size_t)(line + size - strlen("';") - name), out);
    buffer_add_text(out, "');\n");
}

/* The name behind "export function" and so on goes to the list of names. */
static void add_export(const char *line, size_t size, struct buffer *names) {
    static const char *const words[] = {"async function ", "function ", "const ", "class "};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!begins(line, words[i])) continue;
        const char *name = line + strlen(words[i]);
        buffer_printf(names, "%s%.*s", names->size ? ", " : "", (int)strcspn(name, " ({="), name);
        return;
    }
    bug("an export of another form: %.*s", (int)size, line);
}

static void add_module(const char *name, struct buffer *out) {
    struct buffer names = {0};
    const struct embedded *file = file_of(name);
    buffer_printf(out, "modules.set('./%s', (need, out) => {\n", name);
    for (const char *line = file->text, *next; *line; line = next) {
        size_t size = strcspn(line, "\n");
        next = line + size + (line[size] == '\n');
        if (begins(line, "import ")) {
            add_import(file->name + strlen(PREFIX), line, size, out);
            continue;
        }
        size_t skip = begins(line, "export ") ? strlen("export ") : 0;
        if (skip) add_export(line + skip, size - skip, &names);
        if (size) buffer_add(out, line + skip, size - skip);
        if (size) buffer_add_char(out, '\n');
    }
    buffer_printf(out, "Object.assign(out, { %s });\n});\n", buffer_text(&names));
    buffer_free(&names);
}

/* import() of a module is a promise here too. */
static void replace_calls(struct buffer *out) {
    static const char call[] = "import('./";
    char *text = buffer_take(out), *rest = text;
    for (char *at; (at = strstr(rest, call)); rest = at + strlen("import(")) {
        buffer_add(out, rest, (size_t)(at - rest));
        buffer_add_text(out, "later(");
    }
    buffer_add_text(out, rest);
    free(text);
}

void bundle_script(struct buffer *out) {
    static const char head[] = "const modules = new Map(), made = new Map();\n"
                               "const need = name => {\n"
                               "if (made.has(name)) return made.get(name);\n"
                               "const out = {};\n"
                               "made.set(name, out);\n"
                               "modules.get(name)(need, out);\n"
                               "return out;\n"
                               "};\n"
                               "const later = name => Promise.resolve().then(() => need(name));\n";
    buffer_add_text(out, head);
    for (const struct embedded *file = application_next(NULL); file; file = application_next(file)) {
        const char *name = file->name + strlen(PREFIX);
        if (ends(name, ".js") && !is_stand_in(name)) add_module(name, out);
    }
    replace_calls(out);
    buffer_add_text(out, "need('./ahead.js');\nneed('./main.js');\n");
    if (strstr(out->data, "</script") || strstr(out->data, "<!--")) bug("the application would end its own element");
}

/* The page names them. */
void bundle_style(struct buffer *out) {
    static const char place[] = "<link rel=\"stylesheet\" href=\"/" PREFIX;
    for (const char *at = embedded_text(PREFIX "index.html"); (at = strstr(at, place));) {
        at += strlen(place);
        char *name = xasprintf("%.*s", (int)strcspn(at, "\""), at);
        buffer_add_text(out, file_of(name)->text);
        free(name);
    }
    if (strstr(out->data, "</style")) bug("a style sheet would end its own element");
}
