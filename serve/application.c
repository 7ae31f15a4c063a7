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

static const struct embedded *find(const char *path) {
    char *name = xasprintf("web/%s", *path ? path : "index.html");
    const struct embedded *file = embedded_files;
    while (file->name && strcmp(file->name, name) != 0)
        file++;
    free(name);
    return file->name ? file : NULL;
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

void page_answer(struct exchange *exchange) {
    const struct embedded *file = find(exchange->path);
    if (!file) {
        exchange_error(exchange, MHD_HTTP_NOT_FOUND, "not found: the application is at /");
        return;
    }
    size_t size = strlen(file->text);
    struct reply *reply = &exchange->reply;
    *reply = (struct reply){.status = MHD_HTTP_OK, .type = type_of(file->name), .policy = policy, .is_sized = true};
    snprintf(reply->tag, sizeof reply->tag, "\"%016" PRIx64 "\"", hash_bytes(file->text, size));
    if (has_tag(exchange, reply->tag))
        reply->status = MHD_HTTP_NOT_MODIFIED;
    else
        buffer_add(&reply->body, file->text, size);
}

const struct route page_route = {"", METHOD_GET | METHOD_HEAD, page_answer, .is_page = true};
