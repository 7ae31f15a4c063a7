/* apart.c: answers a request in another process, beside which others are answered. A recorder must not end because of what somebody asks it: a
 * profile that takes too much memory, too much time, or meets a bug ends `clear export` instead, and the request gets an error. */
#include "export/export.h"
#include "export/format.h"
#include "serve/exchange.h"
#include "serve/job.h"

enum { RECORDER_SECONDS = 20 };

static void add(struct job *job, const char *option, const char *value) {
    if (!value) return;
    job_words_add(&job->words, "%s", option);
    job_words_add(&job->words, "%s", value);
}

static bool is_less(struct db *db, const char *sql, int64_t most) {
    struct error ignored = {0};
    int64_t found = INT64_MAX;
    return db_int(db, sql, 0, &found, &ignored) == 0 && found < most;
}

/* With few stacks every answer is small, and a process of its own would cost a hundred times as much. What this process records has stacks of at
 * most --depth frames. Of what others stored a recorder answers nothing; who only reads answers what is short even with all names written out. */
static bool is_small(const struct server *server, struct db *db, int64_t run_id) {
    enum { STACKS = 10000, STACKS_OF_OTHERS = 1000, TEXT = 64 << 20 };
    static const char stacks[] = "SELECT max(id) FROM traces";
    static const char text[] = "SELECT sum(length(stack)) * (SELECT max(length(name)) FROM functions) FROM traces";
    if (server->source.run_id) return run_id == server->source.run_id && is_less(db, stacks, STACKS);
    return is_less(db, stacks, STACKS_OF_OTHERS) && is_less(db, text, TEXT);
}

bool apart_can(const struct server *server, struct db *db, const struct export_request *request) {
    const struct export_source *source = &request->source;
    struct timespan span;
    struct error ignored = {0};
    return !request->series && !source->exact && !db->is_private && !is_small(server, db, source->runs.ids[0]) &&
           export_check(db, source->runs.ids[0], source->kind, &ignored) == 0 &&
           timespan_find(db, source->runs.ids[0], source->kind, &source->span, &span, &ignored) == 0;
}

struct job *apart_job(const struct server *server, const struct db *db, const struct export_request *request) {
    const struct timespan_request *span = &request->source.span;
    struct job *job = job_new();
    job->output_max = (size_t)128 << 20;
    if (server->source.run_id) job->seconds = RECORDER_SECONDS;
    job_words_add(&job->words, "/proc/self/exe");
    job_words_add(&job->words, "export");
    add(job, "--db", db->path);
    add(job, "--config", "/dev/null");
    add(job, "--limit", server->source.run_id ? "128M" : "1G");
    add(job, "--kind", request->source.kind);
    add(job, "--format", request->format->report.name);
    add(job, "--type", request->type);
    add(job, "--from", span->from.text);
    add(job, "--to", span->to.text);
    if (span->window) job_words_add(&job->words, "--window=%lld", (long long)span->window);
    add(job, "-o", "-");
    job_words_add(&job->words, "%lld", (long long)request->source.runs.ids[0]);
    return job;
}
