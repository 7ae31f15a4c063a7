#include "query/whatif/whatif.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/number.h"
#include "base/units.h"
#include "query/whatif/schedule.h"

enum { SHARDS_MAX = 4096, SEEDS = 20, OFF_PERCENT_MAX = 25 };

struct request {
    char *name;
    struct replay_options change; /* change and shards */
    const char *words;
};

struct prediction {
    double as_it_was_ns;          /* the replay of the run as it was */
    double ns, least_ns, most_ns; /* predicted, and between what */
    double off_percent;           /* of that replay, from what was recorded */
};

/* ---- the request ---- */

static int read_change(struct request *request, const char *text, struct error *err) {
    static const char shards[] = "shards=";
    int64_t count = 0;
    if (strcmp(text, "free") == 0) {
        request->change.change = REPLAY_FREE;
        request->words = "were free";
    } else if (strcmp(text, "half") == 0) {
        request->change.change = REPLAY_HALF;
        request->words = "were held half as long";
    } else if (strncmp(text, shards, strlen(shards)) == 0) {
        if (number_count("--what-if shards", text + strlen(shards), 2, SHARDS_MAX, &count, err)) return -1;
        request->change.change = REPLAY_SHARDS;
        request->change.shards = (size_t)count;
        request->words = "had several parts";
    } else {
        return error_usage(err, "--what-if: '%s' is not free, half or shards=N", text);
    }
    return 0;
}

/* The name of a lock may have colons: the change is behind the last one. */
static int read_request(struct request *request, const char *text, struct error *err) {
    static const char lock[] = "lock=";
    const char *colon = strrchr(text, ':');
    if (strncmp(text, lock, strlen(lock)) != 0 || !colon)
        return error_usage(err, "--what-if takes lock=NAME:free, lock=NAME:half or lock=NAME:shards=8, not '%s'", text);
    if (read_change(request, colon + 1, err)) return -1;
    request->name = xasprintf("%.*s", (int)(colon - text - (long)strlen(lock)), text + strlen(lock));
    return 0;
}

/* ---- replays ---- */

static double replay(const struct whatif_process *process, struct replay_options options, double cpu_share) {
    options.lock = process->lock;
    options.processors = process->processors;
    options.cpu_share = cpu_share < 1 ? cpu_share : 1;
    return (double)replay_run(process->threads, process->count, process->locks, &options);
}

static void widen(struct prediction *answer, double ns) {
    if (ns <= 0) return; /* this replay stands still */
    answer->least_ns = fmin(answer->least_ns, ns);
    answer->most_ns = fmax(answer->most_ns, ns);
}

/* What is between: the parts that threads meet in by chance; half and half as much again of the processors that work needs; and how far the
 * replay of the run as it was is off; and threads that did nothing seen, which may have waited for others as `shorter` has it. */
static int predict(const struct whatif_process *process, const struct whatif_process *shorter,
                   const struct request *request, struct prediction *answer, struct error *err) {
    static const double shares[] = {0.5, 1.5};
    struct replay_options change = request->change;
    int seeds = change.change == REPLAY_SHARDS ? SEEDS : 1;
    double sum = 0, scale = 1;
    answer->as_it_was_ns = replay(process, (struct replay_options){0}, process->cpu_share);
    if (answer->as_it_was_ns <= 0)
        return error_fail(err, "--what-if: the events do not say who let whom go on: the replay stands still");
    scale = (double)process->duration_ns / answer->as_it_was_ns;
    answer->off_percent = 100 * fabs(1 / scale - 1);
    if (answer->off_percent > OFF_PERCENT_MAX)
        return error_fail(
            err, "--what-if: the run as it was takes %s in a replay and %s in truth: its waits are not all seen",
            units_ns((int64_t)answer->as_it_was_ns).text, units_ns(process->duration_ns).text);
    answer->least_ns = INFINITY;
    for (int seed = 1; seed <= seeds; seed++) {
        change.seed = (uint64_t)seed;
        double ns = replay(process, change, process->cpu_share) * scale;
        if (ns < 0) return error_fail(err, "--what-if: the replay stands still");
        sum += ns;
        widen(answer, ns);
    }
    answer->ns = sum / seeds;
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        widen(answer, replay(process, change, process->cpu_share * shares[i]) * scale);
    widen(answer, replay(shorter, change, process->cpu_share) * scale);
    answer->least_ns *= 1 - answer->off_percent / 100;
    answer->most_ns *= 1 + answer->off_percent / 100;
    return 0;
}

/* ---- output ---- */

static void print_text(FILE *out, const struct whatif_process *process, const struct request *request,
                       const struct prediction *answer) {
    double was = (double)process->duration_ns;
    fprintf(out, "if %s %s\n", request->name, request->words);
    fprintf(out, "  predicted    %s instead of %s: %.2f times as fast; replays with other guesses take %s to %s\n",
            units_ns((int64_t)answer->ns).text, units_ns(process->duration_ns).text, was / answer->ns,
            units_ns((int64_t)answer->least_ns).text, units_ns((int64_t)answer->most_ns).text);
    fprintf(out, "  replayed     as it was, the run takes %s, %.1f %% off\n",
            units_ns((int64_t)answer->as_it_was_ns).text, answer->off_percent);
    fprintf(out, "  the lock     %s of %s; %s, which others waited for or were long, of %s\n",
            units_things(process->waits, "wait").text, units_ns(process->wait_ns).text,
            units_things(process->holds, "hold").text, units_ns(process->hold_ns).text);
    fprintf(out, "  kept         waits for other things, of %s in all threads, are as long as they were\n",
            units_ns(process->other_wait_ns).text);
    fputs("  not seen     what a mend takes away beside waits: the lock's own cost, and work under it\n", out);
    if (process->same_name > 1)
        fprintf(out, "  note         %s have that name; this is the one with the longest waits\n",
                units_things(process->same_name, "lock").text);
}

static void print_json(FILE *out, const struct whatif_process *process, const struct request *request,
                       const struct prediction *answer) {
    static const char *const changes[] = {[REPLAY_FREE] = "free", [REPLAY_HALF] = "half", [REPLAY_SHARDS] = "shards"};
    struct buffer name = {0};
    buffer_add_json_text(&name, request->name);
    fprintf(out,
            "{\"lock\":%s,\"change\":\"%s\",\"shards\":%zu,\"duration_ns\":%lld,\"predicted_ns\":%.0f,\"least_ns\":%."
            "0f,\"most_ns\":%.0f,"
            "\"replayed_ns\":%.0f,\"waits\":%lld,\"wait_ns\":%lld,\"holds\":%lld,\"hold_ns\":%lld,\"other_wait_ns\":%"
            "lld}\n",
            buffer_text(&name), changes[request->change.change], request->change.shards,
            (long long)process->duration_ns, answer->ns, answer->least_ns, answer->most_ns, answer->as_it_was_ns,
            (long long)process->waits, (long long)process->wait_ns, (long long)process->holds,
            (long long)process->hold_ns, (long long)process->other_wait_ns);
    buffer_free(&name);
}

int whatif_print(FILE *out, struct db *db, int64_t run_id, const char *text, bool json, struct error *err) {
    struct request request = {0};
    struct whatif_process process = {0}, shorter = {0};
    struct prediction answer = {0};
    int code = read_request(&request, text, err) || whatif_read(&process, db, run_id, request.name, false, err) ||
                       whatif_read(&shorter, db, run_id, request.name, true, err) ||
                       predict(&process, &shorter, &request, &answer, err)
                   ? -1
                   : 0;
    if (code == 0) (json ? print_json : print_text)(out, &process, &request, &answer);
    whatif_free(&process);
    whatif_free(&shorter);
    free(request.name);
    return code;
}
