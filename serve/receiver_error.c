/* receiver_error.c: errors as each protocol has them. OTLP: google.rpc.Status, as protobuf or JSON. Connect: JSON with the name of the code. */
#include <microhttpd.h>

#include "base/protobuf.h"
#include "serve/receiver.h"

enum { STATUS_CODE = 1, STATUS_MESSAGE }; /* google.rpc.Status */

/* The codes of google.rpc.Code that a status of HTTP stands for. */
static const struct receive_code {
    unsigned status;
    int number;
    const char *name;
} codes[] = {{MHD_HTTP_UNAUTHORIZED, 16, "unauthenticated"},
             {MHD_HTTP_FORBIDDEN, 7, "permission_denied"},
             {MHD_HTTP_NOT_FOUND, 5, "not_found"},
             {MHD_HTTP_REQUEST_TIMEOUT, 1, "canceled"},
             {MHD_HTTP_CONTENT_TOO_LARGE, 8, "resource_exhausted"},
             {MHD_HTTP_NOT_IMPLEMENTED, 12, "unimplemented"},
             {MHD_HTTP_INTERNAL_SERVER_ERROR, 13, "internal"},
             {MHD_HTTP_SERVICE_UNAVAILABLE, 14, "unavailable"},
             {0, 3, "invalid_argument"}};

static const struct receive_code *code_of(unsigned status) {
    const struct receive_code *code = codes;
    while (code->status && code->status != status)
        code++;
    return code;
}

static void put_json(struct buffer *out, enum receive_protocol protocol, const struct receive_code *code,
                     const char *message) {
    if (protocol == RECEIVE_OTLP)
        buffer_printf(out, "{\"code\":%d,", code->number);
    else
        buffer_printf(out, "{\"code\":\"%s\",", code->name);
    buffer_add_json_field(out, "message", message);
    buffer_add_char(out, '}');
}

void receive_error(struct exchange *exchange, unsigned status, const char *message) {
    struct reply *reply = &exchange->reply;
    const struct receive_code *code = code_of(status);
    bool is_binary = exchange->protocol == RECEIVE_OTLP && !exchange->is_json;
    reply->type = is_binary ? "application/x-protobuf" : "application/json";
    if (!is_binary) {
        put_json(&reply->body, exchange->protocol, code, message);
        return;
    }
    protobuf_add_int(&reply->body, STATUS_CODE, code->number);
    protobuf_add_text(&reply->body, STATUS_MESSAGE, message);
}
