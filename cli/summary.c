#include "cli/summary.h"

#include <string.h>
#include <sys/wait.h>

#include "base/units.h"
#include "cli/cli.h"

/* ---- what was lost ---- */

static void warn(FILE *out, uint64_t count, const char *what) {
    if (count) fprintf(out, "clear: warning: %s %s\n", units_count((int64_t)count).text, what);
}

static void print_losses(const struct collector_totals *totals, FILE *out) {
    warn(out, totals->dropped - totals->cpu_dropped, "events could not be recorded");
    warn(out, totals->unrecorded, "processes could not be recorded");
    warn(out, totals->corrupt, "segments are damaged; what could be read of them is stored");
    warn(out, totals->running, "processes still ran when the target ended; what they did later is not recorded");
}

/* ---- a line a kind ---- */

/* "; 12 uses of 3 cells", or nothing if there are none. */
static void print_part(FILE *out, uint64_t count, const char *what, uint64_t things, const char *thing) {
    if (count) fprintf(out, "; %s %s", units_count((int64_t)count).text, what);
    if (count && thing) fprintf(out, " of %s %s", units_count((int64_t)things).text, thing);
}

static void print_run(const struct summary *summary, FILE *out) {
    const struct collector_totals *totals = &summary->totals;
    fprintf(out, "clear: run %lld in %s: %s", (long long)summary->run_id, cli_database(summary->request->database),
            units_ns(summary->duration_ns).text);
    if (WIFSIGNALED(summary->wait_status))
        fprintf(out, ", ended by signal %d (%s)", WTERMSIG(summary->wait_status),
                strsignal(WTERMSIG(summary->wait_status)));
    else
        fprintf(out, ", exit status %d", WEXITSTATUS(summary->wait_status));
    if (totals->processes > 1) fprintf(out, ", %s processes", units_count((int64_t)totals->processes).text);
    if (totals->paused_ns) fprintf(out, "; recording was off for %s", units_ns((int64_t)totals->paused_ns).text);
    fputc('\n', out);
}

static void print_heap(const struct summary *summary, FILE *out) {
    const struct collector_options *recorder = &summary->request->recorder;
    const struct collector_totals *totals = &summary->totals;
    uint64_t live = totals->alloc_bytes - totals->free_bytes;
    if (!(recorder->features & FEATURE_HEAP)) return;
    fprintf(out, "clear: heap: %s allocations (%s) from %s stacks, %s not freed",
            units_count((int64_t)totals->alloc_count).text, units_bytes((int64_t)totals->alloc_bytes).text,
            units_count((int64_t)totals->sites).text, units_bytes((int64_t)live).text);
    if (recorder->sample_n > 1) fprintf(out, "; sampled 1 in %s", units_count(recorder->sample_n).text);
    if (recorder->sample_bytes > 1)
        fprintf(out, "; sampled every %s", units_bytes((int64_t)recorder->sample_bytes).text);
    fputc('\n', out);
}

static void print_waits(const struct summary *summary, FILE *out) {
    const struct collector_totals *totals = &summary->totals;
    bool has_locks = summary->request->recorder.features & FEATURE_LOCKS;
    if (!has_locks && !totals->cell_events && !totals->channel_events && !totals->fibers) return;
    fprintf(out, "clear: locks: %s acquisitions of %s locks, %s waited, %s in all",
            units_count((int64_t)totals->acquires).text, units_count((int64_t)totals->locks).text,
            units_count((int64_t)totals->contended).text, units_ns((int64_t)totals->wait_ns).text);
    print_part(out, totals->cell_events, "uses", totals->cells, "cells");
    print_part(out, totals->channel_events, "messages", totals->channels, "channels");
    print_part(out, totals->fibers, "fibers", 0, NULL);
    fputc('\n', out);
}

/* CPU time, and the cost of the recording itself. */
static void print_costs(const struct summary *summary, FILE *out) {
    const struct collector_totals *totals = &summary->totals;
    fprintf(out, "clear: cpu: %s sampled", units_ns((int64_t)totals->cpu_ns).text);
    if (totals->cpu_dropped)
        fprintf(out, " (%s more samples fell into the recorder)", units_count((int64_t)totals->cpu_dropped).text);
    fprintf(out, "; the recorder: %s flushes in %s, %s of shared memory\n", units_count((int64_t)totals->flushes).text,
            units_ns((int64_t)totals->flush_ns).text, units_bytes((int64_t)totals->segment_bytes).text);
}

/* The dumps that the program wrote itself. */
static void print_dumped(const struct self_dumps *dumps, FILE *out) {
    const char *before = "clear: as the program itself dumped them: ";
    bool any = false;
    for (int i = 0; i < SELF_DUMPS; i++) {
        if (!dumps->is_taken[i]) continue;
        fprintf(out, "%s%s", any ? ", " : before, self_dumps_file(i));
        any = true;
    }
    if (any) fputc('\n', out);
}

static void print_next(const struct summary *summary, FILE *out) {
    fprintf(out, "clear: next: clear doctor --db %s %lld; go tool pprof -http=: %s/%s.pb.gz\n",
            cli_database(summary->request->database), (long long)summary->run_id, summary->output,
            summary->request->recorder.features & FEATURE_HEAP ? "heap" : "cpu");
}

void summary_print(const struct summary *summary, FILE *out) {
    print_losses(&summary->totals, out);
    if (summary->request->quiet) return;
    if (!summary->totals.processes) {
        fprintf(out, "clear: run %lld in %s: nothing to record: no process allocated or took a lock\n",
                (long long)summary->run_id, cli_database(summary->request->database));
        return;
    }
    print_run(summary, out);
    print_heap(summary, out);
    print_waits(summary, out);
    print_costs(summary, out);
    print_dumped(summary->dumps, out);
    print_next(summary, out);
}
