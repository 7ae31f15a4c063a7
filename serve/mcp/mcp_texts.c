#include "serve/mcp/mcp_texts.h"

#include <string.h>

#include "schema/schema.h"

enum { WORDS = 3 };

static const struct {
    const char *uri, *name, *title, *help, *type;
    const char *words[WORDS]; /* of the command */
    bool has_more;            /* the URI goes on with "/" and the command's last word */
    const char *statement;    /* that makes the text of the command's output; NULL: it is the text */
} resources[] = {
    {"clear://views",
     "views",
     "Tables and views in short",
     "The tables and views of the warehouse, a line each.",
     "text/plain",
     {"schema", "--json"},
     false,
     "mcp/mcp_answer/views"},
    {"clear://schema",
     "schema",
     "Tables and views",
     "The tables and views of the warehouse with their comments, each column with its unit and meaning, as JSON.",
     "application/json",
     {"schema", "--json"},
     false,
     NULL},
    {"clear://advice",
     "advice",
     "Diagnoses and advice",
     "What the doctor can find: code, severity, title and what to do, as JSON.",
     "application/json",
     {"query", "--format=json", "SELECT code, severity, title, text FROM advice ORDER BY code"},
     false,
     NULL},
    {"clear://schema",
     "view",
     "One table or view",
     "A table or view as SQL, such as clear://schema/heap.",
     "application/sql",
     {"schema"},
     true,
     NULL},
    {"clear://advice",
     "diagnosis",
     "One diagnosis",
     "All that is said of a diagnosis, in all languages, such as clear://advice/lock-hot-long.",
     "text/plain",
     {"help"},
     true,
     NULL},
};

enum { COUNT = sizeof resources / sizeof *resources, RESOURCE_MAX = 4 << 20 };

static void add_field(struct buffer *out, const char *key, const char *text) {
    buffer_add_char(out, ',');
    buffer_add_json_field(out, key, text);
}

static void add_list(struct buffer *out, bool has_more) {
    const char *separator = "[";
    for (size_t i = 0; i < COUNT; i++) {
        if (resources[i].has_more != has_more) continue;
        buffer_printf(out, "%s{\"%s\":\"%s%s\"", separator, has_more ? "uriTemplate" : "uri", resources[i].uri,
                      has_more ? "/{name}" : "");
        add_field(out, "name", resources[i].name);
        add_field(out, "title", resources[i].title);
        add_field(out, "description", resources[i].help);
        add_field(out, "mimeType", resources[i].type);
        buffer_add_char(out, '}');
        separator = ",";
    }
    buffer_add_char(out, ']');
}

void resources_list(struct buffer *out) {
    buffer_add_text(out, "\"resources\":");
    add_list(out, false);
}

void resources_templates(struct buffer *out) {
    buffer_add_text(out, "\"resourceTemplates\":");
    add_list(out, true);
}

/* A name can be no option and no path. */
static bool is_name(const char *name) {
    size_t size = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-");
    return size && size <= 100 && !name[size] && *name != '-';
}

static bool is_named(size_t i, const char *uri) {
    size_t size = strlen(resources[i].uri);
    if (strncmp(uri, resources[i].uri, size) != 0) return false;
    return resources[i].has_more ? uri[size] == '/' && is_name(uri + size + 1) : uri[size] == '\0';
}

static size_t find(const char *uri) {
    size_t i = 0;
    while (i < COUNT && !is_named(i, uri))
        i++;
    return i;
}

struct job *resource_command(const struct mcp_source *source, const char *uri) {
    static const struct mcp_source nothing;
    size_t i = find(uri);
    if (i == COUNT) return NULL;
    const char *command = resources[i].words[0];
    struct job *job = tool_reader(strcmp(command, "help") == 0 ? &nothing : source, command);
    struct job_words *words = &job->words;
    job->output_max = RESOURCE_MAX;
    for (size_t word = 1; word < WORDS && resources[i].words[word]; word++)
        job_words_add(words, "%s", resources[i].words[word]);
    if (resources[i].has_more) job_words_add(words, "%s", uri + strlen(resources[i].uri) + 1);
    return job;
}

static int add_text(struct buffer *out, struct db *db, const char *statement, const char *output, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text(statement), err);
    if (!row) return -1;
    db_bind_text(row, ":output", output);
    int code = db_step(db, row, err);
    if (code == 1) buffer_add_json_text(out, db_text(row, 0));
    sqlite3_reset(row);
    return code == 1 ? 0 : -1;
}

int resource_add(struct buffer *out, struct db *db, const char *uri, const struct job *job, struct error *err) {
    size_t i = find(uri);
    buffer_add_text(out, "\"contents\":[{");
    buffer_add_json_field(out, "uri", uri);
    add_field(out, "mimeType", resources[i].type);
    buffer_add_text(out, ",\"text\":");
    int code = 0;
    if (resources[i].statement)
        code = add_text(out, db, resources[i].statement, buffer_text(&job->output), err);
    else
        buffer_add_json_string(out, buffer_text(&job->output), job->output.size);
    buffer_add_text(out, "}]");
    return code;
}
