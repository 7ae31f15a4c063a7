/* pyroscope.c: POST /ingest of Pyroscope's clients: what the profile is of stands in the query of the URL, the body has it as profile.proto, plain or
 * as a part of a form, or as text. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/read/readers.h"
#include "ingest/receive/multipart.h"
#include "ingest/receive/receiving.h"
#include "ingest/receive/sent_labels.h"
#include "ingest/receive/text_profile.h"

enum { RATE_DEFAULT = 100, RATE_MAX = 1000000 }; /* samples of CPU time in a second */

struct query {
    char *name, *from, *until, *format, *rate, *units; /* decoded; NULL: not given */
};

/* ---- the query ---- */

static int hex_value(char c) {
    return isdigit((unsigned char)c) ? c - '0' : isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 : -1;
}

/* In place, of a form: + is a blank. False for what is no encoding, and for a NUL. */
static bool decode(char *text) {
    char *to = text;
    for (; *text; text++) {
        if (*text == '%') {
            int high = hex_value(text[1]), low = high < 0 ? -1 : hex_value(text[2]);
            if (low < 0 || high * 16 + low == 0) return false;
            *to++ = (char)(high * 16 + low);
            text += 2;
        } else {
            *to++ = *text;
            if (*text == '+') to[-1] = ' ';
        }
    }
    *to = '\0';
    return true;
}

static void query_free(struct query *query) {
    free(query->name);
    free(query->from);
    free(query->until);
    free(query->format);
    free(query->rate);
    free(query->units);
}

/* Of a parameter that is given twice the first counts; those that are not known here are passed over. */
static int query_read(struct query *query, const char *text, struct error *err) {
    const struct {
        const char *name;
        char **value;
    } known[] = {{"name", &query->name},     {"from", &query->from},       {"until", &query->until},
                 {"format", &query->format}, {"sampleRate", &query->rate}, {"units", &query->units}};
    char *copy = xstrdup(text), *rest = copy;
    bool is_valid = true;
    for (char *pair; is_valid && (pair = strsep(&rest, "&"));) {
        char *value = strchr(pair, '=');
        if (!value) continue;
        *value++ = '\0';
        is_valid = decode(pair) && decode(value);
        for (size_t i = 0; i < sizeof known / sizeof *known && is_valid; i++)
            if (strcmp(known[i].name, pair) == 0 && *value && !*known[i].value) *known[i].value = xstrdup(value);
    }
    free(copy);
    return is_valid ? 0 : error_fail(err, "the query of the URL is not valid URL encoding");
}

/* Seconds since 1970, or with so many digits milliseconds, microseconds or nanoseconds. */
static int read_time(const char *name, const char *text, int64_t *time_ns, struct error *err) {
    enum { SECONDS_DIGITS = 10, DIGITS_MAX = 19 };
    size_t digits = text ? strspn(text, "0123456789") : 0;
    *time_ns = 0;
    if (!text || strcmp(text, "now") == 0) return 0;
    if (!digits || digits > DIGITS_MAX || (text[digits] && text[digits] != '.'))
        return error_fail(err, "%s must be a time in seconds since 1970, not '%.40s'", name, text);
    unsigned long long value = strtoull(text, NULL, 10);
    for (size_t i = digits <= SECONDS_DIGITS ? SECONDS_DIGITS : digits <= 13 ? 13 : digits <= 16 ? 16 : 19; i < 19; i++)
        if (__builtin_mul_overflow(value, 10ull, &value)) break;
    if (value > INT64_MAX) return error_fail(err, "%s is beyond the year 2262", name);
    *time_ns = (int64_t)value;
    return 0;
}

/* ---- texts ---- */

/* What Pyroscope calls the kind of a profile at the end of its name. */
static const struct suffix {
    const char *name, *type, *unit; /* type NULL: CPU time */
} suffixes[] = {{".cpu", NULL, NULL},
                {".itimer", NULL, NULL},
                {".wall", "wall", "count"},
                {".alloc_objects", "alloc_objects", "count"},
                {".alloc_space", "alloc_space", "bytes"},
                {".inuse_objects", "inuse_objects", "count"},
                {".inuse_space", "inuse_space", "bytes"},
                {".mutex_count", "contentions", "count"},
                {".mutex_duration", "delay", "nanoseconds"},
                {".block_count", "contentions", "count"},
                {".block_duration", "delay", "nanoseconds"},
                {".lock_count", "contentions", "count"},
                {".lock_duration", "delay", "nanoseconds"},
                {".goroutines", "goroutines", "count"},
                {".exceptions", "exceptions", "count"}};

/* Takes it from the name; NULL: it has none. */
static const struct suffix *cut_suffix(char *name) {
    size_t size = strlen(name);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t own = strlen(suffixes[i].name);
        if (size <= own || strcmp(name + size - own, suffixes[i].name) != 0) continue;
        name[size - own] = '\0';
        return &suffixes[i];
    }
    return NULL;
}

static int read_rate(const struct query *query, int64_t *rate, struct error *err) {
    char *end = NULL;
    *rate = query->rate ? strtoll(query->rate, &end, 10) : RATE_DEFAULT;
    if (query->rate && (*end || *rate <= 0 || *rate > RATE_MAX))
        return error_fail(err, "sampleRate must be a number from 1 to %d", RATE_MAX);
    return 0;
}

static const char *unit_of(const struct query *query) {
    if (!query->units || strcmp(query->units, "samples") == 0 || strcmp(query->units, "objects") == 0) return "count";
    if (strstr(query->units, "nanoseconds")) return "nanoseconds";
    return strcmp(query->units, "bytes") == 0 ? "bytes" : "count";
}

static int store_text(struct receiving *receiving, const struct query *query, const struct suffix *suffix) {
    struct text_profile how = {.counts_lines = query->format && strcmp(query->format, "lines") == 0};
    struct buffer bytes = {0};
    struct input made = receiving->body;
    int64_t rate;
    bool is_cpu = suffix ? !suffix->type : strcmp(unit_of(query), "count") == 0;
    if (read_rate(query, &rate, receiving->err) != 0) return -1;
    how.period_ns = is_cpu ? INT64_C(1000000000) / rate : 0;
    how.type = suffix && suffix->type ? suffix->type : "samples";
    how.unit = suffix && suffix->type ? suffix->unit : unit_of(query);
    int code = text_profile_add(&how, &receiving->body, &bytes, receiving->err);
    made.data = (const uint8_t *)bytes.data;
    made.size = bytes.size;
    if (code == 0) code = ingest_received(&receiving->ingest, &made, &format_pprof, receiving->err);
    buffer_free(&bytes);
    return code;
}

/* ---- profile.proto ---- */

int receive_pprof(struct receiving *receiving, struct wire bytes, const char *locks) {
    struct input input;
    if (bytes.at == bytes.end) return error_fail(receiving->err, "the body: it has no profile");
    if (input_open_memory(&input, "the body", bytes.at, wire_size(bytes), receiving->err) != 0) return -1;
    receiving->received.locks = locks;
    int code = ingest_received(&receiving->ingest, &input, &format_pprof, receiving->err);
    input_close(&input);
    return code;
}

static bool is_named(struct wire name, const char *wanted) {
    return wire_size(name) == strlen(wanted) && memcmp(name.at, wanted, strlen(wanted)) == 0;
}

static bool has_text(struct wire bytes, const char *text) {
    return wire_size(bytes) && memmem(bytes.at, wire_size(bytes), text, strlen(text));
}

/* A form has the profile, and what its sample types are called: by that alone contentions of Go's mutexes differ from those of its blocks. */
static int store_form(struct receiving *receiving, struct wire body) {
    struct multipart parts;
    struct wire name, content, profile = {0}, types = {0};
    int state = multipart_begin(&parts, receiving->envelope.type, body) ? 1 : -1;
    while (state == 1 && (state = multipart_next(&parts, &name, &content)) == 1) {
        if (is_named(name, "profile")) profile = content;
        if (is_named(name, "sample_type_config")) types = content;
        if (is_named(name, "jfr")) return error_fail(receiving->err, "recordings of Java (JFR) are not read");
        if (is_named(name, "prev_profile") && wire_size(content))
            return error_fail(receiving->err,
                              "prev_profile: a profile that counts from the start of its process is not "
                              "taken: use a client that sends differences");
    }
    if (state < 0) return error_fail(receiving->err, "the body is not a whole multipart/form-data");
    return receive_pprof(receiving, profile, has_text(types, "\"block_") ? RECEIVE_BLOCK : NULL);
}

/* ---- the request ---- */

static int store_body(struct receiving *receiving, const struct query *query, const struct suffix *suffix) {
    static const char *const unread[] = {"jfr", "trie", "tree", "speedscope"};
    const uint8_t *at = receiving->body.data;
    struct wire body = {at, at + receiving->body.size};
    const char *format = query->format ? query->format : "";
    for (size_t i = 0; i < sizeof unread / sizeof *unread; i++)
        if (strcmp(format, unread[i]) == 0)
            return error_fail(receiving->err, "format=%s is not read: send pprof, folded or lines", format);
    if (multipart_is(receiving->envelope.type)) return store_form(receiving, body);
    if (receiving->body.size == 0) return error_fail(receiving->err, "the body: it has no profile");
    if (strcmp(format, "pprof") == 0) return receive_pprof(receiving, body, NULL);
    return store_text(receiving, query, suffix);
}

static int store(struct receiving *receiving, const struct query *query) {
    struct sent_labels labels = {0};
    struct received *received = &receiving->received;
    const char *why;
    if (!query->name) return error_fail(receiving->err, "name is missing: /ingest?name=NAME&from=TIME&until=TIME");
    bool is_named = labels_parse(&labels, query->name, &why);
    const struct suffix *suffix = is_named ? cut_suffix(labels.name) : NULL;
    labels_end(&labels);
    int code = is_named ? 0 : error_fail(receiving->err, "%s", why);
    if (code == 0) code = read_time("from", query->from, &received->from_ns, receiving->err);
    if (code == 0) code = read_time("until", query->until, &received->until_ns, receiving->err);
    if (code == 0) {
        received->service = labels.service ? labels.service : labels.name;
        received->host = labels.host;
        received->tags = &labels.tags;
        received->series = buffer_text(&labels.series);
        code = store_body(receiving, query, suffix);
    }
    labels_free(&labels);
    return code;
}

int receive_pyroscope(struct receiving *receiving) {
    struct query query = {0};
    int code = query_read(&query, receiving->envelope.query, receiving->err);
    if (code == 0) code = store(receiving, &query);
    query_free(&query);
    return code;
}
