#include "cli/record/recording_end.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "cli/record/running_processes.h"
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

/* What is recorded from outside has no segment, by which the others are counted. */
static struct collector_totals totals_at_end(struct profiling *recording) {
    struct collector_totals totals = profiling_totals(recording);
    totals.running += recording->running && running_outside_runs(recording->running);
    return totals;
}

/* In this order, so that a late failure loses least. */
int recording_end(struct profiling *recording, struct error *err) {
    struct buffer why = {0};
    const char *kind = NULL;
    struct control_group_use use = control_group_use(&recording->group);
    char *memory = control_group_memory_text(&use);
    int code = profiling_finish(recording, err);
    if (code == 0) code = find_kind(recording, &kind, &why, err);
    if (code == 0)
        summary_print(&(struct summary){.request = recording->request,
                                        .totals = totals_at_end(recording),
                                        .run_id = recording->run_id,
                                        .duration_ns = recording->duration_ns,
                                        .kind = kind,
                                        .why = buffer_text(&why),
                                        .output = recording->request->no_files ? NULL : recording->output,
                                        .is_attached = recording->running != NULL,
                                        .is_by_perf = recording->target.by_perf.what || recording->has_outside,
                                        .dumps = &recording->dumps,
                                        .memory = memory,
                                        .wait_status = recording->wait_status},
                      stderr);
    buffer_free(&why);
    free(memory);
    if (db_close(&recording->db, err)) code = -1;
    return code;
}

/* After what was recorded from outside, which may be all that there is to say it of. */
static int add_comments(struct profiling *recording, const char *since, const char *const *comments,
                        struct error *err) {
    if (collector_store_times(recording->collector, err) || collector_say(recording->collector, since, err)) return -1;
    for (; *comments; comments++)
        if (collector_warn(recording->collector, *comments, err)) return -1;
    return run_seal(&recording->db, recording->run_id, err);
}

int recording_store_end(struct profiling *recording, const char *since, const char *const *comments,
                        struct error *err) {
    struct error outside = {0};
    if (profiling_store_end(recording, err)) {
        profiling_keep(recording, err);
        return -1;
    }
    if (profiling_store_watched(recording, &recording->sampler, &outside)) error_print("%s", outside.message);
    return add_comments(recording, since, comments, err) || recording_end(recording, err) ? -1 : 0;
}

void recording_release(struct profiling *recording) {
    struct error ignored = {0};
    live_server_finish(&recording->live);
    watcher_abandon(&recording->sampler);
    watcher_abandon(&recording->counter);
    pprof_watch_free(&recording->pprof);
    collector_close(recording->collector);
    control_group_free(&recording->group);
    db_close(&recording->db, &ignored);
    private_dir_remove(&recording->directory);
    profile_target_free(&recording->target);
    self_dumps_close(&recording->dumps);
    free(recording->token);
    free(recording->source);
    free(recording->runtime);
    free(recording->output);
}
