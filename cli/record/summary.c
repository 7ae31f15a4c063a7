#include "cli/record/summary.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/units.h"
#include "cli/cli.h"

/* ---- what was lost ---- */

static void warn(FILE *out, uint64_t count, const char *thing, const char *what) {
    if (count) fprintf(out, "clear: warning: %s %s\n", units_things((int64_t)count, thing).text, what);
}

/* Other versions have other structures, and a wrong guess would be a wrong line. */
static void print_unread_python(const struct collector_totals *totals, FILE *out) {
    enum { KNOWN_FROM = 3 << 8 | 11, KNOWN_TO = 3 << 8 | 13 };
    uint32_t version = totals->python_version;
    char text[32] = "older than 3.11";
    if (!totals->unread_python) return;
    if (version > 1) snprintf(text, sizeof text, "%u.%u", version >> 8, version & 255);
    fprintf(out, "clear: no functions of scripts in call stacks: this Python is %s, %s\n", text,
            version < KNOWN_FROM || version > KNOWN_TO ? "and clear reads the frames of 3.11, 3.12 and 3.13"
                                                       : "but its structures are others (no interpreter lock), or a "
                                                         "filter of system calls (seccomp) forbids to look");
}

/* Every event counts, but of some stacks only the innermost frames are known. */
static void print_cut(const struct summary *summary, FILE *out) {
    if (!summary->totals.capped) return;
    fprintf(out,
            "clear: warning: %s more than %s distinct stacks; the further ones were cut to their innermost frames "
            "(--profile-max N keeps more)\n",
            summary->totals.capped == 1 ? "a process had" : "processes had",
            units_count((int64_t)summary->request->recorder.ids_max).text);
}

static void print_losses(const struct summary *summary, FILE *out) {
    const struct collector_totals *totals = &summary->totals;
    if (summary->memory) fprintf(out, "clear: warning: %s\n", summary->memory);
    warn(out, totals->dropped - totals->cpu_dropped, "event", "could not be recorded");
    warn(out, totals->unrecorded, "process", "could not be recorded");
    warn(out, totals->blind_threads, "thread",
         "asked for strict seccomp or PR_SET_TSC; what came later there is not recorded");
    warn(out, totals->nameless, "address", "without a name: more libraries were loaded than are kept apart");
    print_unread_python(totals, out);
    warn(out, totals->corrupt, "segment", "damaged; what could be read is stored");
    if (summary->is_attached) return;
    warn(out, totals->running, "process",
         summary->request->waits
             ? "still ran when the recording ended; what came later is not recorded"
             : "still ran when the target ended; what came later is not recorded (--wait or --detach records it)");
}

/* ---- a line a kind ---- */

/* "; 12 uses of 3 cells", or nothing if there are none. */
static void print_part(FILE *out, uint64_t count, const char *what, uint64_t things, const char *thing) {
    if (count) fprintf(out, "; %s", units_things((int64_t)count, what).text);
    if (count && thing) fprintf(out, " of %s", units_things((int64_t)things, thing).text);
}

static void print_run(const struct summary *summary, FILE *out) {
    const struct collector_totals *totals = &summary->totals;
    fprintf(out, "clear: run %lld in %s: %s", (long long)summary->run_id, cli_database(summary->request->database),
            units_ns(summary->duration_ns).text);
    if (summary->is_attached)
        fprintf(out, ", %s", totals->running ? "detached" : "until its end");
    else if (WIFSIGNALED(summary->wait_status))
        fprintf(out, ", ended by signal %d (%s)", WTERMSIG(summary->wait_status),
                strsignal(WTERMSIG(summary->wait_status)));
    else
        fprintf(out, ", exit status %d", WEXITSTATUS(summary->wait_status));
    if (totals->processes > 1) fprintf(out, ", %s", units_things((int64_t)totals->processes, "process").text);
    if (totals->paused_ns) fprintf(out, "; recording was off for %s", units_ns((int64_t)totals->paused_ns).text);
    fputc('\n', out);
}

static void print_heap(const struct summary *summary, FILE *out) {
    const struct collector_options *recorder = &summary->request->recorder;
    const struct collector_totals *totals = &summary->totals;
    uint64_t live = totals->alloc_bytes - totals->free_bytes;
    if (!(recorder->features & FEATURE_HEAP)) return;
    fprintf(out, "clear: heap: %s (%s) from %s, at most %s live, %s not freed",
            units_things((int64_t)totals->alloc_count, "allocation").text,
            units_bytes((int64_t)totals->alloc_bytes).text, units_things((int64_t)totals->sites, "stack").text,
            units_bytes((int64_t)totals->peak_bytes).text, units_bytes((int64_t)live).text);
    if (recorder->sample_n > 1) fprintf(out, "; sampled 1 in %s", units_count(recorder->sample_n).text);
    if (recorder->sample_bytes > 1)
        fprintf(out, "; sampled every %s", units_bytes((int64_t)recorder->sample_bytes).text);
    if (recorder->budget > 0)
        fprintf(out, "; budget %s, cost estimated at %s%s", units_percent(100 * recorder->budget).text,
                units_percent(100 * totals->budget_cost).text,
                totals->budget_cost > recorder->budget ? " (not held)" : "");
    if (recorder->budget > 0 && totals->coarsest_bytes)
        fprintf(out, ", sampled up to every %s", units_bytes((int64_t)totals->coarsest_bytes).text);
    if (totals->maps)
        fprintf(out, "; %s, %s still mapped", units_things((int64_t)totals->maps, "mapping").text,
                units_bytes((int64_t)totals->mapped_bytes).text);
    fputc('\n', out);
}

static void print_waits(const struct summary *summary, FILE *out) {
    const struct collector_totals *totals = &summary->totals;
    bool has_locks = summary->request->recorder.features & FEATURE_LOCKS;
    if (!has_locks && !totals->cell_events && !totals->channel_events && !totals->fibers && !totals->io_calls) return;
    /* With a budget the sum of what was recorded is an estimate, and this is not. */
    int64_t acquires = (int64_t)totals->acquires + totals->locks_passed - totals->locks_excess;
    fprintf(out, "clear: locks: %s of %s, %s waited, %s in all", units_things(acquires, "acquisition").text,
            units_things((int64_t)totals->locks, "lock").text, units_count((int64_t)totals->contended).text,
            units_ns((int64_t)totals->wait_ns).text);
    if (totals->coarsest_lock_n)
        fprintf(out, "; of those without a wait 1 in up to %s was recorded", units_count(totals->coarsest_lock_n).text);
    if (totals->other_waits)
        fprintf(out, "; %s, %s in all", units_things((int64_t)totals->other_waits, "other wait").text,
                units_ns((int64_t)totals->other_wait_ns).text);
    print_part(out, totals->cell_events, "use", totals->cells, "cell");
    print_part(out, totals->channel_events, "message", totals->channels, "channel");
    print_part(out, totals->fibers, "fiber", 0, NULL);
    if (totals->io_calls)
        fprintf(out, "; io: %s, %s", units_things((int64_t)totals->io_calls, "call").text,
                units_bytes((int64_t)totals->io_bytes).text);
    fputc('\n', out);
}

/* CPU time, and the cost of the recording itself. */
static void print_costs(const struct summary *summary, FILE *out) {
    const struct collector_totals *totals = &summary->totals;
    fprintf(out, "clear: cpu: %s sampled", units_ns((int64_t)(totals->cpu_ns - totals->unseen_cpu_ns)).text);
    if (totals->unseen_cpu_ns)
        fprintf(out, " and %s that no recorder saw", units_ns((int64_t)totals->unseen_cpu_ns).text);
    if (totals->cpu_dropped) fprintf(out, " (%s lost)", units_things((int64_t)totals->cpu_dropped, "sample").text);
    fputs("; the recorder: ", out);
    if (totals->recorder_cpu_ns)
        fprintf(out, "%s inside the program, ", units_ns((int64_t)totals->recorder_cpu_ns).text);
    fprintf(out, "%s in %s, %s of shared memory\n", units_things((int64_t)totals->flushes, "flush").text,
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

/* The kind whose file is looked at first: the CPU time where it was asked for, else what has the most to show. */
static const char *first_kind(const struct summary *summary) {
    if (summary->request->asks_cpu) return "cpu";
    if (summary->kind) return summary->kind;
    return summary->totals.alloc_count || !summary->request->cpu_hz ? "heap" : "cpu";
}

/* What clear top and clear web open on, where that is not the first of all kinds. */
static void print_kind(const struct summary *summary, FILE *out) {
    if (summary->kind)
        fprintf(out, "clear: most to say: %s, because %s; clear top opens on it, --kind shows another\n", summary->kind,
                summary->why);
}

/* Quoted for the shell, so that the line can be pasted. */
static void print_next(const struct summary *summary, FILE *out) {
    struct buffer line = {0};
    char *profile = summary->output ? xasprintf("%s/%s.pb.gz", summary->output, first_kind(summary)) : NULL;
    buffer_add_text(&line, "clear: next: clear doctor --db ");
    escape_shell(&line, cli_database(summary->request->database));
    buffer_printf(&line, " %lld", (long long)summary->run_id);
    if (profile && access(profile, F_OK) == 0) {
        buffer_add_text(&line, "; go tool pprof -http=: ");
        escape_shell(&line, profile);
    }
    fprintf(out, "%s\n", buffer_text(&line));
    free(profile);
    buffer_free(&line);
}

void summary_print(const struct summary *summary, FILE *out) {
    print_losses(summary, out);
    print_cut(summary, out);
    if (summary->request->quiet) return;
    if (!summary->totals.processes && !summary->is_by_perf) {
        fprintf(out, "clear: run %lld in %s: nothing to record: no process allocated or took a lock\n",
                (long long)summary->run_id, cli_database(summary->request->database));
        return;
    }
    print_run(summary, out);
    if (summary->totals.processes) { /* else perf alone has recorded something */
        print_heap(summary, out);
        print_waits(summary, out);
    }
    print_costs(summary, out);
    print_dumped(summary->dumps, out);
    print_kind(summary, out);
    print_next(summary, out);
}
