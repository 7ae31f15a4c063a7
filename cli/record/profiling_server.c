#include "cli/record/profiling.h"

#include <string.h>

#include "base/buffer.h"
#include "base/escape.h"
#include "cli/cli.h"
#include "cli/web/http_token.h"
#include "cli/web/tls.h"

static int flush_for_server(void *context, struct error *err) {
    struct profiling *recording = context;
    return profiling_flush(recording, false, MOMENT_PATIENCE_MS, err);
}

/* perf and strace give nothing before the end. */
static bool is_recorded(void *context, const char *kind) {
    static const struct {
        const char *kind;
        uint32_t features;
    } known[] = {
        {"heap", FEATURE_HEAP},   {"lock", FEATURE_LOCKS},          {"mutex", FEATURE_LOCKS},
        {"mvcc", FEATURE_CELLS},  {"channels", FEATURE_CHANNELS},   {"block", FEATURE_LOCKS | FEATURE_CHANNELS},
        {"cpu", FEATURE_CPU},     {"fibers", FEATURE_FIBERS},       {"io", FEATURE_IO},
        {"mmap", FEATURE_MMAP},   {"lifetimes", FEATURE_LIFETIMES}, {"wall", FEATURE_WALL},
        {"off-cpu", FEATURE_WALL}};
    const struct profiling *recording = context;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].kind, kind) == 0) return recording->request->recorder.features & known[i].features;
    return false;
}

static bool is_on_for_server(void *context) {
    const struct profiling *recording = context;
    return !recording->is_paused;
}

static int set_for_server(void *context, bool is_on, struct error *err) {
    return profiling_set(context, is_on, err);
}

static int store_events_for_server(void *context, struct server_dump *dump, struct error *err) {
    struct profiling *recording = context;
    collector_store_events(recording->collector);
    int code = profiling_flush(recording, false, MOMENT_PATIENCE_MS, err);
    struct saved_rings saved = collector_saved_rings(recording->collector);
    *dump = (struct server_dump){.saved = (int64_t)saved.events, .save_ns = (int64_t)saved.ns};
    return code;
}

int profiling_server_start(struct profiling *recording, struct error *err) {
    const struct profile_request *request = recording->request;
    struct tls_texts tls;
    if (!request->http) return 0;
    recording->token = http_token(request->http_token, &recording->is_token_new, err);
    if (!recording->token) return -1;
    if (tls_read(&tls, request->tls_cert, request->tls_key, err)) {
        tls_free(&tls);
        return -1;
    }
    recording->live_terms = (struct live_server_terms){
        .address = request->http,
        .database = request->database,
        .token = recording->token,
        .certificate = tls.certificate,
        .key = tls.key,
        .anywhere = request->http_anywhere,
        .records = is_recorded,
        .flush = flush_for_server,
        .is_on = is_on_for_server,
        .set = set_for_server,
        .store_events = request->recorder.features & FEATURE_TRACE ? store_events_for_server : NULL,
        .context = recording};
    int code = live_server_start(&recording->live, &recording->live_terms, err);
    tls_free(&tls); /* the server has its own copy, and the recorder needs no key */
    recording->live_terms.certificate = recording->live_terms.key = NULL;
    return code;
}

/* The certificate may be signed by nobody but itself: curl is told to trust it. */
static void print_switch(const struct profiling *recording) {
    const char *certificate = recording->request->tls_cert;
    struct buffer trust = {0};
    if (certificate) buffer_add_text(&trust, " --cacert ");
    if (certificate) escape_shell(&trust, certificate);
    fprintf(stderr, "clear: switch recording with: curl%s -X POST -H 'Authorization: Bearer %s' '%stoggle'\n",
            buffer_text(&trust), recording->token, recording->live.url);
    if (recording->live_terms.store_events)
        fprintf(stderr, "clear: store events with: curl%s -X POST -H 'Authorization: Bearer %s' '%sdump'\n",
                buffer_text(&trust), recording->token, recording->live.url);
    buffer_free(&trust);
}

/* A new token is printed here and nowhere else. */
int profiling_server_open(struct profiling *recording, struct error *err) {
    const struct live_server *live = &recording->live;
    if (!live->pid) return 0;
    if (live_server_open(&recording->live, recording->run_id, err)) return -1;
    fprintf(stderr, "clear: serving the run at %s\n", live->url);
    if (recording->is_token_new && recording->request->http_anywhere)
        fprintf(stderr, "clear: the token, which every request needs: %s\n", recording->token);
    if (recording->is_token_new && !recording->request->quiet) print_switch(recording);
    return 0;
}
