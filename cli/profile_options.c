#include "cli/profile_options.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum { HTTP = CLI_LONG, HTTP_ANYWHERE, HTTP_TOKEN };
enum {
    DEPTH_DEFAULT = 64,
    IDS_MAX = 1 << 24,   /* what the runtime has room for */
    CPU_HZ_DEFAULT = 99, /* no multiple of what programs do ten or a hundred times a second */
    CPU_HZ_MAX = 10000,
    WINDOWS_DEFAULT = 64,
    WINDOWS_MAX = 1 << 24,
    SYNC_SAMPLE_DEFAULT = 100, /* a stack walk is several times the cost of an uncontended lock */
};
#define INTERVAL_DEFAULT_NS INT64_C(1000000000)
#define INTERVAL_MIN_NS     INT64_C(10000000)
#define INTERVAL_MAX_NS     INT64_C(3600000000000)
#define KEEP_MAX_NS         (INT64_C(366) * 24 * 3600 * 1000000000)
#define SAMPLE_BYTES_MAX    (INT64_C(1) << 40)

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

/* A plain number counts events; one with a unit is a size. The last one given holds. */
static int take_sample(struct request *request, const char *text, struct error *err) {
    struct collector_options *recorder = &request->recorder;
    int64_t value;
    bool is_count = !*text || strchr("0123456789", text[strlen(text) - 1]);
    int code = is_count ? cli_count("--sample", text, 1, INT32_MAX, &value, err)
                        : cli_bytes("--sample", text, 1, SAMPLE_BYTES_MAX, &value, err);
    if (code) return -1;
    recorder->sample_n = is_count ? (uint32_t)value : 1;
    recorder->sample_bytes = is_count ? 0 : (uint64_t)value;
    return 0;
}

static int take_cpu(struct request *request, const char *text, struct error *err) {
    int64_t hz = 0;
    request->uses_perf = strcmp(text, "perf") == 0;
    if (request->uses_perf)
        hz = CPU_HZ_DEFAULT;
    else if (strcmp(text, "off") != 0 && cli_count("--cpu", text, 1, CPU_HZ_MAX, &hz, err))
        return -1;
    request->cpu_hz = (uint32_t)hz;
    return 0;
}

static int take_follow(struct request *request, const char *text, struct error *err) {
    bool all = strcmp(text, "all") == 0;
    if (!all && strcmp(text, "none") != 0) return error_usage(err, "--follow wants all or none, not '%s'", text);
    request->recorder.features &= ~(uint32_t)FEATURE_NO_CHILDREN;
    if (!all) request->recorder.features |= FEATURE_NO_CHILDREN;
    return 0;
}

static int take_start(struct request *request, const char *text, struct error *err) {
    bool off = strcmp(text, "off") == 0;
    if (!off && strcmp(text, "on") != 0) return error_usage(err, "--start wants on or off, not '%s'", text);
    request->is_switched = true;
    request->recorder.is_paused = off;
    return 0;
}

static int take_windows(struct request *request, const char *text, struct error *err) {
    int64_t most = 0;
    if (strcmp(text, "all") != 0 && cli_count("--windows", text, 1, WINDOWS_MAX, &most, err)) return -1;
    request->recorder.windows.most = (uint64_t)most;
    request->has_windows = true;
    return 0;
}

static int take_number(struct request *request, int option, struct error *err) {
    int64_t value = 0;
    int code = option == 'n' ? cli_count("--depth", optarg, 1, SEGMENT_DEPTH_MAX, &value, err)
                             : cli_count("--profile-max", optarg, 0, IDS_MAX, &value, err);
    if (option == 'n')
        request->recorder.depth = (uint32_t)value;
    else
        request->recorder.ids_max = (uint64_t)value;
    return code;
}

static int take_option(struct request *request, int option, struct error *err) {
    switch (option) {
    case 'd': request->database = optarg; return 0;
    case 'l': request->run.label = optarg; return 0;
    case 't': return add_tag(request, optarg, err);
    case 'i': return cli_duration("--interval", optarg, INTERVAL_MIN_NS, INTERVAL_MAX_NS, &request->interval_ns, err);
    case 'w': return take_windows(request, optarg, err);
    case 'k':
        return cli_duration("--keep", optarg, INTERVAL_MIN_NS, KEEP_MAX_NS, &request->recorder.windows.keep_ns, err);
    case 'n':
    case 'm': return take_number(request, option, err);
    case 's': return take_sample(request, optarg, err);
    case 'y': request->recorder.features |= FEATURE_SYNC_STACKS; return 0;
    case 'c': return take_cpu(request, optarg, err);
    case 'H': request->recorder.features &= ~(uint32_t)FEATURE_HEAP; return 0;
    case 'L': request->recorder.features &= ~(uint32_t)FEATURE_LOCKS; return 0;
    case 'f': return take_follow(request, optarg, err);
    case 'a': return take_start(request, optarg, err);
    case 'C': request->counters = true; return 0;
    case 'S': request->syscalls = true; return 0;
    case 'o': request->output = optarg; return 0;
    case HTTP: request->http = optarg; return 0;
    case HTTP_ANYWHERE: request->http_anywhere = true; return 0;
    case HTTP_TOKEN: request->http_token = optarg; return 0;
    case 'q': request->quiet = true; return 0;
    default: bug("option %d", option);
    }
}

static int take_target(struct request *request, int argc, char **argv, struct error *err) {
    add_config_tags(request);
    if (request->http_anywhere && !request->http)
        return error_usage(err,
                           "--http-anywhere says that --http ADDRESS may be one that others can reach: give that too");
    if (request->http_token && !request->http)
        return error_usage(err, "--http-token is for what --http ADDRESS serves: give that too");
    if (optind >= argc) return error_usage(err, "no target: clear profile [OPTION]... TARGET [-- ARGS...]");
    request->arguments = argv + optind;
    /* TARGET -- ARGS: getopt left that one to us. The target's own "--" would be the second. */
    if (argc - optind > 1 && strcmp(argv[optind + 1], "--") == 0) {
        argv[optind + 1] = argv[optind];
        request->arguments++;
    }
    return 0;
}

/* What options imply, once all are known. */
static void conclude(struct request *request) {
    struct collector_options *recorder = &request->recorder;
    bool splits_locks = recorder->features & FEATURE_SYNC_STACKS;
    if (splits_locks && !recorder->sample_n) recorder->sample_n = SYNC_SAMPLE_DEFAULT;
    if (request->cpu_hz && !request->uses_perf) {
        recorder->features |= FEATURE_CPU;
        recorder->cpu_hz = request->cpu_hz;
    }
    /* Who asks for the last ten minutes wants them as they were. */
    if (!request->has_windows && !recorder->windows.keep_ns) recorder->windows.most = WINDOWS_DEFAULT;
    request->run.command = request->arguments;
    request->run.tags = request->tags;
    request->run.sample_n = recorder->sample_n;
    request->run.sample_bytes = recorder->sample_bytes;
}

int request_read(struct request *request, int argc, char **argv, struct error *err) {
    static const struct option longs[] = {{"db", required_argument, NULL, 'd'},
                                          {"label", required_argument, NULL, 'l'},
                                          {"tag", required_argument, NULL, 't'},
                                          {"interval", required_argument, NULL, 'i'},
                                          {"depth", required_argument, NULL, 'n'},
                                          {"profile-max", required_argument, NULL, 'm'},
                                          {"sample", required_argument, NULL, 's'},
                                          {"sync-callstacks", no_argument, NULL, 'y'},
                                          {"cpu", required_argument, NULL, 'c'},
                                          {"no-heap", no_argument, NULL, 'H'},
                                          {"no-locks", no_argument, NULL, 'L'},
                                          {"follow", required_argument, NULL, 'f'},
                                          {"start", required_argument, NULL, 'a'},
                                          {"counters", no_argument, NULL, 'C'},
                                          {"syscalls", no_argument, NULL, 'S'},
                                          {"windows", required_argument, NULL, 'w'},
                                          {"keep", required_argument, NULL, 'k'},
                                          {"output", required_argument, NULL, 'o'},
                                          {"http", required_argument, NULL, HTTP},
                                          {"http-anywhere", no_argument, NULL, HTTP_ANYWHERE},
                                          {"quiet", no_argument, NULL, 'q'},
                                          {"http-token", required_argument, NULL, HTTP_TOKEN},
                                          {0}};
    *request = (struct request){
        .interval_ns = INTERVAL_DEFAULT_NS,
        .cpu_hz = CPU_HZ_DEFAULT,
        .recorder = {.features = FEATURE_HEAP | FEATURE_LOCKS | FEATURE_CELLS | FEATURE_CHANNELS | FEATURE_FIBERS,
                     .depth = DEPTH_DEFAULT}};
    for (int option; (option = cli_option(argc, argv, "+o:q", longs, err)) != CLI_END;)
        if (option < 0 || take_option(request, option, err)) return -1;
    if (take_target(request, argc, argv, err)) return -1;
    conclude(request);
    return 0;
}

void request_free(struct request *request) {
    for (size_t i = 0; i < request->run.tag_count; i++) {
        free((char *)(uintptr_t)request->tags[i].key);
        free((char *)(uintptr_t)request->tags[i].value);
    }
    free(request->tags);
}
