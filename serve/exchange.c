#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/exchange.h"
#include "serve/library.h"
#include "serve/receiver.h"

void exchange_reply_free(struct exchange *exchange) {
    struct reply *reply = &exchange->reply;
    buffer_free(&reply->body);
    free(reply->filename);
    free(reply->note);
    *reply = (struct reply){0};
}

void exchange_error(struct exchange *exchange, unsigned status, const char *format, ...) {
    char message[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    exchange_reply_free(exchange);
    exchange->reply = (struct reply){.status = status, .is_error = true, .is_sized = true};
    if (exchange->protocol) {
        receive_error(exchange, status, message);
        return;
    }
    exchange->reply.type = exchange->is_api ? "application/json" : "text/plain; charset=utf-8";
    if (exchange->is_api) {
        buffer_add_char(&exchange->reply.body, '{');
        buffer_add_json_field(&exchange->reply.body, "error", message);
        buffer_add_text(&exchange->reply.body, "}\n");
    } else {
        buffer_printf(&exchange->reply.body, "%s\n", message);
    }
}

void exchange_failed(struct exchange *exchange, unsigned status, const struct error *err) {
    exchange_error(exchange, err->status == ERROR_USAGE ? status : MHD_HTTP_INTERNAL_SERVER_ERROR, "%s", err->message);
}

struct header_search {
    const char *name, *value;
    size_t count;
};

static enum MHD_Result on_header(void *context, enum MHD_ValueKind kind, const char *name, const char *value) {
    struct header_search *search = context;
    (void)kind;
    if (strcasecmp(name, search->name) != 0) return MHD_YES;
    search->value = value ? value : "";
    search->count++;
    return MHD_YES;
}

const char *exchange_header(const struct exchange *exchange, const char *name, size_t *count) {
    struct header_search search = {.name = name};
    http.get_connection_values(exchange->connection, MHD_HEADER_KIND, on_header, &search);
    *count = search.count;
    return search.count == 1 ? search.value : NULL;
}

const char *server_scheme(const struct server *server) {
    return server->source.certificate ? "https" : "http";
}
