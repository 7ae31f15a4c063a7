#include "serve/api/resource.h"

#include <inttypes.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/split.h"
#include "query/report/options.h"
#include "serve/stamps.h"

enum { RUNS_MAX = 10000 };

/* ---- parameters ---- */

const struct api_parameter api_runs[] = {{"runs", API_OWN, NULL}, {0}};

const struct api_parameter api_selection[] = {
    {"base", API_OWN, NULL},
    {"kind", API_OPTION, "kind"},
    {"type", API_OPTION, "sample_index"},
    {"si", API_OPTION, "sample_index"},
    {"from", API_OPTION, "from"},
    {"to", API_OPTION, "to"},
    {"window", API_OPTION, "window"},
    {"base_from", API_OWN, NULL},
    {"base_to", API_OWN, NULL},
    {"base_window", API_OWN, NULL},
    {0},
};

struct api_parameter api_filters[API_FILTERS_MAX + 1];

/* The words of the one choice that has a parameter. */
static const char *add_word(const char *word) {
    static char words[200];
    size_t size = strlen(words), room = sizeof words - size;
    if ((size_t)snprintf(words + size, room, "%s%s", size ? " " : "", word) >= room) bug("too many words");
    return words;
}

void api_filters_read(void) {
    size_t count = 0;
    if (api_filters[0].name) return;
    for (struct option_walk walk = {0}; report_option_next(&walk);) {
        const struct option_row *row = walk.row;
        if (!row->parameter) continue;
        struct api_parameter *last = count ? &api_filters[count - 1] : NULL;
        bool is_more = row->type == OPTION_CHOICE && last && strcmp(last->name, row->parameter) == 0;
        if (count == API_FILTERS_MAX) bug("more than %d parameters", API_FILTERS_MAX);
        if (is_more)
            last->option = add_word(row->name);
        else if (row->type == OPTION_CHOICE)
            api_filters[count++] = (struct api_parameter){row->parameter, API_CHOICE, add_word(row->name)};
        else
            api_filters[count++] =
                (struct api_parameter){row->parameter, row->type == OPTION_SWITCH ? API_SWITCH : API_OPTION, row->name};
    }
}

static const struct api_parameter *find_filter(const char *name) {
    const struct api_parameter *one = api_filters;
    while (strcmp(one->name, name) != 0)
        one++;
    return one;
}

void api_filters_script(struct buffer *out) {
    const char *before = "";
    api_filters_read();
    buffer_add_text(
        out, "/* The options of reports: parameter of a URL, option, what it takes, what it does, its choices. */\n"
             "export const REPORT = [\n");
    for (struct option_walk walk = {0}; report_option_next(&walk);) {
        const struct option_row *row = walk.row;
        bool is_choice = row->type == OPTION_CHOICE;
        if (!row->parameter || strcmp(row->parameter, before) == 0) continue;
        before = row->parameter;
        const char *const texts[] = {row->parameter, is_choice ? row->choice_of : row->name,
                                     is_choice                    ? "choice"
                                     : row->type == OPTION_SWITCH ? "switch"
                                                                  : "value",
                                     is_choice ? "What is one entry." : row->help,
                                     is_choice ? find_filter(row->parameter)->option : ""};
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            buffer_add_text(out, i ? ", " : "  [");
            buffer_add_json_string(out, texts[i], strlen(texts[i]));
        }
        buffer_add_text(out, "],\n");
    }
    buffer_add_text(out, "];\n");
}

static const struct api_parameter *find_parameter(const struct resource *resource, const char *name) {
    for (size_t i = 0; i < API_TABLES_MAX && resource->parameters[i]; i++)
        for (const struct api_parameter *one = resource->parameters[i]; one->name; one++)
            if (strcmp(one->name, name) == 0) return one;
    return NULL;
}

static int unknown(const struct resource *resource, const char *name, struct error *err) {
    struct buffer names = {0};
    for (size_t i = 0; i < API_TABLES_MAX && resource->parameters[i]; i++)
        for (const struct api_parameter *one = resource->parameters[i]; one->name; one++)
            buffer_printf(&names, "%s%s", names.size ? ", " : "", one->name);
    if (names.size)
        error_usage(err, "unknown parameter '%.40s'; parameters are %s", name, buffer_text(&names));
    else
        error_usage(err, "unknown parameter '%.40s'; there are none here", name);
    buffer_free(&names);
    return -1;
}

static int check_value(const struct api_parameter *parameter, const char *value, struct error *err) {
    if (parameter->value == API_SWITCH && strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
        return error_usage(err, "%s=%.40s: it is 0 or 1", parameter->name, value);
    if (parameter->value == API_CHOICE && !split_has(parameter->option, value))
        return error_usage(err, "%s=%.40s: it is one of: %s", parameter->name, value, parameter->option);
    return 0;
}

static int take(struct exchange *exchange, char *pair, struct error *err) {
    struct api_given *given = &exchange->given;
    char *value = strchr(pair, '=');
    if (value) *value++ = '\0';
    if (!*pair && !value) return 0; /* && or a last & */
    if (url_decode(pair) || (value && url_decode(value)))
        return error_usage(err, "the query is not valid URL encoding");
    const struct api_parameter *parameter = find_parameter(exchange->route->resource, pair);
    if (!parameter) return unknown(exchange->route->resource, pair, err);
    if (api_value(exchange, pair)) return error_usage(err, "%s is given twice", pair);
    if (!value || !*value) return 0;
    if (given->count == API_GIVEN_MAX) return error_usage(err, "more than %d parameters", API_GIVEN_MAX);
    given->items[given->count].parameter = parameter;
    given->items[given->count++].value = xstrdup(value);
    return check_value(parameter, value, err);
}

static int read_parameters(struct exchange *exchange, struct error *err) {
    const char *query = strchr(exchange->uri, '?');
    char *text = xstrdup(query ? query + 1 : ""), *rest = text;
    int code = 0;
    for (char *pair; code == 0 && (pair = strsep(&rest, "&"));)
        code = take(exchange, pair, err);
    free(text);
    return code;
}

void api_given_free(struct api_given *given) {
    while (given->count)
        free(given->items[--given->count].value);
}

const char *api_value(const struct exchange *exchange, const char *name) {
    for (size_t i = 0; i < exchange->given.count; i++)
        if (strcmp(exchange->given.items[i].parameter->name, name) == 0) return exchange->given.items[i].value;
    return NULL;
}

int api_number(const struct exchange *exchange, const char *name, int64_t least, int64_t most, int64_t preset,
               int64_t *number, struct error *err) {
    const char *value = api_value(exchange, name);
    *number = preset;
    return value ? number_count(name, value, least, most, number, err) : 0;
}

/* ---- commands ---- */

int api_command(struct exchange *exchange, const char *command, struct error *err) {
    const struct server *server = exchange->server;
    struct db *db = warehouse_db(exchange->server, err);
    if (!db) return -1;
    bool asks_store = server->source.store && exchange->route->resource->asks_store;
    if (db->is_private) return error_fail(err, "what is not in a file cannot be shown");
    struct job *job = exchange->job = job_new();
    const char *config = server->source.config;
    job_words_add(&job->words, "/proc/self/exe");
    job_words_add(&job->words, "%s", command);
    job_words_add(&job->words, "--db=%s", asks_store ? server->source.store : db->path);
    if (asks_store) job_words_add(&job->words, "--project=%s", server->source.project);
    job_words_add(&job->words, "--config=%s", config ? config : "/dev/null");
    job_words_add(&job->words, "--limit=1G");
    return 0;
}

int api_options(struct exchange *exchange, struct error *err) {
    struct job_words *words = &exchange->job->words;
    if (api_value(exchange, "type") && api_value(exchange, "si"))
        return error_usage(err, "type and si are the same: give one of them");
    for (size_t i = 0; i < exchange->given.count; i++) {
        const struct api_parameter *parameter = exchange->given.items[i].parameter;
        const char *value = exchange->given.items[i].value;
        if (parameter->value == API_OPTION)
            job_words_add(words, "--%s=%s", parameter->option, value);
        else if (parameter->value == API_SWITCH && *value == '1')
            job_words_add(words, "--%s", parameter->option);
        else if (parameter->value == API_CHOICE)
            job_words_add(words, "--%s", value);
    }
    return 0;
}

/* Words that are files or URLs elsewhere are not: a request must not make the server read them. */
static int find_runs(struct exchange *exchange, const char *set, struct run_set *runs, struct error *err) {
    struct db *db = warehouse_db(exchange->server, err);
    if (!db || run_set_add(runs, db, set, err)) return -1;
    return runs->count <= RUNS_MAX ? 0 : error_usage(err, "%zu runs are too many: at most %d", runs->count, RUNS_MAX);
}

const struct run_set *api_run_set(struct exchange *exchange, struct error *err) {
    struct run_set *runs = &exchange->runs;
    const char *set = api_value(exchange, "runs");
    if (runs->count) return runs;
    if (set || !exchange->server->source.run_id)
        return find_runs(exchange, set ? set : "latest", runs, err) ? NULL : runs;
    runs->ids = xmalloc(sizeof *runs->ids);
    runs->ids[runs->count++] = exchange->server->source.run_id;
    return runs;
}

int64_t api_one_run(struct exchange *exchange, const char *what, struct error *err) {
    const struct run_set *runs = api_run_set(exchange, err);
    if (runs && runs->count == 1) return runs->ids[0];
    if (runs) error_usage(err, "%s of one run", what);
    return -1;
}

/* As "3..7,9": the command looks each word up. */
static void add_words(struct exchange *exchange, const char *option, const struct run_set *runs) {
    struct buffer words = {0};
    for (size_t i = 0; i < runs->count; i++) {
        size_t first = i;
        while (i + 1 < runs->count && runs->ids[i + 1] == runs->ids[i] + 1)
            i++;
        buffer_printf(&words, "%s%" PRId64, first ? "," : "", runs->ids[first]);
        if (i > first) buffer_printf(&words, "..%" PRId64, runs->ids[i]);
    }
    job_words_add(&exchange->job->words, option ? "--%s=%s" : "%s%s", option ? option : "", buffer_text(&words));
    buffer_free(&words);
}

/* The part of the base: of commands that subtract it. */
static void add_base_span(struct exchange *exchange) {
    static const char *const names[] = {"base_from", "base_to", "base_window"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = api_value(exchange, names[i]);
        if (value) job_words_add(&exchange->job->words, "--%s=%s", names[i], value);
    }
}

int api_add_runs(struct exchange *exchange, const char *option, struct error *err) {
    const struct run_set *runs = api_run_set(exchange, err);
    if (runs) add_words(exchange, option, runs);
    return runs ? 0 : -1;
}

int api_add_base(struct exchange *exchange, const char *option, struct error *err) {
    struct run_set runs = {0};
    const char *base = api_value(exchange, "base");
    int code = base ? find_runs(exchange, base, &runs, err) : 0;
    if (code == 0 && base) add_words(exchange, option, &runs);
    run_set_free(&runs);
    return code;
}

int api_add_selection(struct exchange *exchange, struct error *err) {
    if (api_options(exchange, err) || api_add_base(exchange, "diff_base", err)) return -1;
    add_base_span(exchange);
    return api_add_runs(exchange, NULL, err);
}

/* ---- answers ---- */

/* Notes as one header: %XX for all that is not printable ASCII. */
static char *encode_notes(const char *notes) {
    struct buffer text = {0};
    for (const char *line = notes; *line;) {
        size_t size = strcspn(line, "\n");
        size_t skip = strncmp(line, "clear: ", 7) == 0 ? 7 : 0;
        for (size_t i = skip; i < size; i++) {
            unsigned char c = (unsigned char)line[i];
            if (c > ' ' && c < 127 && c != '%')
                buffer_add_char(&text, (char)c);
            else
                buffer_printf(&text, "%%%02X", c);
        }
        line += size + (line[size] == '\n');
        if (*line) buffer_add_text(&text, "%0A");
    }
    return text.size ? buffer_take(&text) : NULL;
}

void api_name_kept(struct exchange *exchange, const char *path) {
    const struct stamps stamps = stamps_of(path);
    struct buffer key = {0};
    for (size_t i = 0; i < sizeof stamps.files / sizeof *stamps.files; i++) {
        const struct stamp *file = &stamps.files[i];
        buffer_printf(&key, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", file->device, file->inode, file->size,
                      file->changed_ns);
    }
    for (size_t i = 0; i < exchange->job->words.count; i++)
        buffer_printf(&key, "%s\n", exchange->job->words.items[i]);
    free(exchange->kept_as);
    exchange->kept_as = buffer_take(&key);
}

/* True: the reply is there, of the same request before. */
static bool find_kept(struct exchange *exchange) {
    struct error ignored = {0};
    struct db *db = exchange->route->resource->is_kept ? warehouse_db(exchange->server, &ignored) : NULL;
    struct buffer found = {0};
    if (!db) return false;
    api_name_kept(exchange, db->path);
    if (!cache_find(&exchange->server->answers, exchange->kept_as, &found)) return false;
    exchange->reply =
        (struct reply){.status = MHD_HTTP_OK, .type = "application/json", .is_sized = true, .body = found};
    return true;
}

/* One that has notes is made again: they are no part of its output. */
static void keep(struct exchange *exchange) {
    struct cache *answers = &exchange->server->answers;
    struct buffer another = {0};
    if (exchange->kept_as && !*job_notes(exchange->job) && !cache_find(answers, exchange->kept_as, &another))
        cache_keep(answers, exchange->kept_as, &exchange->job->output);
    buffer_free(&another);
}

static void finish(struct exchange *exchange) {
    const struct resource *resource = exchange->route->resource;
    struct job *job = exchange->job;
    exchange->reply = (struct reply){.status = MHD_HTTP_OK,
                                     .type = exchange->type ? exchange->type : "application/json",
                                     .note = encode_notes(job_notes(job)),
                                     .filename = exchange->filename,
                                     .is_sized = true};
    exchange->filename = NULL;
    if (resource->finish)
        resource->finish(exchange);
    else if (!job->is_stream) {
        keep(exchange);
        exchange->reply.body = job->output;
        job->output = (struct buffer){0};
    }
}

/* Reads the parameters once: the request may come again when its runs have been fetched. */
static int read_once(struct exchange *exchange, struct error *err) {
    if (exchange->is_read) return 0;
    exchange->is_read = true;
    return read_parameters(exchange, err);
}

static bool fetch_runs(struct exchange *exchange) {
    const struct resource *resource = exchange->route->resource;
    const char *base = api_value(exchange, "base");
    if (resource->parameters[0] != api_runs || resource->asks_store) return false;
    return fetch_first(exchange, api_value(exchange, "runs")) || (base && fetch_first(exchange, base));
}

void api_answer(struct exchange *exchange) {
    struct error err = {0};
    if (!exchange->route->path) {
        exchange_error(exchange, MHD_HTTP_NOT_FOUND, "there is no " API_PREFIX "%.100s", exchange->path);
        return;
    }
    if (read_once(exchange, &err)) {
        exchange_failed(exchange, MHD_HTTP_BAD_REQUEST, &err);
        return;
    }
    if (fetch_runs(exchange)) return;
    exchange->finish = finish;
    if (exchange->route->resource->make(exchange, &err)) {
        exchange_failed(exchange, MHD_HTTP_BAD_REQUEST, &err);
    } else if (exchange->method == METHOD_HEAD) {
        exchange->is_streaming = false;
        exchange->reply =
            (struct reply){.status = MHD_HTTP_OK, .type = exchange->type ? exchange->type : "application/json"};
    } else if (exchange->live || (exchange->job && !exchange->reply.status && !find_kept(exchange))) {
        exchange_wait(exchange);
    }
}
