/* resource_sql.c: /api/rows, /api/queries and /api/schema: SQL of users. */
#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "serve/api/resource.h"

static const struct api_parameter rows_parameters[] = {
    {"limit", API_OWN, NULL}, {"timeout", API_OPTION, "timeout"}, {0}};

enum {
    ROWS = 10000,
    ROWS_MAX = 1000000,
    QUERY_SECONDS_MAX = 60,
    SAYING_SECONDS = 5, /* for the command to say that its time is over */
};

/* `clear query` on SQL that it gets as its standard input. */
int api_query(struct exchange *exchange, const char *format, const char *sql, size_t size, struct error *err) {
    if (api_command(exchange, "query", err)) return -1;
    job_words_add(&exchange->job->words, "--format=%s", format);
    job_words_add(&exchange->job->words, "--file=-");
    buffer_add(&exchange->job->input, sql, size);
    return 0;
}

/* `clear query` itself takes longer ones, and 0 for none. */
static int check_timeout(const struct exchange *exchange, struct error *err) {
    const char *timeout = api_value(exchange, "timeout");
    int64_t ignored;
    return timeout ? number_duration("timeout", timeout, 1, QUERY_SECONDS_MAX * SECOND_NS, &ignored, err) : 0;
}

static int make_rows(struct exchange *exchange, struct error *err) {
    int64_t rows;
    if (api_number(exchange, "limit", 1, ROWS_MAX, ROWS, &rows, err) || check_timeout(exchange, err)) return -1;
    if (!exchange->body.size) return error_usage(err, "the body is the SQL");
    if (api_query(exchange, "arrays", exchange->body.data, exchange->body.size, err) || api_options(exchange, err))
        return -1;
    job_words_add(&exchange->job->words, "--rows=%" PRId64, rows);
    exchange->job->is_stream = true;
    exchange->job->is_sql = true;
    exchange->job->seconds = QUERY_SECONDS_MAX + SAYING_SECONDS;
    exchange->type = "application/jsonl";
    return 0;
}

const struct resource resource_rows = {{rows_parameters}, make_rows, NULL};

static int make_queries(struct exchange *exchange, struct error *err) {
    static const char sql[] = "SELECT name, description, params, sql FROM queries ORDER BY name";
    return api_query(exchange, "json", sql, strlen(sql), err);
}

const struct resource resource_queries = {{NULL}, make_queries, NULL};

static int make_schema(struct exchange *exchange, struct error *err) {
    if (api_command(exchange, "schema", err)) return -1;
    job_words_add(&exchange->job->words, "--json");
    return 0;
}

const struct resource resource_schema = {{NULL}, make_schema, NULL};
