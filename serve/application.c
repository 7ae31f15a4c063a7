/* application.c: the files of the application (web/), which are built into the program. */
#include <inttypes.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "schema/schema.h"
#include "serve/exchange.h"

static const struct {
    const char *suffix, *type;
} types[] = {
    {".html", "text/html; charset=utf-8"}, {".js", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},   {".svg", "image/svg+xml"},
    {".json", "application/json"},
};

/* Nothing of another origin, nothing inline, and no eval: a name that became markup would still do nothing. */
static const char policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/* What is made of the tables of this program, as a file among the others. */
static const struct embedded *made_file(void) {
    static struct embedded file;
    static struct buffer text;
    if (!text.size) api_filters_script(&text);
    file = (struct embedded){"web/state/options.js", buffer_text(&text)};
    return &file;
}

/* A name for the application as it is: an address below it never gets another content, so that a browser asks for it once. */
static const char *version(void) {
    static char name[2 + 16 + 1];
    const struct embedded *made = made_file();
    uint64_t hash = hash_bytes(made->text, strlen(made->text));
    for (const struct embedded *file = embedded_files; !*name && file->name; file++)
        if (strncmp(file->name, "web/", 4) == 0)
            hash = hash_combine(hash, hash_combine(hash_bytes(file->name, strlen(file->name)),
                                                   hash_bytes(file->text, strlen(file->text))));
    if (!*name) snprintf(name, sizeof name, "v-%016" PRIx64, hash);
    return name;
}

/* The file's name behind v-HASH/, of this version or of the one that an older page was made of. */
static const char *without_version(const char *path, bool *is_ours) {
    size_t size = strlen(version());
    *is_ours = strncmp(path, version(), size) == 0 && path[size] == '/';
    return strncmp(path, "v-", 2) == 0 && strlen(path) > size && path[size] == '/' ? path + size + 1 : path;
}

/* The page asks for the files of its own version. */
static void add_page(const char *html, struct buffer *body) {
    static const char place[] = "\"/web/";
    for (const char *next; (next = strstr(html, place)); html = next + sizeof place - 1) {
        buffer_add(body, html, (size_t)(next - html));
        buffer_printf(body, "%s%s/", place, version());
    }
    buffer_add_text(body, html);
}

const struct embedded *application_next(const struct embedded *file) {
    if (file == made_file()) return NULL;
    for (file = file ? file + 1 : embedded_files; file->name; file++)
        if (strncmp(file->name, "web/", 4) == 0) return file;
    return made_file();
}

const struct embedded *application_file(const char *name) {
    const struct embedded *file = application_next(NULL);
    while (file && strcmp(file->name, name) != 0)
        file = application_next(file);
    return file;
}

static const struct embedded *find(const char *path) {
    char *name = xasprintf("web/%s", *path ? path : "index.html");
    const struct embedded *file = application_file(name);
    free(name);
    return file;
}

static const char *type_of(const char *name) {
    size_t size = strlen(name);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        size_t end = strlen(types[i].suffix);
        if (size > end && strcmp(name + size - end, types[i].suffix) == 0) return types[i].type;
    }
    return "text/plain; charset=utf-8";
}

static bool has_tag(const struct exchange *exchange, const char *tag) {
    size_t count;
    const char *known = exchange_header(exchange, MHD_HTTP_HEADER_IF_NONE_MATCH, &count);
    return known && strstr(known, tag);
}

static void answer(struct exchange *exchange) {
    bool is_ours;
    const struct embedded *file = find(without_version(exchange->path, &is_ours));
    if (!file) {
        exchange_error(exchange, MHD_HTTP_NOT_FOUND, "not found: the application is at /");
        return;
    }
    struct reply *reply = &exchange->reply;
    *reply = (struct reply){
        .status = MHD_HTTP_OK, .type = type_of(file->name), .policy = policy, .is_sized = true, .is_lasting = is_ours};
    if (strcmp(file->name, "web/index.html") == 0)
        add_page(file->text, &reply->body);
    else
        buffer_add_text(&reply->body, file->text);
    snprintf(reply->tag, sizeof reply->tag, "\"%016" PRIx64 "\"", hash_bytes(reply->body.data, reply->body.size));
    if (!has_tag(exchange, reply->tag)) return;
    reply->status = MHD_HTTP_NOT_MODIFIED;
    buffer_free(&reply->body);
}

const struct route page_route = {"", METHOD_GET | METHOD_HEAD, answer, .is_page = true};
