/* POST /debug/pprof/toggle: recording off and on, for who has the token. */
#include <microhttpd.h>
#include <string.h>

#include "serve/exchange.h"
#include "serve/token.h"

/* What follows "Bearer " in the Authorization header, NULL where nothing does. */
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
        exchange_error(exchange, MHD_HTTP_UNAUTHORIZED,
                       "this needs the token: send the header Authorization: Bearer TOKEN, as clear profile printed it "
                       "when it began, or as it was given to it");
        exchange->reply.challenge = "Bearer realm=\"clear\"";
    } else if (!token_is_equal(exchange->server->source.control.token, given)) {
        exchange_error(exchange, MHD_HTTP_FORBIDDEN, "that is not the token of this recording");
    }
    return exchange->reply.status == 0;
}

void toggle_answer(struct exchange *exchange) {
    struct error err = {0};
    const struct server_control *control = &exchange->server->source.control;
    const char *state = exchange->parameters.state;
    if (!control->is_on || exchange->server->has_ended) {
        exchange_error(exchange, MHD_HTTP_CONFLICT, "%s",
                       control->is_on ? "the program has ended, and recording with it"
                                      : "nothing is recorded here: clear profile --http is what can be switched");
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
