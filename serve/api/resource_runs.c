/* resource_runs.c: /api/runs, /api/run and /api/server: which runs there are, and what the server does. */
#include <microhttpd.h>
#include <string.h>

#include "query/report/options.h"
#include "schema/config.h"
#include "serve/api/resource.h"

static const struct api_parameter list_parameters[] = {
    {"q", API_OPTION, "search"},    {"label", API_OPTION, "label"}, {"tag", API_OPTION, "tag"},
    {"kind", API_OPTION, "kind"},   {"before", API_OWN, NULL},      {"since", API_OPTION, "since"},
    {"until", API_OPTION, "until"}, {"limit", API_OPTION, "last"},  {0},
};

static int make_runs(struct exchange *exchange, struct error *err) {
    const char *before = api_value(exchange, "before"), *set = api_value(exchange, "runs");
    if (api_command(exchange, "runs", err) || api_options(exchange, err)) return -1;
    job_words_add(&exchange->job->words, "--json");
    if (before) job_words_add(&exchange->job->words, "--before=%s", before);
    if (!set) return 0;
    if (!exchange->server->source.store) return api_add_runs(exchange, NULL, err);
    job_words_add(&exchange->job->words, "--"); /* "--db=/another.sqlite" is no set of runs */
    job_words_add(&exchange->job->words, "%s", set);
    return 0;
}

const struct resource resource_runs = {{api_runs, list_parameters}, make_runs, .asks_store = true};

static int make_run(struct exchange *exchange, struct error *err) {
    if (api_command(exchange, "runs", err)) return -1;
    job_words_add(&exchange->job->words, "--describe");
    return api_add_runs(exchange, NULL, err);
}

const struct resource resource_run = {{api_runs, api_selection, api_filters}, make_run, .is_kept = true};

/* The uuid of the run that this process records, or null. */
static int add_recording(const struct exchange *exchange, struct db *db, struct buffer *body, struct error *err) {
    const struct server *its = exchange->server;
    buffer_add_text(body, ",\"recording\":");
    if (!its->source.run_id || its->has_ended) {
        buffer_add_text(body, "null");
        return 0;
    }
    sqlite3_stmt *row = db_prepare(db, "SELECT uuid FROM runs WHERE id = :run", err);
    if (!row) return -1;
    db_bind_int(row, ":run", its->source.run_id);
    if (db_step(db, row, err) < 0) return -1;
    buffer_add_json_text(body, db_text(row, 0));
    sqlite3_reset(row);
    return 0;
}

/* The parameter that is that option, or chooses among such ones. */
static const char *parameter_of(const char *option) {
    for (struct option_walk walk = {0}; report_option_next(&walk);) {
        bool is_it = strcmp(walk.row->choice_of ? walk.row->choice_of : walk.row->name, option) == 0;
        if (is_it && walk.row->parameter) return walk.row->parameter;
    }
    return option;
}

/* "filters":[{"name":...,"filters":{"f":...}}]: those that the configuration shares. */
static int add_filters_of(const char *path, struct buffer *body, struct error *err) {
    struct config config = {0};
    if (path && config_read(&config, path, err)) return -1;
    buffer_add_text(body, ",\"filters\":[");
    for (size_t i = 0; i < config.filter_count; i++) {
        const struct config_filter *filter = &config.filters[i];
        buffer_add_text(body, i ? ",{" : "{");
        buffer_add_json_field(body, "name", filter->name);
        buffer_add_text(body, ",\"filters\":{");
        for (size_t j = 0; j < filter->option_count; j++) {
            if (j) buffer_add_char(body, ',');
            buffer_add_json_field(body, parameter_of(filter->options[j].key), filter->options[j].value);
        }
        buffer_add_text(body, "}}");
    }
    buffer_add_char(body, ']');
    config_free(&config);
    return 0;
}

static int make_server(struct exchange *exchange, struct error *err) {
    const struct server *server = exchange->server;
    const struct server_control *control = &server->source.control;
    struct db *db = warehouse_db(exchange->server, err);
    struct buffer *body = &exchange->reply.body;
    if (!db) return -1;
    buffer_add_char(body, '{');
    buffer_add_json_field(body, "version", CLEAR_VERSION);
    buffer_add_char(body, ',');
    buffer_add_json_field(body, "warehouse", server->source.store ? server->source.name : db->path);
    int code = add_recording(exchange, db, body, err);
    if (code == 0) code = add_filters_of(server->source.config, body, err);
    buffer_printf(body, ",\"can_toggle\":%s,\"is_on\":%s}\n", control->is_on && !server->has_ended ? "true" : "false",
                  control->is_on && control->is_on(control->context) ? "true" : "false");
    exchange->reply.status = code ? 0 : MHD_HTTP_OK;
    exchange->reply.type = "application/json";
    exchange->reply.is_sized = true;
    return code;
}

const struct resource resource_server = {{NULL}, make_server, NULL};
