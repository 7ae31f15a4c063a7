#include "cli/record/recording_end.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "cli/record/summary.h"
#include "ingest/writer/run_seal.h"
#include "query/runs/telling_kind.h"

static int find_kind(struct profiling *recording, const char **kind, struct buffer *why, struct error *err) {
    const struct run_set run = {.ids = &recording->run_id, .count = 1};
    struct run_effort effort = {0};
    if (run_effort_add(&effort, &recording->db, &run, err) < 0) return -1;
    *kind = telling_kind(&effort, why);
    return 0;
}

/* In this order, so that a late failure loses least. */
int recording_end(struct profiling *recording, struct error *err) {
    struct buffer why = {0};
    const char *kind = NULL;
    int code = profiling_finish(recording, err);
    if (code == 0) code = find_kind(recording, &kind, &why, err);
    if (code == 0)
        summary_print(&(struct summary){.request = recording->request,
                                        .totals = profiling_totals(recording),
                                        .run_id = recording->run_id,
                                        .duration_ns = recording->duration_ns,
                                        .kind = kind,
                                        .why = buffer_text(&why),
                                        .output = recording->request->no_files ? NULL : recording->output,
                                        .is_attached = recording->running != NULL,
                                        .is_by_perf = recording->target.by_perf.what != NULL,
                                        .dumps = &recording->dumps,
                                        .wait_status = recording->wait_status},
                      stderr);
    buffer_free(&why);
    if (db_close(&recording->db, err)) code = -1;
    return code;
}

int recording_store_end(struct profiling *recording, const char *comment, struct error *err) {
    if (profiling_store_end(recording, err)) {
        profiling_keep(recording, err);
        return -1;
    }
    if (comment &&
        (collector_warn(recording->collector, comment, err) || run_seal(&recording->db, recording->run_id, err)))
        return -1;
    return recording_end(recording, err);
}

void recording_release(struct profiling *recording) {
    struct error ignored = {0};
    live_server_finish(&recording->live);
    watcher_abandon(&recording->sampler);
    watcher_abandon(&recording->counter);
    collector_close(recording->collector);
    db_close(&recording->db, &ignored);
    private_dir_remove(&recording->directory);
    profile_target_free(&recording->target);
    self_dumps_close(&recording->dumps);
    free(recording->token);
    free(recording->source);
    free(recording->runtime);
    free(recording->output);
}
