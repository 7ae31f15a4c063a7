/* main.c: the table of commands, and the choice of one. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "cli/advice.h"
#include "cli/clear_terminal.h"
#include "cli/cli.h"
#include "cli/manual/usage.h"
#include "cli/pager.h"
#include "cli/progress.h"

#define ROW(name_, purpose_, help_, ...)                                                                               \
    { .name = #name_, .run = command_##name_, .purpose = COMMAND_##purpose_, .help = help_, __VA_ARGS__ }
#define EDIT    .together = "tag, name, keep, delete and seal runs"
#define SERVICE .together = "record programs that clear does not start"
#define SERVER  .together = "serve runs over HTTP, to pprof and others, and to agents"
#define TEAM    .together = "send runs to a team's store on PostgreSQL, and fetch them"
#define REPORT  .options = report_options, .is_go = true, .more_options = report_format_option

const struct command commands[] = {
    ROW(profile, RECORD, "run a program and record heap, locks, CPU time and channels", .options = profile_options,
        .arguments = "<program> <file>", .stops = true),
    ROW(detach, RECORD, "end the recording of a process that runs on", .options = detach_options, .arguments = ""),
    ROW(env, RECORD, "print the variables that let a service record itself", .options = env_options, .arguments = "",
        SERVICE),
    ROW(collect, RECORD, "store what services recorded by themselves", .options = collect_options, .arguments = "",
        SERVICE),
    ROW(bench, RECORD, "run a program several times, and compare with the last time", .options = bench_options,
        .arguments = "<program> <file>", .stops = true),
    ROW(bisect, RECORD, "find the commit that changed a figure", .options = bisect_options,
        .arguments = "<program> <file>", .stops = true),
    ROW(ingest, RECORD, "read profiles of other tools: pprof, OTLP, perf.data, folded", .options = ingest_options,
        .arguments = "<file>"),
    ROW(recover, RECORD, "store what a killed or hindered recorder left behind", .options = recover_options,
        .arguments = "<directory>"),
    ROW(doctor, LOOK, "find problems in a run: evidence and advice", .options = doctor_options,
        .arguments = "<target>"),
    ROW(top, LOOK, "list functions by cost", REPORT, .arguments = "<target>"),
    ROW(tree, LOOK, "list functions with their callers and callees", REPORT, .arguments = "<target>"),
    ROW(peek, LOOK, "show callers and callees of the functions that match", REPORT, .arguments = "<function> <target>"),
    ROW(list, LOOK, "show source lines of the functions that match, with cost", REPORT,
        .arguments = "<function> <target>"),
    ROW(report, LOOK, "print any report that pprof has, or start a prompt", REPORT, .arguments = "<report> <target>"),
    ROW(trend, LOOK, "show how figures went from run to run, and what changed", .options = trend_options,
        .arguments = "<figure> <runs>"),
    ROW(runs, LOOK, "list the recorded runs", .options = runs_options, .arguments = "<runs>"),
    ROW(trace, LOOK, "list single waits of a run: who waited for whom, and when", .options = trace_options,
        .arguments = "<run>"),
    ROW(gate, LOOK, "check a change against limits, for CI: pass, fail or undecided", .options = gate_options,
        .arguments = "<runs>"),
    ROW(web, LOOK, "show runs or a file in the browser", .options = web_options, .arguments = "<target>"),
    ROW(gc, KEEP, "delete old runs by rules, and give the space back", .options = gc_options),
    ROW(merge, KEEP, "copy the runs of other warehouses into one", .options = merge_options, .arguments = "<file>"),
    ROW(tag, KEEP, "set and remove tags of runs", .options = tag_options, .arguments = "<runs> <tag>", EDIT),
    ROW(label, KEEP, "set or remove the label of runs", .options = label_options, .arguments = "<runs> <label>", EDIT),
    ROW(pin, KEEP, "keep runs for good: clear gc and retention leave them", .options = pin_options,
        .arguments = "<runs>", EDIT),
    ROW(rm, KEEP, "delete runs", .options = rm_options, .arguments = "<runs>", EDIT),
    ROW(reseal, KEEP, "make the facts of runs anew, after rows were changed by hand", .options = reseal_options,
        .arguments = "<runs>", EDIT),
    ROW(query, ASK, "run SQL, or a saved query, read-only", .options = query_options,
        .arguments = "<saved> <parameter>"),
    ROW(shell, ASK, "open the warehouse in sqlite3, read-only", .options = shell_options),
    ROW(schema, ASK, "print tables and views, each column explained", .options = schema_options,
        .arguments = "<table>"),
    ROW(export, MOVE, "write runs or a query as pprof, flame graph, callgrind, ...", .options = export_options,
        .arguments = "<runs>"),
    ROW(serve, MOVE, "serve runs over HTTP to go tool pprof and others", .options = serve_options, SERVER),
    ROW(mcp, MOVE, "answer coding agents: a server of the Model Context Protocol", .options = mcp_options, SERVER),
    ROW(push, MOVE, "send runs to a team's store on PostgreSQL", .options = push_options, .arguments = "<runs>", TEAM),
    ROW(pull, MOVE, "fetch runs from a team's store into a warehouse", .options = pull_options, TEAM),
    ROW(store, MOVE, "make a team's store, show what it holds, delete old runs", .options = store_options,
        .arguments = "init|status|findings|upgrade|gc|shard|grant"),
    ROW(help, HELP, "explain a command", .options = help_options, .arguments = "<command>"),
    ROW(version, HELP, "print the versions of clear and its libraries", .options = version_options),
    {0},
};

/* ---- choosing a command ---- */

static const struct command *unknown(const char *name, struct error *err) {
    struct nearest nearest = {.word = name};
    const char *here = advice_command(name);
    if (here) {
        error_usage(err, "unknown command '%s': that is clear %s", name, here);
        return NULL;
    }
    for (const struct command *command = commands; command->name; command++)
        nearest_offer(&nearest, command->name);
    if (*nearest.found)
        error_usage(err, "unknown command '%s'; did you mean %s?", name, nearest.found);
    else
        error_usage(err, "unknown command '%s'", name);
    return NULL;
}

const struct command *cli_find(const char *name, struct error *err) {
    const struct command *found = NULL;
    char candidates[256] = "";
    int count = 0;
    for (const struct command *command = commands; command->name && *name; command++) {
        if (strcmp(command->name, name) == 0) return command;
        if (strncmp(command->name, name, strlen(name)) != 0) continue;
        size_t used = strlen(candidates);
        snprintf(candidates + used, sizeof candidates - used, "%s%s", count++ ? ", " : "", command->name);
        found = command;
    }
    if (count == 0) return unknown(name, err);
    if (count == 1) return found;
    error_usage(err, "'%s' is ambiguous: %s", name, candidates);
    return NULL;
}

static int run(const struct command *command, int argc, char **argv) {
    struct error err = {0};
    argv[0] = (char *)command->name;
    int status = command->run(argc, argv, &err);
    if (status >= 0) return status;
    if (err.status == ERROR_NONE) return 0; /* --help was asked for */
    fflush(stdout);
    if (err.status == ERROR_USAGE)
        fprintf(stderr, "clear: %s (see clear %s --help)\n", err.message, command->name);
    else
        fprintf(stderr, "clear: %s\n", err.message);
    return (int)err.status;
}

/* top5: pprof's short form of top -5. NULL if the name is not that of a report and a number. */
static const struct command *numbered_report(const char *name) {
    size_t size = strcspn(name, "0123456789");
    if (!size || !name[size] || name[size + strspn(name + size, "0123456789")]) return NULL;
    for (const struct command *command = commands; command->name; command++)
        if (command->is_go && strlen(command->name) == size && strncmp(command->name, name, size) == 0) return command;
    return NULL;
}

static int run_numbered(const struct command *command, int argc, char **argv) {
    char **words = xcalloc((size_t)argc + 2, sizeof *words);
    char *number = xasprintf("-%s", argv[0] + strlen(command->name));
    words[1] = number;
    memcpy(words + 2, argv + 1, (size_t)argc * sizeof *words); /* the NULL too */
    int status = run(command, argc + 1, words);
    free(number);
    free(words);
    return status;
}

static int choose(int argc, char **argv);

static int with_config(int argc, char **argv) {
    struct error err = {0};
    if (argc < 4)
        error_usage(&err, "clear --config needs a file and a command: clear --config FILE COMMAND");
    else if (cli_load_config(argv[2], &err) == 0)
        return choose(argc - 2, argv + 2);
    fprintf(stderr, "clear: %s%s\n", err.message, err.status == ERROR_USAGE ? " (see clear --help)" : "");
    return (int)err.status;
}

static int choose(int argc, char **argv) {
    struct error err = {0};
    if (clear_terminal_is_meant(argc, argv)) return clear_terminal(argc, argv);
    if (strcmp(argv[1], "--config") == 0) return with_config(argc, argv);
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) name = "help";
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) name = "version";
    if (*name == '-')
        error_usage(&err, "unknown option %s; a command comes first, then its options: clear top --kind cpu", name);
    else {
        const struct command *command = numbered_report(name);
        if (command) return run_numbered(command, argc - 1, argv + 1);
        command = cli_find(name, &err);
        if (command) return run(command, argc - 1, argv + 1);
    }
    fprintf(stderr, "clear: %s (see clear --help)\n", err.message);
    return (int)err.status;
}

/* A full disk is noticed only when the buffer is written. If the reader has gone (EPIPE), nothing is printed. */
static int finish(int status) {
    bool failed = ferror(stdout) != 0;
    errno = 0;
    if (fflush(stdout) == 0 && !failed) return status;
    if (errno != EPIPE) fprintf(stderr, "clear: standard output: %s\n", errno ? strerror(errno) : "cannot be written");
    return status ? status : ERROR_FAILURE;
}

static void say_waiting(const char *path, const char *locked_by, int patience_ms) {
    fflush(stdout);
    error_print("%s is locked by %s; waiting for it, %d s at most", path, locked_by, patience_ms / 1000);
}

int main(int argc, char **argv) {
    progress_of_facts();
    db_on_wait(say_waiting);
    int status = finish(choose(argc, argv));
    pager_wait();
    return status;
}
