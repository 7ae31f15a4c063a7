/* mcp_commands.c: the table of tools, and the commands of clear that answer them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/writer/run_uuid.h"
#include "serve/mcp/mcp_tools.h"

enum {
    SAYING_SECONDS = 5,  /* for a query to say that its time is over */
    STORING_SECONDS = 20 /* for what was recorded to be stored, behind the time of the program */
};

static struct job *make_command(const struct mcp_source *source, const char *command) {
    struct job *job = job_new();
    job_words_add(&job->words, "/proc/self/exe");
    job_words_add(&job->words, "%s", command);
    if (source->db) job_words_add(&job->words, "--db=%s", source->db);
    if (source->config) job_words_add(&job->words, "--config=%s", source->config);
    return job;
}

struct job *tool_reader(const struct mcp_source *source, const char *command) {
    struct job *job = make_command(source, command);
    if (source->project) job_words_add(&job->words, "--project=%s", source->project);
    return job;
}

/* As a step of the call. */
static struct job *add_reader(struct tool_call *call, const char *command) {
    struct job *job = call->steps[call->step_count++] = tool_reader(call->source, command);
    if (call->source->runs) job_words_add(&job->words, "--runs=%s", call->source->runs);
    job->output_max = (size_t)16 << 20;
    return job;
}

/* What was given for arguments that are options of the command. */
static void add_options(struct tool_call *call, struct job *job) {
    for (size_t i = 0; i < call->given_count; i++) {
        const struct tool_given *given = &call->given[i];
        if (given->argument->option && given->text)
            job_words_add(&job->words, "--%s=%s", given->argument->option, given->text);
    }
}

static void add_runs(const struct tool_call *call, struct job *job, const char *name) {
    const char *runs = tool_text(call, name);
    job_words_add(&job->words, "--");
    job_words_add(&job->words, "%s", runs && *runs ? runs : "latest");
}

/* ---- one function a tool ---- */

/* One run more than is shown tells that there are more. */
static int make_runs(struct tool_call *call, struct error *err) {
    struct job *job = add_reader(call, "runs");
    (void)err;
    job_words_add(&job->words, "--json");
    job_words_add(&job->words, "--last=%" PRId64, tool_number(call, "limit") + 1);
    add_options(call, job);
    return 0;
}

static void add_doctor(struct tool_call *call, int64_t limit) {
    struct job *job = add_reader(call, "doctor");
    job_words_add(&job->words, "--overview");
    job_words_add(&job->words, "--top=%" PRId64, limit);
    if (*call->uuid) {
        job_words_add(&job->words, "%s", call->uuid);
        return;
    }
    add_options(call, job);
    add_runs(call, job, "run");
}

static int make_doctor(struct tool_call *call, struct error *err) {
    (void)err;
    add_doctor(call, tool_number(call, "limit"));
    return 0;
}

static void add_report(struct tool_call *call, const char *report) {
    struct job *job = add_reader(call, "report");
    job_words_add(&job->words, "-%s", report);
    if (!tool_text(call, "kind")) job_words_add(&job->words, "--kind=auto");
    job_words_add(&job->words, "--only_source_path=%s", call->source->directory);
    add_options(call, job);
    if (strcmp(call->tool->name, "top") == 0) {
        job_words_add(&job->words, "--nodefraction=0"); /* the limit alone cuts, and says so */
        job_words_add(&job->words, "--nodecount=%" PRId64, tool_number(call, "limit") + 1);
    }
    const char *sort = tool_text(call, "sort");
    if (sort) job_words_add(&job->words, "--%s", sort);
    const char *by = tool_text(call, "by");
    if (by) job_words_add(&job->words, "--%s", by);
    add_runs(call, job, "run");
}

static int make_top(struct tool_call *call, struct error *err) {
    (void)err;
    add_report(call, "json");
    return 0;
}

static int make_source(struct tool_call *call, struct error *err) {
    char *report = xasprintf("source=%s", tool_text(call, "function"));
    (void)err;
    add_report(call, report);
    free(report);
    return 0;
}

static int make_query(struct tool_call *call, struct error *err) {
    const char *sql = tool_text(call, "sql");
    const struct job_words *values = tool_words(call, "parameters");
    struct job *job = add_reader(call, "query");
    (void)err;
    job_words_add(&job->words, "--format=arrays");
    job_words_add(&job->words, "--rows=%" PRId64, tool_number(call, "limit"));
    job_words_add(&job->words, "--max-output=1M");
    job_words_add(&job->words, "--timeout=%" PRId64 "s", tool_number(call, "timeout_s"));
    job->seconds = (int)tool_number(call, "timeout_s") + SAYING_SECONDS;
    job->is_sql = true;
    if (*sql == '@') {
        job_words_add(&job->words, "%s", sql);
    } else {
        job_words_add(&job->words, "--file=-");
        buffer_add_text(&job->input, sql);
    }
    for (size_t i = 0; values && i < values->count; i++)
        job_words_add(&job->words, "%s", values->items[i]);
    return 0;
}

static int make_diff(struct tool_call *call, struct error *err) {
    struct job *job = add_reader(call, "doctor");
    const char *run = tool_text(call, "run");
    (void)err;
    job_words_add(&job->words, "--json");
    job_words_add(&job->words, "--diff=%s", run && *run ? run : "latest");
    add_options(call, job);
    add_runs(call, job, "base");
    return 0;
}

static int make_gate(struct tool_call *call, struct error *err) {
    struct job *job = add_reader(call, "gate");
    (void)err;
    job_words_add(&job->words, "--json");
    job_words_add(&job->words, "--source-root=%s", call->source->directory);
    add_options(call, job);
    add_runs(call, job, "run");
    return 0;
}

static int make_profile(struct tool_call *call, struct error *err) {
    const struct job_words *command = tool_words(call, "command");
    struct job *job = call->steps[call->step_count++] = make_command(call->source, "profile");
    if (run_uuid(call->uuid, err)) return -1;
    job_words_add(&job->words, "--quiet");
    job_words_add(&job->words, "--no-files");
    job_words_add(&job->words, "--uuid=%s", call->uuid);
    add_options(call, job);
    job_words_add(&job->words, "--");
    for (size_t i = 0; i < command->count; i++)
        job_words_add(&job->words, "%s", command->items[i]);
    job->seconds = (int)tool_number(call, "timeout_s");
    job->stopping_seconds = STORING_SECONDS;
    job->memory_max = 0;
    job->is_stream = true; /* its output has no limit: the end of it is kept */
    job->output_max = SIZE_MAX;
    add_doctor(call, 3);
    return 0;
}

/* ---- the table ---- */

#define RUN_HELP                                                                                                       \
    "The run: latest (default), latest~1 (the one before), a number, a label, TAG=VALUE, the beginning of a uuid, or " \
    "a profile file below the base directory."
#define SET_HELP                                                                                                       \
    "One run or a set: latest, 7, a label, TAG=VALUE, 3..7, tag:branch=main,last=20, or profile files below the base " \
    "directory."
#define RUN                                                                                                            \
    { "run", TOOL_RUNS, NULL, RUN_HELP }
#define KIND                                                                                                           \
    {                                                                                                                  \
        "kind", TOOL_TEXT, "kind",                                                                                     \
            "The kind of profile: cpu, heap, lock, wait and others. Default: the one that has most to say."            \
    }
#define TYPE                                                                                                           \
    {                                                                                                                  \
        "type", TOOL_TEXT, "sample_index",                                                                             \
            "The sample type, as alloc_space, inuse_space, cpu, delay. Default: the kind's own."                       \
    }
#define FOCUS                                                                                                          \
    { "focus", TOOL_TEXT, "focus", "Regular expression (PCRE2): only stacks with a frame that matches." }
#define IGNORE                                                                                                         \
    { "ignore", TOOL_TEXT, "ignore", "Regular expression (PCRE2): no stacks with a frame that matches." }
#define LIMIT(most_, preset_, help_)                                                                                   \
    { "limit", TOOL_COUNT, NULL, help_, .least = 1, .most = most_, .preset = preset_ }
#define END                                                                                                            \
    { 0 }

const struct tool tools[] = {
    {"runs",
     "Recorded runs",
     "Lists the recorded runs of the warehouse, newest first: number, label, command, when, how long, which kinds of "
     "profile. Start here, or with doctor.",
     {LIMIT(200, 10, "How many runs."),
      {"search", TOOL_TEXT, "search", "Only runs with this text in label, command, source or a tag."},
      {"label", TOOL_TEXT, "label", "Only runs with this label."},
      {"tag", TOOL_TEXT, "tag", "Only runs with this tag, KEY=VALUE."},
      {"before", TOOL_RUNS, "before", "Only runs that started before this one."},
      END},
     make_runs,
     "mcp/mcp_answer/runs",
     false},
    {"doctor",
     "What is wrong with a run",
     "Says what is wrong with a run: the worst findings (contended locks, leaks, memory peaks, hot functions, waits "
     "and "
     "others), each with its place file:line, the figures that prove it, and what to do. If nothing is wrong, what the "
     "time "
     "and the memory went to.",
     {RUN, LIMIT(50, 3, "How many findings, the worst first."), END},
     make_doctor,
     "mcp/mcp_answer/doctor",
     false},
    {"top",
     "Functions by cost",
     "Lists the functions (or lines, or files) of a run that cost most: CPU time, allocated bytes, waits for locks and "
     "others. flat is its own, cum with all that it calls.",
     {RUN,
      KIND,
      TYPE,
      LIMIT(500, 10, "How many rows."),
      {"sort", TOOL_CHOICE, NULL, "Sort by flat (default) or cum.", "flat cum"},
      {"by", TOOL_CHOICE, NULL, "What a row is. Default: functions.", "functions lines files"},
      FOCUS,
      IGNORE,
      END},
     make_top,
     "mcp/mcp_answer/top",
     false},
    {"source",
     "Source lines with their cost",
     "Shows the source lines of the functions that match that cost something, and two around each. Source files are "
     "read below the base "
     "directory and that of the warehouse alone.",
     {{"function", TOOL_TEXT, NULL, "Regular expression (PCRE2) of names of functions, such as ^parse_row$.",
       .is_required = true},
      RUN,
      KIND,
      TYPE,
      LIMIT(20, 3, "How many functions, those that cost most first."),
      FOCUS,
      IGNORE,
      END},
     make_source,
     "mcp/mcp_answer/source",
     false},
    {"query",
     "SQL over the warehouse",
     "Runs one SELECT of SQLite over all runs, read-only and within limits, or a saved query: @hot-sites. The resource "
     "clear://schema/VIEW explains the columns of a view; good ones are run_summary, doctor, heap, cpu_use, lock_use, "
     "wait_use, series.",
     {{"sql", TOOL_TEXT, NULL, "The SELECT, or @NAME of a saved query (SELECT name, description, params FROM queries).",
       .is_required = true},
      {"parameters", TOOL_VALUES, NULL,
       "Values of the parameters :NAME of the SQL. :run takes any name of a run; its default is the latest."},
      LIMIT(10000, 100, "How many rows."),
      {"timeout_s", TOOL_COUNT, NULL, "Stop it after so many seconds.", .least = 1, .most = 60, .preset = 30},
      END},
     make_query,
     "mcp/mcp_answer/query",
     false},
    {"diff",
     "What changed between runs",
     "Says what changed from one run, or set of runs, to another: totals, allocation sites, locks, functions, "
     "findings. With "
     "several runs on a side only changes outside of the noise count.",
     {{"base", TOOL_RUNS, NULL, "The old side. " SET_HELP, .is_required = true},
      {"run", TOOL_RUNS, NULL, "The new side; default: latest. " SET_HELP},
      LIMIT(200, 10, "How many changes."),
      FOCUS,
      IGNORE,
      END},
     make_diff,
     "mcp/mcp_answer/diff",
     false},
    {"gate",
     "Is a change within its limits",
     "Judges whether a run, or a set of runs, is worse than the base by more than the rules of the warehouse allow: "
     "pass, "
     "fail or undecided, and the figures over their limit.",
     {{"base", TOOL_RUNS, "base", "The old side; default: that of the rules. " SET_HELP},
      {"run", TOOL_RUNS, NULL, "The new side; default: latest. " SET_HELP},
      LIMIT(200, 10, "How many figures."),
      END},
     make_gate,
     "mcp/mcp_answer/gate",
     false},
    {"profile",
     "Run and record a program",
     "Runs a program in the base directory without a shell and without input, records its CPU time, memory, locks and "
     "waits as a new run, and answers as doctor does. This executes the program.",
     {{"command", TOOL_LIST, NULL, "The program and its arguments, one string each.", .is_required = true},
      {"label", TOOL_TEXT, "label", "A name for the run."},
      {"timeout_s", TOOL_COUNT, NULL, "End the program after so many seconds (SIGTERM, then SIGKILL).", .least = 1,
       .most = 3600, .preset = 60},
      END},
     make_profile,
     "mcp/mcp_answer/doctor",
     true},
    {0},
};
