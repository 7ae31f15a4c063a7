#include "serve/mcp/mcp_tools.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/split.h"
#include "schema/schema.h"

/* ---- the list ---- */

static bool has(const struct mcp_source *source, const struct tool *tool) {
    return source->allows_profile || !tool->runs_programs;
}

const struct tool *tool_find(const struct mcp_source *source, const char *name) {
    for (const struct tool *tool = tools; tool->name; tool++)
        if (strcmp(tool->name, name) == 0 && has(source, tool)) return tool;
    return NULL;
}

static void add_choices(struct buffer *out, const char *words) {
    const char *separator = ",\"enum\":[";
    for (const char *at = words; *at; at += strspn(at, " ")) {
        size_t size = strcspn(at, " ");
        buffer_add_text(out, separator);
        buffer_add_json_string(out, at, size);
        separator = ",";
        at += size;
    }
    buffer_add_char(out, ']');
}

static void add_argument(struct buffer *out, const struct tool_argument *argument) {
    static const char *const types[] = {[TOOL_TEXT] = "string",   [TOOL_RUNS] = "string", [TOOL_CHOICE] = "string",
                                        [TOOL_COUNT] = "integer", [TOOL_LIST] = "array",  [TOOL_VALUES] = "object"};
    buffer_add_json_text(out, argument->name);
    buffer_printf(out, ":{\"type\":\"%s\",", types[argument->value]);
    buffer_add_json_field(out, "description", argument->help);
    if (argument->value == TOOL_CHOICE) add_choices(out, argument->words);
    if (argument->value == TOOL_COUNT)
        buffer_printf(out, ",\"minimum\":%" PRId64 ",\"maximum\":%" PRId64 ",\"default\":%" PRId64, argument->least,
                      argument->most, argument->preset);
    if (argument->value == TOOL_LIST)
        buffer_printf(out, ",\"items\":{\"type\":\"string\"},\"minItems\":1,\"maxItems\":%d", TOOL_LIST_MAX);
    if (argument->value == TOOL_VALUES)
        buffer_add_text(out, ",\"additionalProperties\":{\"type\":[\"string\",\"number\"]}");
    buffer_add_char(out, '}');
}

static void add_input(struct buffer *out, const struct tool *tool) {
    const char *separator = "";
    buffer_add_text(out, ",\"inputSchema\":{\"type\":\"object\",\"properties\":{");
    for (const struct tool_argument *one = tool->arguments; one->name; one++) {
        if (one != tool->arguments) buffer_add_char(out, ',');
        add_argument(out, one);
    }
    buffer_add_text(out, "},\"required\":[");
    for (const struct tool_argument *one = tool->arguments; one->name; one++) {
        if (!one->is_required) continue;
        buffer_add_text(out, separator);
        buffer_add_json_text(out, one->name);
        separator = ",";
    }
    buffer_add_text(out, "],\"additionalProperties\":false}");
}

/* What all answers have. */
static const char output_schema[] =
    ",\"outputSchema\":{\"type\":\"object\",\"properties\":{"
    "\"truncated\":{\"type\":\"boolean\",\"description\":\"There is more than was shown.\"},"
    "\"next\":{\"type\":\"array\",\"description\":\"What to ask next.\",\"items\":{\"type\":\"object\",\"properties\":{"
    "\"tool\":{\"type\":\"string\"},\"arguments\":{\"type\":\"object\"},\"why\":{\"type\":\"string\"}},"
    "\"required\":[\"tool\",\"arguments\",\"why\"]}}},\"required\":[\"truncated\",\"next\"]}";

static void add_tool(struct buffer *out, const struct tool *tool) {
    buffer_add_char(out, '{');
    buffer_add_json_field(out, "name", tool->name);
    buffer_add_char(out, ',');
    buffer_add_json_field(out, "title", tool->title);
    buffer_add_char(out, ',');
    buffer_add_json_field(out, "description", tool->help);
    add_input(out, tool);
    buffer_add_text(out, output_schema);
    buffer_printf(out, ",\"annotations\":{\"readOnlyHint\":%s,\"openWorldHint\":%s}}",
                  tool->runs_programs ? "false" : "true", tool->runs_programs ? "true" : "false");
}

void tools_list(const struct mcp_source *source, struct buffer *out) {
    const char *separator = "\"tools\":[";
    for (const struct tool *tool = tools; tool->name; tool++) {
        if (!has(source, tool)) continue;
        buffer_add_text(out, separator);
        add_tool(out, tool);
        separator = ",";
    }
    buffer_add_char(out, ']');
}

/* ---- names of runs ---- */

/* Also by its real path: a link below the directory may lead out of it. */
static bool is_below(const char *directory, const char *name) {
    size_t size = strlen(directory);
    char *real = realpath(name, NULL);
    bool is_root = strcmp(directory, "/") == 0;
    bool is_inside = real && (is_root || (strncmp(real, directory, size) == 0 && (!real[size] || real[size] == '/')));
    free(real);
    return is_inside;
}

static bool is_path(const char *name) {
    return *name == '/' || *name == '.' || *name == '~';
}

static int check_name(const char *directory, const char *name, struct error *err) {
    if (*name == '-') return error_usage(err, "a run is not named %.40s", name);
    if (strstr(name, "://")) return error_usage(err, "URLs are not fetched for a tool: clear ingest does that");
    if (access(name, F_OK) != 0 && !is_path(name)) return 0;
    if (is_below(directory, name)) return 0;
    return error_usage(err, "%.200s is no file below the base directory", name);
}

/* A word with commas is a file of that name, or several names. */
int tool_check_runs(const char *directory, const char *runs, struct error *err) {
    if (check_name(directory, runs, err)) return -1;
    char *copy = xstrdup(runs), *rest = copy;
    int code = 0;
    for (char *name; code == 0 && (name = strsep(&rest, ","));)
        code = check_name(directory, name, err);
    free(copy);
    return code;
}

/* ---- what was given ---- */

static void words_free(struct job_words *words) {
    while (words->count)
        free(words->items[--words->count]);
}

void tool_call_free(struct tool_call *call) {
    for (size_t i = 0; i < call->given_count; i++) {
        free(call->given[i].text);
        words_free(&call->given[i].words);
    }
    for (size_t i = 0; i < call->step_count; i++)
        job_free(call->steps[i]);
    call->given_count = call->step_count = 0;
}

static const struct tool_given *find(const struct tool_call *call, const char *name) {
    for (size_t i = 0; i < call->given_count; i++)
        if (strcmp(call->given[i].argument->name, name) == 0) return &call->given[i];
    return NULL;
}

const char *tool_text(const struct tool_call *call, const char *name) {
    const struct tool_given *given = find(call, name);
    return given ? given->text : NULL;
}

int64_t tool_number(const struct tool_call *call, const char *name) {
    const struct tool_given *given = find(call, name);
    if (given) return given->number;
    for (const struct tool_argument *one = call->tool->arguments; one->name; one++)
        if (strcmp(one->name, name) == 0) return one->preset;
    bug("the tool %s has no argument %s", call->tool->name, name);
}

const struct job_words *tool_words(const struct tool_call *call, const char *name) {
    const struct tool_given *given = find(call, name);
    return given ? &given->words : NULL;
}

static const struct tool_argument *find_argument(const struct tool *tool, const char *name, struct error *err) {
    struct buffer names = {0};
    const struct tool_argument *found = NULL;
    for (const struct tool_argument *one = tool->arguments; one->name; one++) {
        if (strcmp(one->name, name) == 0) found = one;
        buffer_printf(&names, "%s%s", names.size ? ", " : "", one->name);
    }
    if (!found) error_usage(err, "%s has no argument '%.40s'; it has %s", tool->name, name, buffer_text(&names));
    buffer_free(&names);
    return found;
}

/* A text of a row, in *text. */
static int take_text(sqlite3_stmt *row, int column, const char *name, char **text, struct error *err) {
    const char *value = db_text(row, column);
    if (strlen(value) > TOOL_TEXT_MAX) return error_usage(err, "%s has more than %d KiB", name, TOOL_TEXT_MAX >> 10);
    *text = xstrdup(value);
    return 0;
}

/* The columns of mcp/mcp_tools/arguments and mcp/mcp_tools/items. */
enum { KEY, TYPE, VALUE };

static int take_string(const struct tool_call *call, struct tool_given *given, sqlite3_stmt *row, struct error *err) {
    const struct tool_argument *argument = given->argument;
    if (strcmp(db_text(row, TYPE), "text") != 0) return error_usage(err, "%s must be a string", argument->name);
    if (take_text(row, VALUE, argument->name, &given->text, err)) return -1;
    if (argument->value == TOOL_CHOICE && !split_has(argument->words, given->text))
        return error_usage(err, "%s is one of: %s", argument->name, argument->words);
    if (argument->value != TOOL_RUNS) return 0;
    return tool_check_runs(call->source->directory, given->text, err);
}

static int take_count(struct tool_given *given, sqlite3_stmt *row, struct error *err) {
    const struct tool_argument *argument = given->argument;
    given->number = sqlite3_column_int64(row, VALUE);
    if (strcmp(db_text(row, TYPE), "integer") == 0 && sqlite3_column_type(row, VALUE) == SQLITE_INTEGER &&
        given->number >= argument->least && given->number <= argument->most)
        return 0;
    return error_usage(err, "%s must be an integer from %" PRId64 " to %" PRId64, argument->name, argument->least,
                       argument->most);
}

static int add_item(struct tool_given *given, sqlite3_stmt *row, struct error *err) {
    const char *name = given->argument->name;
    char *text = NULL;
    if (strcmp(db_text(row, TYPE), "text") != 0) return error_usage(err, "%s must be an array of strings", name);
    if (given->words.count == TOOL_LIST_MAX)
        return error_usage(err, "%s has more than %d strings", name, TOOL_LIST_MAX);
    if (take_text(row, VALUE, name, &text, err)) return -1;
    job_words_add(&given->words, "%s", text);
    free(text);
    return 0;
}

static bool is_name(const char *name) {
    if (!isalpha((unsigned char)*name) && *name != '_') return false;
    while (isalnum((unsigned char)*name) || *name == '_')
        name++;
    return !*name;
}

/* NAME=VALUE, as a command takes it. */
static int add_value(const struct tool_call *call, struct tool_given *given, sqlite3_stmt *row, struct error *err) {
    const char *key = db_text(row, KEY), *type = db_text(row, TYPE), *name = given->argument->name;
    char *text = NULL;
    if (!is_name(key)) return error_usage(err, "%s: '%.40s' is no name of a parameter", name, key);
    if (strcmp(type, "text") != 0 && strcmp(type, "integer") != 0 && strcmp(type, "real") != 0)
        return error_usage(err, "%s: %s must be a string or a number", name, key);
    if (given->words.count == TOOL_LIST_MAX) return error_usage(err, "%s has more than %d values", name, TOOL_LIST_MAX);
    if (take_text(row, VALUE, key, &text, err)) return -1;
    int code = strcmp(key, "run") == 0 ? tool_check_runs(call->source->directory, text, err) : 0;
    if (code == 0) job_words_add(&given->words, "%s=%s", key, text);
    free(text);
    return code;
}

static int take_items(const struct tool_call *call, struct tool_given *given, struct db *db,
                      const struct rpc_message *message, struct error *err) {
    bool is_list = given->argument->value == TOOL_LIST;
    sqlite3_stmt *row = db_prepare(db, embedded_text("mcp/mcp_tools/items"), err);
    int code = row ? 1 : -1;
    if (row) db_bind_text(row, ":line", message->text);
    if (row) db_bind_text(row, ":name", given->argument->name);
    while (code == 1 && (code = db_step(db, row, err)) == 1)
        if (is_list ? add_item(given, row, err) : add_value(call, given, row, err)) code = -1;
    if (row) sqlite3_reset(row);
    if (code == 0 && is_list && !given->words.count) return error_usage(err, "%s is empty", given->argument->name);
    return code;
}

static int take(struct tool_call *call, struct db *db, const struct rpc_message *message, sqlite3_stmt *row,
                struct error *err) {
    const struct tool_argument *argument = find_argument(call->tool, db_text(row, KEY), err);
    if (!argument) return -1;
    if (find(call, argument->name)) return error_usage(err, "%s is given twice", argument->name);
    struct tool_given *given = &call->given[call->given_count++];
    *given = (struct tool_given){.argument = argument};
    bool is_list = argument->value == TOOL_LIST;
    if (is_list || argument->value == TOOL_VALUES) {
        if (strcmp(db_text(row, TYPE), is_list ? "array" : "object") != 0)
            return error_usage(err, "%s must be an %s", argument->name, is_list ? "array of strings" : "object");
        return take_items(call, given, db, message, err);
    }
    return argument->value == TOOL_COUNT ? take_count(given, row, err) : take_string(call, given, row, err);
}

static int take_all(struct tool_call *call, struct db *db, const struct rpc_message *message, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("mcp/mcp_tools/arguments"), err);
    int code = row ? 1 : -1;
    if (row) db_bind_text(row, ":line", message->text);
    while (code == 1 && (code = db_step(db, row, err)) == 1)
        if (take(call, db, message, row, err)) code = -1;
    if (row) sqlite3_reset(row);
    return code;
}

int tool_call_read(struct tool_call *call, struct db *db, const struct rpc_message *message, struct error *err) {
    if (take_all(call, db, message, err)) return -1;
    for (const struct tool_argument *one = call->tool->arguments; one->name; one++)
        if (one->is_required && !find(call, one->name))
            return error_usage(err, "%s needs the argument %s: %s", call->tool->name, one->name, one->help);
    return call->tool->make(call, err);
}
