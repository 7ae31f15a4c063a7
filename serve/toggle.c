/* toggle.c: POST /debug/pprof/toggle switches recording off and on, for clients with the token. */
#include <microhttpd.h>
#include <string.h>

#include "serve/exchange.h"
#include "serve/token.h"

/* The text after "Bearer " in the Authorization header, or NULL. */
static const char *bearer(const struct exchange *exchange) {
    static const char scheme[] = "Bearer ";
    size_t count;
    const char *value = exchange_header(exchange, MHD_HTTP_HEADER_AUTHORIZATION, &count);
    if (!value || strncasecmp(value, scheme, strlen(scheme)) != 0) return NULL;
    value += strlen(scheme);
    value += strspn(value, " ");
    return *value ? value : NULL;
}

static bool check_token(struct exchange *exchange) {
    const char *given = bearer(exchange);
    if (!given) {
        exchange_error(
            exchange, MHD_HTTP_UNAUTHORIZED,
            "a token is needed: send the header Authorization: Bearer TOKEN, with the token that was given to "
            "clear profile, or that it printed at the start");
        exchange->reply.challenge = "Bearer realm=\"clear\"";
    } else if (!token_is_equal(exchange->server->source.control.token, given)) {
        exchange_error(exchange, MHD_HTTP_FORBIDDEN, "wrong token");
    }
    return exchange->reply.status == 0;
}

void toggle_answer(struct exchange *exchange) {
    struct error err = {0};
    const struct server_control *control = &exchange->server->source.control;
    const char *state = exchange->parameters.state;
    if (!control->is_on || exchange->server->has_ended) {
        exchange_error(exchange, MHD_HTTP_CONFLICT, "%s",
                       control->is_on ? "the recording has ended"
                                      : "nothing is being recorded here: only clear profile --http can be switched");
        return;
    }
    if (!check_token(exchange)) return;
    bool is_on = state ? strcmp(state, "on") == 0 : !control->is_on(control->context);
    if (control->set(control->context, is_on, &err)) {
        exchange_failed(exchange, MHD_HTTP_INTERNAL_SERVER_ERROR, &err);
        return;
    }
    exchange->reply = (struct reply){.status = MHD_HTTP_OK, .type = "application/json", .is_sized = true};
    buffer_printf(&exchange->reply.body, "{\"recording\":%s}\n", is_on ? "true" : "false");
}
