/* toggle.c: POST /debug/pprof/toggle switches recording off and on, for clients with the token. */
#include <microhttpd.h>
#include <string.h>

#include "serve/exchange.h"

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
    if (!access_check(exchange, control->token, access_bearer)) return;
    bool is_on = state ? strcmp(state, "on") == 0 : !control->is_on(control->context);
    if (control->set(control->context, is_on, &err)) {
        exchange_failed(exchange, MHD_HTTP_INTERNAL_SERVER_ERROR, &err);
        return;
    }
    exchange->reply = (struct reply){.status = MHD_HTTP_OK, .type = "application/json", .is_sized = true};
    buffer_printf(&exchange->reply.body, "{\"recording\":%s}\n", is_on ? "true" : "false");
}
