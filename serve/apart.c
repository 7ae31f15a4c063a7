/* apart.c: answers a request in another process. A recorder must not end because of what somebody asks it: a profile that takes too much
 * memory, too much time, or meets a bug ends `clear export` instead, and the request gets an error. */
#include <stdio.h>
#include <stdlib.h>

#include "base/child.h"
#include "export/export.h"
#include "export/format.h"
#include "serve/exchange.h"

enum { SECONDS = 20, WORDS_MAX = 24 };

struct words {
    const char *items[WORDS_MAX];
    size_t count;
};

static void add(struct words *words, const char *option, const char *value) {
    if (!value) return;
    words->items[words->count++] = option;
    words->items[words->count++] = value;
}

/* What this process records has stacks of at most --depth frames: with few of them every answer is small, and a process of its own would
 * cost a hundred times as much. */
static bool is_small(const struct server *server, int64_t run_id) {
    enum { STACKS = 10000 };
    struct error ignored = {0};
    int64_t stacks = INT64_MAX;
    if (run_id != server->source.run_id) return false;
    return db_int(server->source.db, "SELECT max(id) FROM traces", 0, &stacks, &ignored) == 0 && stacks < STACKS;
}

bool apart_can(const struct server *server, const struct export_request *request) {
    const struct export_source *source = &request->source;
    struct timespan span;
    struct error ignored = {0};
    return server->source.db && !request->series && !source->exact && *server->source.db->path != '-' &&
           !is_small(server, source->runs.ids[0]) &&
           export_check(server->source.db, source->runs.ids[0], source->kind, &ignored) == 0 &&
           timespan_find(server->source.db, source->runs.ids[0], source->kind, &source->span, &span, &ignored) == 0;
}

int apart_answer(const struct server *server, const struct export_request *request, struct error *err) {
    static const struct child_limits limits = {
        .output_max = (size_t)128 << 20, .seconds = SECONDS, .memory_max = CHILD_MEMORY_MAX, .group = CHILD_GROUP};
    const struct timespan_request *span = &request->source.span;
    char run[24], window[24];
    struct words words = {{"/proc/self/exe", "export"}, 2};
    snprintf(run, sizeof run, "%lld", (long long)request->source.runs.ids[0]);
    snprintf(window, sizeof window, "%lld", (long long)span->window);
    add(&words, "--db", server->source.db->path);
    add(&words, "--config", "/dev/null");
    add(&words, "--limit", "128M");
    add(&words, "--kind", request->source.kind);
    add(&words, "--format", request->format->report.name);
    add(&words, "--type", request->type);
    add(&words, "--from", span->from.text);
    add(&words, "--to", span->to.text);
    add(&words, "--window", span->window ? window : NULL);
    add(&words, "-o", "-");
    words.items[words.count++] = run;
    enum child_end end = child_read(words.items, NULL, &limits, request->bytes, err);
    return end == CHILD_DONE ? 0 : end == CHILD_MISSING ? error_fail(err, "/proc is missing") : -1;
}
