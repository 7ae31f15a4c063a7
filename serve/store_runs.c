/* store_runs.c: a server of a team's store has a file with the runs that were asked for. Before an answer is made, the runs that a request names
 * are fetched into it by `clear pull --cached`, in a process of its own: other requests go on. */
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/number.h"
#include "base/units.h"
#include "serve/exchange.h"
#include "serve/job.h"

enum { FETCH_SECONDS = 300, SETS_MAX = 1000, NAME_MIN = 13 /* the application's short name of a run */ };
#define FRESH_NS (10 * SECOND_NS) /* a set is looked up again after so long: the store may have new runs of it */

/* ---- what is here ---- */

/* Runs in a store do not change. */
static bool is_run_here(struct db *db, const char *word, size_t size) {
    static const char sql[] = "SELECT 1 FROM runs WHERE uuid >= :low AND uuid < :high";
    struct error ignored = {0};
    char *low = xasprintf("%.*s", (int)size, word), *high = xasprintf("%sg", low);
    bool is_name = size >= NAME_MIN && strspn(low, "0123456789abcdef-") == size;
    sqlite3_stmt *row = is_name ? db_prepare(db, sql, &ignored) : NULL;
    bool is_here = false;
    if (row) {
        db_bind_text(row, ":low", low);
        db_bind_text(row, ":high", high);
        is_here = db_step(db, row, &ignored) == 1;
        sqlite3_reset(row);
    }
    free(low);
    free(high);
    return is_here;
}

static bool are_runs_here(struct server *server, const char *set) {
    struct error ignored = {0};
    struct db *db = warehouse_db(server, &ignored);
    for (const char *at = set; db; at += strcspn(at, ",") + 1) {
        size_t size = strcspn(at, ",");
        if (!is_run_here(db, at, size)) return false;
        if (!at[size]) return true;
    }
    return false;
}

bool fetch_is_done(const struct exchange *exchange) {
    const char *set = exchange->fetching;
    const struct map_entry *entry = map_find(&exchange->server->fetched, set, strlen(set));
    return (entry && entry->value >= exchange->asked_ns - FRESH_NS) || are_runs_here(exchange->server, set);
}

/* ---- fetching ---- */

static void note(struct exchange *exchange) {
    struct map *fetched = &exchange->server->fetched;
    if (fetched->count >= SETS_MAX) map_free(fetched);
    map_put(fetched, exchange->fetching, strlen(exchange->fetching), NULL)->value = clock_monotonic_ns();
}

static bool has_room(struct exchange *exchange) {
    const struct server_source *source = &exchange->server->source;
    struct stat about;
    if (!source->fetched_max || stat(source->fetched, &about) || about.st_size < source->fetched_max) return true;
    exchange_error(exchange, MHD_HTTP_INSUFFICIENT_STORAGE,
                   "this server has fetched %s of runs, and --fetch-limit is %s: start it again",
                   units_bytes(about.st_size).text, number_limit(source->fetched_max).text);
    return false;
}

static void begin(struct exchange *exchange) {
    const struct server_source *source = &exchange->server->source;
    struct job *job = exchange->job = job_new();
    job->is_alone = true; /* one writes to the file; and several requests of a page want the same runs */
    job->seconds = FETCH_SECONDS;
    job_words_add(&job->words, "/proc/self/exe");
    job_words_add(&job->words, "pull");
    job_words_add(&job->words, "--cached");
    job_words_add(&job->words, "--quiet");
    job_words_add(&job->words, "--from=%s", source->store);
    job_words_add(&job->words, "--project=%s", source->project);
    job_words_add(&job->words, "--db=%s", source->fetched);
    job_words_add(&job->words, "--config=%s", source->config ? source->config : "/dev/null");
    job_words_add(&job->words, "--");
    job_words_add(&job->words, "%s", exchange->fetching);
    exchange->finish = note;
    exchange_wait(exchange);
}

bool fetch_first(struct exchange *exchange, const char *set) {
    if (!exchange->server->source.store) return false;
    if (!exchange->asked_ns) exchange->asked_ns = clock_monotonic_ns();
    free(exchange->fetching);
    exchange->fetching = xstrdup(set && *set ? set : "latest");
    if (fetch_is_done(exchange)) return false;
    if (has_room(exchange)) begin(exchange);
    return true;
}
