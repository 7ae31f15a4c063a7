#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"
#include "cli/cli.h"
#include "export/export.h"
#include "ingest/collector.h"
#include "ingest/launch.h"
#include "ingest/private_dir.h"
#include "ingest/target.h"

enum {
    DEPTH_DEFAULT = 64,
    IDS_MAX = 1 << 24, /* what the runtime has room for */
    GRACE_STEPS = 20,  /* children of the target that are about to end get 20 * 2 ms */
    GRACE_STEP_NS = 2000000,
};
#define INTERVAL_DEFAULT_NS INT64_C(1000000000)
#define INTERVAL_MIN_NS     INT64_C(10000000)
#define INTERVAL_MAX_NS     INT64_C(3600000000000)

/* ---- what was asked for ---- */

struct request {
    const char *database, *output; /* output: NULL for NAME.profile */
    int64_t interval_ns, depth, ids_max;
    bool quiet;
    struct run_description run;
    struct run_tag *tags;
    char **arguments; /* the target's, the target itself first; NULL-terminated */
};

static int add_tag(struct request *request, const char *text, struct error *err) {
    const char *equals = strchr(text, '=');
    if (!equals || equals == text) return error_usage(err, "--tag %s: say KEY=VALUE", text);
    char *key = xstrdup(text);
    key[equals - text] = '\0';
    request->tags = xrealloc(request->tags, (request->run.tag_count + 1) * sizeof *request->tags);
    request->tags[request->run.tag_count++] = (struct run_tag){key, xstrdup(equals + 1)};
    return 0;
}

/* The configuration's tags, but for those that the command line has. */
static void add_config_tags(struct request *request) {
    const struct config *config = cli_config();
    for (size_t i = 0; i < config->tag_count; i++) {
        bool is_given = false;
        for (size_t j = 0; j < request->run.tag_count; j++)
            is_given = is_given || strcmp(request->tags[j].key, config->tags[i].key) == 0;
        char *value = is_given ? NULL : cli_tag_value(&config->tags[i]);
        if (!value) continue;
        request->tags = xrealloc(request->tags, (request->run.tag_count + 1) * sizeof *request->tags);
        request->tags[request->run.tag_count++] = (struct run_tag){xstrdup(config->tags[i].key), value};
    }
}

static int take_option(struct request *request, int option, struct error *err) {
    switch (option) {
    case 'd': request->database = optarg; return 0;
    case 'l': request->run.label = optarg; return 0;
    case 't': return add_tag(request, optarg, err);
    case 'i': return cli_duration("--interval", optarg, INTERVAL_MIN_NS, INTERVAL_MAX_NS, &request->interval_ns, err);
    case 'n': return cli_count("--depth", optarg, 1, SEGMENT_DEPTH_MAX, &request->depth, err);
    case 'm': return cli_count("--profile-max", optarg, 0, IDS_MAX, &request->ids_max, err);
    case 'o': request->output = optarg; return 0;
    case 'q': request->quiet = true; return 0;
    default: bug("option %d", option);
    }
}

static int read_options(struct request *request, int argc, char **argv, struct error *err) {
    static const struct option longs[] = {{"db", required_argument, NULL, 'd'},
                                          {"label", required_argument, NULL, 'l'},
                                          {"tag", required_argument, NULL, 't'},
                                          {"interval", required_argument, NULL, 'i'},
                                          {"depth", required_argument, NULL, 'n'},
                                          {"profile-max", required_argument, NULL, 'm'},
                                          {"output", required_argument, NULL, 'o'},
                                          {"quiet", no_argument, NULL, 'q'},
                                          {0}};
    for (int option; (option = cli_option(argc, argv, "+o:q", longs, err)) != CLI_END;)
        if (option < 0 || take_option(request, option, err)) return -1;
    add_config_tags(request);
    if (optind >= argc) return error_usage(err, "no target: clear profile [OPTION]... TARGET [-- ARGS...]");
    request->arguments = argv + optind;
    /* TARGET -- ARGS: getopt left that one to us. The target's own "--" would be the second. */
    if (argc - optind > 1 && strcmp(argv[optind + 1], "--") == 0) {
        argv[optind + 1] = argv[optind];
        request->arguments++;
    }
    request->run.command = request->arguments;
    request->run.tags = request->tags;
    return 0;
}

static void free_request(struct request *request) {
    for (size_t i = 0; i < request->run.tag_count; i++) {
        free((char *)(uintptr_t)request->tags[i].key);
        free((char *)(uintptr_t)request->tags[i].value);
    }
    free(request->tags);
}

/* ---- one recording ---- */

struct recording {
    const struct request *request;
    struct db db;
    struct private_dir directory;
    struct collector *collector;
    struct launch launch;
    char *program, *runtime, *output;
    int64_t run_id;
    int wait_status;
    bool warned;
};

static char *output_name(const struct request *request) {
    if (request->output) return xstrdup(request->output);
    const char *slash = strrchr(request->arguments[0], '/');
    return xasprintf("%s.profile", slash ? slash + 1 : request->arguments[0]);
}

static int prepare(struct recording *recording, struct error *err) {
    const struct request *request = recording->request;
    const char *name = request->arguments[0];
    struct collector_options options = {.features = FEATURE_HEAP | FEATURE_LOCKS,
                                        .depth = (uint32_t)request->depth,
                                        .ids_max = (uint64_t)request->ids_max};
    private_dir_sweep();
    recording->output = output_name(request);
    recording->program = target_find(name, err);
    if (!recording->program || target_check(recording->program, name, err)) return -1;
    if (private_dir_make(&recording->directory, err)) return -1;
    recording->runtime = launch_runtime(recording->directory.path, err);
    if (!recording->runtime || cli_open(&recording->db, request->database, DB_WRITE, err)) return -1;
    recording->run_id = run_begin(&recording->db, &request->run, err);
    if (recording->run_id < 0) return -1;
    return collector_open(&recording->collector, &recording->db, recording->run_id, recording->directory.file, &options,
                          err);
}

/* The first failure is worth a line; the same one again every second is not. */
static void flush(struct recording *recording) {
    struct error err = {0};
    if (collector_flush(recording->collector, false, &err) == 0 || recording->warned) return;
    recording->warned = true;
    fprintf(stderr, "clear: %s; the program runs on, and each flush tries again\n", err.message);
}

static void attend(struct recording *recording) {
    while (!launch_wait(&recording->launch, (uint64_t)recording->request->interval_ns, &recording->wait_status))
        flush(recording);
    for (int i = 0; i < GRACE_STEPS && collector_running(recording->collector); i++)
        nanosleep(&(struct timespec){.tv_nsec = GRACE_STEP_NS}, NULL);
}

static int finish(struct recording *recording, struct error *err) {
    if (collector_flush(recording->collector, true, err) ||
        run_end(&recording->db, recording->run_id, recording->wait_status, err))
        return -1;
    return export_directory(&recording->db, recording->run_id, recording->output, err);
}

/* ---- closing words ---- */

static void warn(uint64_t count, const char *what) {
    if (count) fprintf(stderr, "clear: warning: %s %s\n", units_count((int64_t)count).text, what);
}

static void report(const struct recording *recording) {
    struct collector_totals totals;
    collector_totals(recording->collector, &totals);
    uint64_t live = totals.alloc_bytes - totals.free_bytes;
    warn(totals.dropped, "events could not be recorded");
    warn(totals.unrecorded, "processes could not be recorded");
    warn(totals.corrupt, "segments are damaged; what could be read of them is stored");
    warn(totals.running, "processes still ran when the target ended; what they did later is not recorded");
    if (recording->request->quiet) return;
    const char *database = cli_database(recording->request->database);
    if (!totals.processes) {
        fprintf(stderr, "clear: run %lld in %s: nothing to record: no process allocated or took a lock\n",
                (long long)recording->run_id, database);
        return;
    }
    fprintf(stderr, "clear: run %lld in %s: %s allocations (%s) from %s stacks, %s not freed",
            (long long)recording->run_id, database, units_count((int64_t)totals.alloc_count).text,
            units_bytes((int64_t)totals.alloc_bytes).text, units_count((int64_t)totals.sites).text,
            units_bytes((int64_t)live).text);
    fprintf(stderr, "; %s acquisitions of %s locks", units_count((int64_t)totals.acquires).text,
            units_count((int64_t)totals.locks).text);
    if (totals.processes > 1) fprintf(stderr, "; %s processes", units_count((int64_t)totals.processes).text);
    fprintf(stderr, "\nclear: next: clear doctor --db %s %lld; go tool pprof -http=: %s/heap.pb.gz\n", database,
            (long long)recording->run_id, recording->output);
}

/* The recording failed, the program did not: its own status must not be lost. */
static int name_status(struct error *err, int wait_status) {
    if (WIFSIGNALED(wait_status))
        return error_prefix(
            err, "the program was ended by signal %d, and what it did is not all stored: ", WTERMSIG(wait_status));
    return error_prefix(
        err, "the program exited with status %d, and what it did is not all stored: ", WEXITSTATUS(wait_status));
}

/* ---- the command ---- */

/* The program that just ended, the run's rows, files and words; in this order, so that what fails late loses least. */
static int run_target(struct recording *recording, struct error *err) {
    if (launch_start(&recording->launch, recording->program, recording->request->arguments, recording->runtime,
                     recording->directory.path, err)) {
        struct error ignored = {0};
        run_cancel(&recording->db, recording->run_id, &ignored);
        return -1;
    }
    attend(recording);
    int code = finish(recording, err);
    if (code == 0) report(recording);
    if (db_close(&recording->db, err)) code = -1;
    private_dir_remove(&recording->directory);
    launch_end(&recording->launch);
    return code ? name_status(err, recording->wait_status) : 0;
}

static void release(struct recording *recording) {
    struct error ignored = {0};
    collector_close(recording->collector);
    db_close(&recording->db, &ignored);
    private_dir_remove(&recording->directory);
    free(recording->program);
    free(recording->runtime);
    free(recording->output);
}

int command_profile(int argc, char **argv, struct error *err) {
    struct request request = {.interval_ns = INTERVAL_DEFAULT_NS, .depth = DEPTH_DEFAULT};
    struct recording recording = {.request = &request, .directory = {.file = -1, .owner = -1}};
    int code = read_options(&request, argc, argv, err);
    if (code == 0) code = prepare(&recording, err);
    if (code == 0) code = run_target(&recording, err);
    release(&recording);
    free_request(&request);
    return code ? -1 : launch_exit_status(recording.wait_status);
}
