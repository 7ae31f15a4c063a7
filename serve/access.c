/* access.c: the token that a request must have: as Authorization: Bearer TOKEN, or as the password of Basic, which browsers ask for. */
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "serve/exchange.h"
#include "serve/token.h"

const char access_basic[] = "Basic realm=\"clear: the token is the password\", charset=\"UTF-8\"";
const char access_bearer[] = "Bearer realm=\"clear\"";

/* The text of base64, or NULL; free() it. */
static char *decode(const char *text) {
    struct buffer out = {0};
    if (base64_decode(&out, text)) return buffer_take(&out);
    buffer_free(&out);
    return NULL;
}

static const char *after_scheme(const char *value, const char *scheme) {
    size_t size = strlen(scheme);
    if (!value || strncasecmp(value, scheme, size) != 0 || value[size] != ' ') return NULL;
    value += size;
    return value + strspn(value, " ");
}

/* The token of the request; free() it. NULL: it has none. What a browser adds to its requests by itself does not switch a recording. */
static char *given_token(const struct exchange *exchange, bool takes_basic) {
    size_t count;
    const char *value = exchange_header(exchange, MHD_HTTP_HEADER_AUTHORIZATION, &count);
    const char *bearer = after_scheme(value, "Bearer"), *basic = takes_basic ? after_scheme(value, "Basic") : NULL;
    if (bearer) return *bearer ? xstrdup(bearer) : NULL;
    char *pair = basic ? decode(basic) : NULL, *password = pair ? strchr(pair, ':') : NULL;
    char *token = password && password[1] ? xstrdup(password + 1) : NULL;
    free(pair);
    return token;
}

bool access_check(struct exchange *exchange, const char *token, const char *challenge) {
    char *given = given_token(exchange, challenge == access_basic);
    bool is_right = given && token_is_equal(token, given);
    if (!given)
        exchange_error(exchange, MHD_HTTP_UNAUTHORIZED,
                       "a token is needed: send the header Authorization: Bearer TOKEN, or the token as the password "
                       "of any user; it "
                       "is the one that was given to clear, or that it printed at the start");
    else if (!is_right) /* a browser asks again after a 401 alone */
        exchange_error(exchange, challenge == access_basic ? MHD_HTTP_UNAUTHORIZED : MHD_HTTP_FORBIDDEN, "wrong token");
    if (exchange->reply.status == MHD_HTTP_UNAUTHORIZED) exchange->reply.challenge = challenge;
    free(given);
    return is_right;
}
