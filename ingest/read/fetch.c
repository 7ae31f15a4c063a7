#include "ingest/read/fetch.h"

#include <ctype.h>
#include <curl/curl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "ingest/read/input.h"

enum { TIMEOUT_DEFAULT_S = 60, CONNECT_TIMEOUT_S = 10, TIMEOUT_GRACE_S = 5, REDIRECTS_MAX = 5 };
static const char scheme_insecure[] = "https+insecure://";

/* ---- the library ------------------------------------------------------------------------------------------------- */

/* libcurl is loaded at the first URL. It loads some thirty other libraries, which would cost every command 3 ms at its
 * start. */
static struct {
    CURL *(*easy_init)(void);
    CURLcode (*easy_setopt)(CURL *, CURLoption, ...);
    CURLcode (*easy_perform)(CURL *);
    CURLcode (*easy_getinfo)(CURL *, CURLINFO, ...);
    const char *(*easy_strerror)(CURLcode);
    struct curl_slist *(*slist_append)(struct curl_slist *, const char *);
    void (*slist_free_all)(struct curl_slist *);
    void (*easy_cleanup)(CURL *);
} curl;

static int load_curl(struct error *err) {
    if (curl.easy_init) return 0;
    void *library = dlopen("libcurl.so.4", RTLD_NOW);
    if (!library) return error_fail(err, "URLs need libcurl (Debian: apt-get install libcurl4): %s", dlerror());
    const struct {
        const char *name;
        void *place;
    } functions[] = {{"curl_easy_setopt", &curl.easy_setopt},       {"curl_easy_perform", &curl.easy_perform},
                     {"curl_easy_getinfo", &curl.easy_getinfo},     {"curl_easy_strerror", &curl.easy_strerror},
                     {"curl_easy_cleanup", &curl.easy_cleanup},     {"curl_slist_append", &curl.slist_append},
                     {"curl_slist_free_all", &curl.slist_free_all}, {"curl_easy_init", &curl.easy_init}};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *function = dlsym(library, functions[i].name);
        if (!function) return error_fail(err, "libcurl has no %s", functions[i].name);
        memcpy(functions[i].place, &function, sizeof function);
    }
    return 0;
}

/* ---- URLs -------------------------------------------------------------------------------------------------------- */

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* "localhost:6060/debug/pprof/heap" */
static bool is_host_and_port(const char *name) {
    size_t host = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-");
    if (!host || name[host] != ':') return false;
    size_t port = strspn(name + host + 1, "0123456789");
    return port && name[host + 1 + port] == '/';
}

bool fetch_is_url(const char *name) {
    return begins(name, "http://") || begins(name, "https://") || begins(name, scheme_insecure) ||
           is_host_and_port(name);
}

char *fetch_shown_url(const char *url) {
    const char *host = strstr(url, "://");
    host = host ? host + 3 : url;
    const char *end = host + strcspn(host, "/?#"), *at = NULL;
    for (const char *c = host; c < end; c++)
        if (*c == '@') at = c;
    return at ? xasprintf("%.*s%s", (int)(host - url), url, at + 1) : xstrdup(url);
}

/* The value of `seconds` in a query, 0 for none. */
static int64_t seconds_in(const char *url) {
    for (const char *c = strchr(url, '?'); c; c = strchr(c + 1, '&'))
        if (begins(c + 1, "seconds=")) return strtoll(c + 9, NULL, 10);
    return 0;
}

/* A URL without a path gets the path of the CPU profile, as in pprof. */
static void add_path(struct buffer *made, const char *url, const char *path_given) {
    const char *host = strstr(url, "://") + 3, *path = host + strcspn(host, "/?#");
    bool is_root = *path != '/' || !path[1] || path[1] == '?';
    buffer_printf(made, "%.*s%s%s", (int)(path - url), url, is_root ? path_given : "",
                  path + (is_root && *path == '/'));
}

/* The URL to fetch: with a scheme that libcurl knows, a path, and `seconds` instead of the value that it has. */
static char *fetched_url(const char *url, int64_t seconds, const char *path) {
    struct buffer made = {0};
    char *whole = begins(url, scheme_insecure) ? xasprintf("https://%s", url + strlen(scheme_insecure))
                                               : xasprintf("%s%s", is_host_and_port(url) ? "http://" : "", url);
    add_path(&made, whole, path ? path : "/debug/pprof/profile");
    free(whole);
    whole = buffer_take(&made);
    char *query = strchr(whole, '?');
    if (seconds <= 0) return whole;
    buffer_add(&made, whole, query ? (size_t)(query - whole) : strlen(whole));
    char before = '?', *rest = query ? query + 1 : NULL;
    for (char *part; (part = strsep(&rest, "&"));) {
        if (!*part || begins(part, "seconds=")) continue;
        buffer_printf(&made, "%c%s", before, part);
        before = '&';
    }
    buffer_printf(&made, "%cseconds=%lld", before, (long long)seconds);
    free(whole);
    return buffer_take(&made);
}

static bool ends(const char *text, size_t size, const char *with) {
    return size >= strlen(with) && memcmp(text + size - strlen(with), with, strlen(with)) == 0;
}

char *fetch_symbol_url(const char *url) {
    static const char *const gperftools[] = {"/pprof/heap", "/pprof/growth", "/pprof/profile", "/pprof/pmuprofile",
                                             "/pprof/contention"};
    char *whole = fetched_url(url, 0, NULL), *path = strstr(whole, "://") + 3;
    path += strcspn(path, "/?#");
    path[strcspn(path, "?#")] = '\0';
    bool is_pprof = strstr(path, "/debug/pprof/");
    for (size_t i = 0; i < sizeof gperftools / sizeof *gperftools; i++)
        is_pprof |= ends(path, strlen(path), gperftools[i]);
    for (size_t size = strlen(path); size > 1 && path[size - 1] == '/'; size--)
        path[size - 1] = '\0';
    char *name = strrchr(path, '/'), *scheme = begins(url, scheme_insecure) ? strstr(whole, "://") + 3 : NULL;
    if (name) name[1] = '\0';
    char *made =
        xasprintf("%s%s%s", scheme ? scheme_insecure : "", scheme ? scheme : whole, is_pprof ? "symbol" : "symbolz");
    free(whole);
    return made;
}

/* ---- the transfer ------------------------------------------------------------------------------------------------ */

struct transfer {
    const char *shown;
    const struct fetch_options *options;
    struct buffer *body;
    bool is_too_large;
};

static uint64_t size_max(const struct transfer *transfer) {
    return transfer->options->size_max ? transfer->options->size_max : INPUT_SIZE_MAX;
}

static size_t take(char *bytes, size_t one, size_t count, void *context) {
    struct transfer *transfer = context;
    if (count > size_max(transfer) || transfer->body->size > size_max(transfer) - count) {
        transfer->is_too_large = true;
        return 0;
    }
    buffer_add(transfer->body, bytes, one * count);
    return one * count;
}

static int report_progress(void *context, curl_off_t total, curl_off_t done, curl_off_t up_total, curl_off_t up_done) {
    const struct transfer *transfer = context;
    (void)up_total;
    (void)up_done;
    if (total > 0)
        transfer->options->progress(transfer->options->progress_context, transfer->shown, (uint64_t)done,
                                    (uint64_t)total);
    return 0;
}

static void set_tls(CURL *handle, const char *url, const struct fetch_options *options) {
    curl.easy_setopt(handle, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2); /* or later */
    if (options->tls_cert) curl.easy_setopt(handle, CURLOPT_SSLCERT, options->tls_cert);
    if (options->tls_key) curl.easy_setopt(handle, CURLOPT_SSLKEY, options->tls_key);
    if (options->tls_ca) curl.easy_setopt(handle, CURLOPT_CAINFO, options->tls_ca);
    if (!begins(url, scheme_insecure)) return;
    curl.easy_setopt(handle, CURLOPT_SSL_VERIFYPEER, 0l);
    curl.easy_setopt(handle, CURLOPT_SSL_VERIFYHOST, 0l);
}

static void set_times(CURL *handle, const char *url, const struct fetch_options *options) {
    int64_t seconds = options->seconds ? options->seconds : seconds_in(url), timeout = options->timeout_s;
    if (timeout <= 0) timeout = seconds > 0 ? seconds + seconds / 2 : TIMEOUT_DEFAULT_S;
    curl.easy_setopt(handle, CURLOPT_TIMEOUT, (long)timeout + TIMEOUT_GRACE_S);
    curl.easy_setopt(handle, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_TIMEOUT_S);
}

static void set_up(CURL *handle, const char *asked, const char *url, struct transfer *transfer) {
    curl.easy_setopt(handle, CURLOPT_URL, asked);
    curl.easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
    curl.easy_setopt(handle, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    curl.easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 1l);
    curl.easy_setopt(handle, CURLOPT_MAXREDIRS, (long)REDIRECTS_MAX);
    curl.easy_setopt(handle, CURLOPT_NOSIGNAL, 1l);
    curl.easy_setopt(handle, CURLOPT_USERAGENT, "clear/" CLEAR_VERSION);
    curl.easy_setopt(handle, CURLOPT_WRITEFUNCTION, take);
    curl.easy_setopt(handle, CURLOPT_WRITEDATA, transfer);
    if (transfer->options->progress) {
        curl.easy_setopt(handle, CURLOPT_NOPROGRESS, 0l);
        curl.easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, report_progress);
        curl.easy_setopt(handle, CURLOPT_XFERINFODATA, transfer);
    }
    if (transfer->options->post) { /* another server would get the addresses, or a GET in their place */
        curl_off_t size = transfer->options->post_size ? (curl_off_t)transfer->options->post_size : -1;
        curl.easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, size);
        curl.easy_setopt(handle, CURLOPT_POSTFIELDS, transfer->options->post);
        curl.easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0l);
    }
    set_tls(handle, url, transfer->options);
    set_times(handle, url, transfer->options);
}

/* The first line of an error response, without control characters. */
static int refuse_status(const struct transfer *transfer, long status, struct error *err) {
    char line[200];
    size_t size = 0;
    char *said = transfer->options->explain ? transfer->options->explain(transfer->body) : NULL;
    const char *text = said ? said : buffer_text(transfer->body);
    for (; size < sizeof line - 1 && text[size] && text[size] != '\n'; size++)
        line[size] = iscntrl((unsigned char)text[size]) ? ' ' : text[size];
    line[size] = '\0';
    free(said);
    return error_fail(err, "%s: the server answered %ld%s%s", transfer->shown, status, size ? ": " : "", line);
}

static int perform(CURL *handle, struct transfer *transfer, struct error *err) {
    char why[CURL_ERROR_SIZE] = "";
    long status = 0;
    curl.easy_setopt(handle, CURLOPT_ERRORBUFFER, why);
    CURLcode code = curl.easy_perform(handle);
    if (transfer->is_too_large)
        return error_fail(err, "%s: more than %s", transfer->shown, units_bytes((int64_t)size_max(transfer)).text);
    if (code != CURLE_OK) return error_fail(err, "%s: %s", transfer->shown, *why ? why : curl.easy_strerror(code));
    curl.easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    if (transfer->options->status) *transfer->options->status = status;
    return status / 100 == 2 ? 0 : refuse_status(transfer, status, err);
}

int fetch(const char *url, const struct fetch_options *options, struct buffer *body, struct error *err) {
    static const struct fetch_options defaults;
    if (!options) options = &defaults;
    if (!options->tls_cert != !options->tls_key)
        return error_usage(err, "a client certificate needs its key: give both --tls_cert and --tls_key");
    if (load_curl(err)) return -1;
    CURL *handle = curl.easy_init();
    if (!handle) return error_fail(err, "%s: libcurl cannot be initialised", url);
    char *shown = fetch_shown_url(url), *asked = fetched_url(url, options->seconds, options->path);
    struct transfer transfer = {.shown = shown, .options = options, .body = body};
    struct curl_slist *headers = NULL;
    for (size_t i = 0; options->headers && options->headers[i]; i++)
        headers = curl.slist_append(headers, options->headers[i]);
    set_up(handle, asked, url, &transfer);
    if (headers) curl.easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
    if (options->status) *options->status = 0;
    int code = perform(handle, &transfer, err);
    curl.easy_cleanup(handle);
    curl.slist_free_all(headers);
    free(shown);
    free(asked);
    return code;
}
