/* env.c: clear env: the variables with which a program records itself (ingest/segment.h, CLEAR_DIR). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/escape.h"
#include "cli/cli.h"
#include "cli/record/profile_options.h"
#include "ingest/record/launch.h"

/* Of each process. /run is a file system in memory that the whole machine needs, so no program may fill it by itself. */
#define MEMORY_DEFAULT (INT64_C(64) << 20)
#define MEMORY_LEAST   (INT64_C(1) << 20)
#define MEMORY_MOST    (INT64_C(16) << 30)

enum { DIRECTORY_MOST = 255 - 1 - SERVICE_RUN_LENGTH }; /* what the runtime has room for */

struct env_options {
    const char *directory, *format, *runtime, *to, *db;
    int64_t memory;
    struct profile_request request;
};

static int take_memory(void *into, const struct option_row *row, const char *text, struct error *err) {
    (void)row;
    return cli_bytes("--memory", text, MEMORY_LEAST, MEMORY_MOST, &((struct env_options *)into)->memory, err);
}

#define AT(member) offsetof(struct env_options, member)
static const struct option_row env_rows[] = {
    {"format", .type = OPTION_TEXT, .offset = AT(format), .argument = "shell|systemd|docker|kubernetes",
     .words = "shell systemd docker kubernetes", .help = "How the variables are written. Default: shell."},
    {"dir", .type = OPTION_TEXT, .offset = AT(directory), .argument = "DIR", .words = "<directory>",
     .help = "The directory in which programs make their segments. Default: `$CLEAR_DIR`, else /run/clear."},
    {"runtime", .type = OPTION_TEXT, .offset = AT(runtime), .argument = "FILE", .words = "<file>",
     .help = "Where the program finds libclear_rt.so, as in an image. Default: where clear finds it."},
    {"memory", .type = OPTION_TAKE, .take = take_memory, .argument = "SIZE", .words = "64MiB",
     .help = "Of that directory each process takes at most SIZE. What has no room is counted as dropped. Default: "
             "64MiB."},
    {"to", .type = OPTION_TEXT, .offset = AT(to), .argument = "ADDRESS", .words = "postgresql://",
     .help = "The team's store that the collector sends to: for the line of its command on standard error."},
    {0},
};
#undef AT

const struct option_group env_options[] = {
    {"Variables", env_rows, 0},
    {"What is recorded", profile_recorded_rows, offsetof(struct env_options, request)},
    {"Cost", profile_cost_rows, offsetof(struct env_options, request)},
    CLI_WAREHOUSE(env_options, db),
    CLI_OPTIONS_END};

/* ---- formats ----------------------------------------------------------------------------------------------------- */

struct variable {
    const char *name, *value;
};

/* What is preloaded already stays. */
static void add_shell(struct buffer *out, const struct variable *variable) {
    buffer_printf(out, "export %s=", variable->name);
    escape_shell(out, variable->value);
    if (strcmp(variable->name, "LD_PRELOAD") == 0) buffer_add_text(out, "${LD_PRELOAD:+:$LD_PRELOAD}");
    buffer_add_text(out, "\n");
}

/* In double quotes; `special` characters get one of `before` before them. */
static void add_quoted(struct buffer *out, const char *text, const char *special, const char *before) {
    for (; *text; text++) {
        const char *found = strchr(special, *text);
        if (found) buffer_add(out, &before[found - special], 1);
        buffer_add(out, text, 1);
    }
}

static void add_systemd(struct buffer *out, const struct variable *variable) {
    buffer_printf(out, "Environment=\"%s=", variable->name);
    add_quoted(out, variable->value, "\"\\%", "\\\\%");
    buffer_add_text(out, "\"\n");
}

static void add_docker(struct buffer *out, const struct variable *variable) {
    buffer_printf(out, "ENV %s=\"", variable->name);
    add_quoted(out, variable->value, "\"\\$", "\\\\\\");
    buffer_add_text(out, "\"\n");
}

static void add_kubernetes(struct buffer *out, const struct variable *variable) {
    buffer_printf(out, "  - name: %s\n    value: \"", variable->name);
    add_quoted(out, variable->value, "\"\\", "\\\\");
    buffer_add_text(out, "\"\n");
}

static const struct env_format {
    const char *name, *head;
    void (*add)(struct buffer *out, const struct variable *variable);
} formats[] = {{"shell", "", add_shell},
               {"systemd", "[Service]\n", add_systemd},
               {"docker", "", add_docker},
               {"kubernetes", "env:\n", add_kubernetes}};

static const struct env_format *find_format(const char *name, struct error *err) {
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!name || strcmp(formats[i].name, name) == 0) return &formats[i];
    error_usage(err, "--format must be shell, systemd, docker or kubernetes, not '%s'", name);
    return NULL;
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static char *settings(const struct collector_options *recorder, int64_t memory) {
    const struct control control = {.features = recorder->features,
                                    .depth = recorder->depth,
                                    .ids_max = recorder->ids_max,
                                    .segment_max = (uint64_t)memory & ~UINT64_C(4095),
                                    .sample_n = recorder->sample_n,
                                    .sample_bytes = recorder->sample_bytes,
                                    .cpu_hz = recorder->cpu_hz,
                                    .has_budget = recorder->budget > 0,
                                    .budget_ppm = (uint32_t)(recorder->budget * 1e6 + 0.5)};
    struct buffer text = {0};
#define X(name) buffer_printf(&text, "%s" #name "=%" PRIu64, text.size ? "," : "", (uint64_t)control.name);
    SERVICE_SETTINGS(X)
#undef X
    char *made = xstrdup(buffer_text(&text));
    buffer_free(&text);
    return made;
}

static void add_option(struct buffer *line, const char *option, const char *value) {
    buffer_add_text(line, option);
    escape_shell(line, value);
}

/* The command that takes what such programs record. */
static void print_next(const struct env_options *options, const char *directory) {
    struct buffer line = {0};
    char *db = cli_shown_database(options->db), *to = options->to ? cli_shown_database(options->to) : NULL;
    add_option(&line, "clear: next: clear collect --dir ", directory);
    if (options->db || !to) add_option(&line, " --db ", db);
    if (to) add_option(&line, " --to ", to);
    fflush(stdout);
    fprintf(stderr, "%s\n", buffer_text(&line));
    buffer_free(&line);
    free(db);
    free(to);
}

static void print_variables(const struct env_options *options, const struct env_format *format, const char *runtime,
                            const char *directory) {
    char *record = settings(&options->request.recorder, options->memory);
    const struct variable variables[] = {{"LD_PRELOAD", runtime},
                                         {SERVICE_DIR_VARIABLE, directory},
                                         {SERVICE_RECORD_VARIABLE, record},
                                         {SERVICE_RUN_VARIABLE, SERVICE_NO_RUN}};
    struct buffer out = {0};
    buffer_add_text(&out, format->head);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        format->add(&out, &variables[i]);
    fputs(buffer_text(&out), stdout);
    buffer_free(&out);
    free(record);
}

static int check(const struct env_options *options, const char *directory, struct error *err) {
    if (options->request.uses_perf)
        return error_usage(err, "--cpu=perf needs clear profile: a service samples by its own timers");
    if (options->runtime && (*options->runtime != '/' || strpbrk(options->runtime, " :\t\n")))
        return error_usage(err, "--runtime must be an absolute path without blanks and colons, as LD_PRELOAD needs it");
    if (*directory != '/' || strchr(directory, '\n') || strlen(directory) > DIRECTORY_MOST)
        return error_usage(err, "--dir must be an absolute path of at most %d bytes", DIRECTORY_MOST);
    return 0;
}

int command_env(int argc, char **argv, struct error *err) {
    struct env_options options = {.memory = MEMORY_DEFAULT};
    profile_request_init(&options.request);
    options.request.is_service = true;
    if (cli_options(&argc, argv, &options, err) < 0 || cli_at_most(0, argc, argv, err)) return -1;
    const char *set = getenv(SERVICE_DIR_VARIABLE), *directory = options.directory;
    if (!directory) directory = set && *set ? set : SERVICE_DIR_DEFAULT;
    const struct env_format *format = find_format(options.format, err);
    if (!format || check(&options, directory, err) || profile_request_settle(&options.request, err)) return -1;
    char *runtime = options.runtime ? xstrdup(options.runtime) : launch_runtime(NULL, err);
    if (!runtime) return -1;
    print_variables(&options, format, runtime, directory);
    print_next(&options, directory);
    free(runtime);
    profile_request_free(&options.request);
    return 0;
}
