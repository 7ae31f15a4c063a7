#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#include "serve/exchange.h"
#include "serve/receiver.h"

enum { URI_MAX = 2048, STATE_MAX = 8192, CPU_SECONDS = 30 /* as net/http/pprof */ };

#define READ (METHOD_GET | METHOD_HEAD)

/* A path that changes something must accept only METHOD_POST, and check the token, which a page of another site cannot know. (symbol, which
 * takes a long list so, changes nothing.) */
const struct route routes[] = {
    {"", READ, index_answer, .help = NULL},
    {"heap", READ, profile_answer, "live memory, and all allocations", .kind = "heap"},
    {"allocs", READ, profile_answer, "the same, allocations first", .kind = "heap", .type = "alloc_space"},
    {"mutex", READ, profile_answer, "waits for locks", .kind = "mutex"},
    {"block", READ, profile_answer, "waits for locks and channels", .kind = "block"},
    {"profile", READ, profile_answer, "CPU time of the next 30 seconds, or seconds=N; of a finished run, of all of it",
     .kind = "cpu", .seconds = CPU_SECONDS},
    {"lock", READ, profile_answer, "all figures of locks, with hold times", .kind = "lock"},
    {"cells", READ, profile_answer, "reads, commits and retries of versioned cells", .kind = "mvcc"},
    {"channels", READ, profile_answer, "messages and waits of channels", .kind = "channels"},
    {"fibers", READ, profile_answer, "fibers by the place that starts them", .kind = "fibers"},
    {"syscalls", READ, profile_answer, "system calls, of runs with --syscalls", .kind = "syscalls"},
    {"threadcreate", READ, profile_answer, "threads by the stack that started them", .kind = "threads",
     .none = "threadcreate"},
    {"goroutine", READ, profile_answer, .help = NULL, .kind = "goroutine", .none = "goroutine"},
    {"delta_heap", READ, profile_answer, "heap since the last request for this path", .kind = "heap", .is_delta = true},
    {"delta_mutex", READ, profile_answer, "mutex since the last request for this path", .kind = "mutex",
     .is_delta = true},
    {"delta_block", READ, profile_answer, "block since the last request for this path", .kind = "block",
     .is_delta = true},
    {"cmdline", READ, cmdline_answer, .help = NULL},
    {"symbol", READ | METHOD_POST, symbol_answer, .help = NULL, .is_raw = true},
    {"toggle", METHOD_POST, toggle_answer, .help = NULL, .parameters = parameters_of_toggle},
    {"dump", METHOD_POST, dump_answer, .help = NULL, .parameters = parameters_of_dump},
    {NULL, READ, profile_answer, .help = NULL},
};

/* ---- checks ---- */

static bool check_host(struct exchange *exchange) {
    size_t count;
    const char *host = exchange_header(exchange, "Host", &count);
    if (!host)
        exchange_error(exchange, MHD_HTTP_BAD_REQUEST, "a request must have one Host header, and this one has %s",
                       count ? "several" : "none");
    else if (!address_is_named(&exchange->server->address, host))
        exchange_error(exchange, MHD_HTTP_FORBIDDEN, "Host: %.100s is not a name of this server: use %s", host,
                       exchange->server->url);
    return exchange->reply.status == 0;
}

/* True if Origin is this server (SCHEME://HOST with the host of the Host header) or missing: browsers omit it in a plain GET. */
static bool is_own_origin(const struct exchange *exchange) {
    const char *scheme = server_scheme(exchange->server);
    size_t count, hosts, size = strlen(scheme);
    const char *origin = exchange_header(exchange, "Origin", &count);
    const char *host = exchange_header(exchange, "Host", &hosts);
    if (!count) return true;
    return origin && strncasecmp(origin, scheme, size) == 0 && strncmp(origin + size, "://", 3) == 0 &&
           strcasecmp(origin + size + 3, host) == 0;
}

/* A page of another site, or of another port of this host, cannot read what it makes a browser fetch, but it could start profiles and
 * move the marks of the delta paths. A link that a user follows is allowed where it changes nothing. A frame is none: nobody
 * sees that it is there, and each makes the server work. */
static bool check_site(struct exchange *exchange) {
    size_t sites, modes, places;
    const char *site = exchange_header(exchange, "Sec-Fetch-Site", &sites);
    const char *mode = exchange_header(exchange, "Sec-Fetch-Mode", &modes);
    const char *place = exchange_header(exchange, "Sec-Fetch-Dest", &places);
    bool is_link = mode && strcmp(mode, "navigate") == 0 && (!places || (place && strcmp(place, "document") == 0));
    bool is_ours = !sites || (site && (strcmp(site, "same-origin") == 0 || strcmp(site, "none") == 0));
    bool changes_nothing = (exchange->method & READ) && !exchange->route->is_delta;
    is_ours |= changes_nothing && is_link;
    if (is_ours && is_own_origin(exchange)) return true;
    exchange_error(exchange, MHD_HTTP_FORBIDDEN, "the request comes from a page of another site");
    return false;
}

static bool check_method(struct exchange *exchange, unsigned methods) {
    if (methods & exchange->method) return true;
    exchange_error(exchange, MHD_HTTP_METHOD_NOT_ALLOWED, "only %s is allowed here",
                   methods == METHOD_POST  ? "POST"
                   : methods & METHOD_POST ? "GET, HEAD or POST"
                                           : "GET or HEAD");
    exchange->reply.allow = methods;
    return false;
}

/* Links of the index are relative to a path that ends in a slash. */
static void redirect(struct exchange *exchange) {
    exchange->reply = (struct reply){
        .status = MHD_HTTP_FOUND, .type = "text/plain; charset=utf-8", .location = ROUTES_PREFIX, .is_sized = true};
    buffer_add_text(&exchange->reply.body, "the profiles are below " ROUTES_PREFIX "\n");
}

static const struct route *find_route(const struct route *route, const char *path) {
    while (route->path && strcmp(route->path, path) != 0)
        route++;
    return route;
}

/* What is below `prefix`, or NULL. */
static const char *below(const char *path, const char *prefix) {
    size_t size = strlen(prefix);
    return strncmp(path, prefix, size) == 0 ? path + size : NULL;
}

/* The pages of pprof's own server: the application reads such an address (web/state/place.js). */
static bool is_pprof_page(const char *path) {
    static const char *const pages[] = {"/top",  "/flamegraph", "/flamegraph2", "/flamegraphold", "/graph",
                                        "/peek", "/source",     "/weblist",     "/disasm"};
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        if (strcmp(path, pages[i]) == 0) return true;
    return false;
}

static void find_place(struct exchange *exchange, const char *path) {
    const char *rest;
    if (strcmp(path, "/") == 0 || is_pprof_page(path)) {
        exchange->path = xstrdup("");
        exchange->route = &page_route;
    } else if ((rest = below(path, "/web/"))) {
        exchange->path = xstrdup(rest);
        exchange->route = &page_route;
    } else if ((rest = below(path, API_PREFIX))) {
        exchange->path = xstrdup(rest);
        exchange->route = find_route(api_routes, rest);
    } else if ((rest = below(path, ROUTES_PREFIX))) {
        exchange->path = xstrdup(rest);
        exchange->route = find_route(routes, rest);
    } else if (exchange->protocol) {
        exchange->path = xstrdup("");
        exchange->route = receive_route(exchange->protocol);
    } else if (strcmp(path, "/debug/pprof") == 0) {
        redirect(exchange);
    } else {
        exchange_error(exchange, MHD_HTTP_NOT_FOUND,
                       "not found: the application is at /, profiles are below " ROUTES_PREFIX);
    }
}

/* Finds the route and the part of the path below its prefix; false, with a reply, if there is none. */
static bool take_path(struct exchange *exchange) {
    const char *uri = exchange->uri;
    char *path = xasprintf("%.*s", (int)strcspn(uri, "?"), uri);
    if (*uri != '/' || url_decode(path))
        exchange_error(exchange, MHD_HTTP_BAD_REQUEST, "not a valid path: paths begin with /");
    else
        find_place(exchange, path);
    free(path);
    return exchange->route != NULL;
}

static bool take_parameters(struct exchange *exchange) {
    struct error err = {0};
    const struct parameter *known = exchange->route->parameters;
    if (exchange->route->is_page || exchange->route->is_raw || exchange->is_api) return true;
    const char *query = strchr(exchange->uri, '?');
    char *text = xasprintf("%s&%s", query ? query + 1 : "", buffer_text(&exchange->body));
    if (parameters_read(&exchange->parameters, known ? known : parameters_of_profile, text, &err))
        exchange_failed(exchange, MHD_HTTP_BAD_REQUEST, &err);
    free(text);
    return exchange->reply.status == 0;
}

/* Accepts only what curl -d state=on sends. */
static bool check_body(struct exchange *exchange) {
    static const char form[] = "application/x-www-form-urlencoded";
    size_t count;
    const char *type = exchange_header(exchange, MHD_HTTP_HEADER_CONTENT_TYPE, &count);
    if (!exchange->body.size || exchange->is_api || exchange->route->is_raw) return true;
    if (!type || strncasecmp(type, form, strlen(form)) != 0 ||
        (type[strlen(form)] && !strchr("; ", type[strlen(form)])))
        exchange_error(exchange, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE, "the body must be %s, such as state=on", form);
    else if (strlen(exchange->body.data) != exchange->body.size)
        exchange_error(exchange, MHD_HTTP_BAD_REQUEST, "the body is not valid URL encoding");
    return exchange->reply.status == 0;
}

/* The state of the application, its filters among it, is in its URL. */
static bool check_length(struct exchange *exchange) {
    const char *uri = exchange->uri;
    int most = exchange->is_api || exchange->protocol || below(uri, "/?") ? STATE_MAX : URI_MAX;
    if (strlen(uri) > (size_t)most)
        exchange_error(exchange, MHD_HTTP_URI_TOO_LONG, "the URL is longer than %d characters", most);
    return exchange->reply.status == 0;
}

void routes_check(struct exchange *exchange) {
    const struct server_source *source = &exchange->server->source;
    if (!check_length(exchange) || !check_host(exchange) || !take_path(exchange)) return;
    const char *token = exchange->protocol ? source->receive.token : source->token;
    if (token && !access_check(exchange, token, access_basic)) return;
    if (check_site(exchange)) (void)check_method(exchange, exchange->route->methods);
}

void routes_answer(struct exchange *exchange) {
    if (exchange->fetching || exchange->protocol) { /* the runs have come, or the body of what was checked before */
        exchange->route->answer(exchange);
        return;
    }
    routes_check(exchange);
    if (!exchange->reply.status && check_body(exchange) && take_parameters(exchange)) exchange->route->answer(exchange);
}
