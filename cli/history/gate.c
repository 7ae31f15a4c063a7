#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grid.h"
#include "base/split.h"
#include "base/terminal.h"
#include "cli/cli.h"
#include "cli/history/take_run.h"
#include "cli/new_run_tags.h"
#include "cli/run_or_file.h"
#include "export/file.h"
#include "query/gate/gate.h"
#include "query/gate/rules_text.h"
#include "query/sql/ask.h"
#include "schema/gates.h"
#include "schema/schema.h"

enum { EXIT_PASS = 0, EXIT_FAIL = 3, EXIT_UNDECIDED = 4, OUTPUTS_MAX = 8 };

struct gate_command {
    const char *db, *set, *base, *run, *run_base, *root;
    char *rules_base; /* that the rules name, where --base does not */
    struct {
        const char *path;
    } outputs[OUTPUTS_MAX];
    size_t output_count;
    enum gate_format format;
    bool has_format, list, json, all, quiet;
    int64_t runs_max, timeout_ns;
    struct run_tags tags;
};

#define AT(member) offsetof(struct gate_command, member)

static int take_format(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct gate_command *command = into;
    (void)row;
    command->has_format = true;
    return gate_format_of(text, &command->format, err);
}

static int take_json(void *into, const struct option_row *row, const char *text, struct error *err) {
    (void)text;
    ((struct gate_command *)into)->json = true;
    return take_format(into, row, "json", err);
}

static int take_output(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct gate_command *command = into;
    (void)row;
    if (command->output_count == OUTPUTS_MAX) return error_usage(err, "at most %d files with -o", OUTPUTS_MAX);
    command->outputs[command->output_count++].path = text;
    return 0;
}

static const struct option_row compared_rows[] = {
    {"base", .letter = 'b', .type = OPTION_TEXT, .offset = AT(base), .argument = "SET", .words = "<runs>",
     .help = "The runs to compare with: `tag:git_branch=main,last=20`. Runs that are in SET too are left out of it. "
             "Default: `base:` of the rules."},
    {"list", .type = OPTION_SWITCH, .offset = AT(list), .help = "Print the rules, and compare nothing."},
    {"timeout", .type = OPTION_DURATION, .offset = AT(timeout_ns), .max = INT64_MAX / 2, .argument = "TIME",
     .help = "Stop the query of a rule that takes longer than TIME. Default: 30 seconds. 0: no limit."},
    {0},
};

static const struct option_row run_rows[] = {
    {"run", .type = OPTION_TEXT, .offset = AT(run), .argument = "COMMAND",
     .help = "Record COMMAND as further runs of SET until the answer is sure, and before a failure is reported. The "
             "words are split at blanks, without a shell."},
    {"run-base", .type = OPTION_TEXT, .offset = AT(run_base), .argument = "COMMAND",
     .help = "Record the old program too, by turns with `--run`, as further runs of the base."},
    {"max-runs", .type = OPTION_COUNT, .offset = AT(runs_max), .min = 1, .max = 10000, .argument = "N",
     .help = "Record each command at most N times, and once more where a failure is confirmed. Default: 10."},
    {"tag", .type = OPTION_TAKE, .take = tags_take, .offset = AT(tags), .is_repeatable = true, .argument = "KEY=VALUE",
     .words = "<tag>", .help = "Give the runs of `--run` this tag. Repeatable."},
    {0},
};

static const struct option_row output_rows[] = {
    {"format", .type = OPTION_TAKE, .take = take_format, .argument = "FORMAT",
     .words = "text json junit markdown github sarif",
     .help = "`text` (default), `json`, `junit`, `markdown`, `github` (annotations of GitHub Actions) or `sarif` "
             "(2.1.0)."},
    {"json", .type = OPTION_TAKE, .take = take_json, .help = "Same as `--format json`."},
    {"output", .letter = 'o', .type = OPTION_TAKE, .take = take_output, .is_repeatable = true, .argument = "FILE",
     .words = "<file>",
     .help = "Write a report to FILE, too. Its name decides the format: `.json`, `.xml` (JUnit), `.md`, `.sarif`; else "
             "`--format` does. Repeatable."},
    {"all", .letter = 'a', .type = OPTION_SWITCH, .offset = AT(all),
     .help = "In the text: print every row, also those that pass."},
    {"source-root", .type = OPTION_TEXT, .offset = AT(root), .argument = "DIR", .words = "<directory>",
     .help = "Print paths of sources relative to DIR. Default: `$GITHUB_WORKSPACE`, else the top of the git "
             "repository, else this directory."},
    {"quiet", .letter = 'q', .type = OPTION_SWITCH, .offset = AT(quiet),
     .help = "Print no line on standard error for each run that is recorded."},
    {0},
};

const struct option_group gate_options[] = {{"Compare", compared_rows, 0},
                                            {"More runs", run_rows, 0},
                                            {"Output", output_rows, 0},
                                            CLI_WAREHOUSE_OR_STORE(gate_command, db),
                                            CLI_OPTIONS_END};
#undef AT

/* ---- where reports go ---- */

static bool ends_with(const char *text, const char *ending) {
    size_t size = strlen(text), wanted = strlen(ending);
    return size > wanted && strcmp(text + size - wanted, ending) == 0;
}

/* True if the name of the file says which format it has. */
static bool format_of_name(const char *path, enum gate_format *format) {
    static const struct {
        const char *ending;
        enum gate_format format;
    } endings[] = {{".json", GATE_JSON},         {".xml", GATE_JUNIT}, {".md", GATE_MARKDOWN},
                   {".markdown", GATE_MARKDOWN}, {".txt", GATE_TEXT},  {".sarif", GATE_SARIF},
                   {".sarif.json", GATE_SARIF}};
    bool is_known = false;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        if (!ends_with(path, endings[i].ending)) continue;
        *format = endings[i].format;
        is_known = true;
    }
    return is_known;
}

static int write_report(const struct gate *gate, enum gate_format format, const char *path, struct error *err) {
    struct buffer text = {0};
    struct file file;
    gate_write(gate, format, &text);
    int code = file_open(&file, path, false, err);
    if (code == 0) {
        code = file_write(&file, text.data, text.size, err);
        if (code == 0)
            code = file_publish(&file, err);
        else
            file_abandon(&file);
    }
    buffer_free(&text);
    return code;
}

/* Standard output has the text where a file took what --format says. */
static int write_reports(const struct gate *gate, const struct gate_command *command, struct error *err) {
    enum gate_format shown = command->format;
    struct buffer text = {0};
    for (size_t i = 0; i < command->output_count; i++) {
        enum gate_format format = command->format;
        bool is_named = format_of_name(command->outputs[i].path, &format);
        if (!is_named || format == command->format) shown = GATE_TEXT;
        if (write_report(gate, format, command->outputs[i].path, err) < 0) return -1;
        if (strcmp(command->outputs[i].path, "-") == 0) return 0;
    }
    gate_write(gate, shown, &text);
    fwrite(text.data, 1, text.size, stdout);
    buffer_free(&text);
    return 0;
}

/* ---- the root of the sources ---- */

static char *git_top(void) {
    char line[PATH_MAX] = "";
    FILE *pipe = popen("git rev-parse --show-toplevel 2>/dev/null", "re");
    if (!pipe) return NULL;
    bool has_line = fgets(line, sizeof line, pipe) != NULL;
    bool succeeded = pclose(pipe) == 0;
    line[strcspn(line, "\n")] = '\0';
    return has_line && succeeded && *line == '/' ? xstrdup(line) : NULL;
}

/* free() it. */
static char *source_root(const struct gate_command *command) {
    const char *workspace = getenv("GITHUB_WORKSPACE");
    char *root = NULL;
    if (command->root)
        root = realpath(command->root, NULL);
    else if (workspace && *workspace == '/')
        root = xstrdup(workspace);
    else
        root = git_top();
    if (!root) root = command->root ? xstrdup(command->root) : getcwd(NULL, 0);
    size_t size = root ? strlen(root) : 0;
    while (size > 1 && root[size - 1] == '/')
        root[--size] = '\0';
    return root;
}

/* ---- one judgement ---- */

/* Runs by id, so that a set such as last=20 stays what it was while runs are recorded. */
struct side_ids {
    int64_t *items;
    size_t count;
};

struct session {
    const struct gate_command *command;
    struct side_ids sides[GATE_SIDES];
    bool is_resolved;
    char *root;
    struct stop stop;
    struct gate gate; /* of the latest judgement; zeroed before the first */
    struct gate_options options;
};

static void add_id(struct side_ids *side, int64_t id) {
    side->items = xrealloc(side->items, (side->count + 1) * sizeof *side->items);
    side->items[side->count++] = id;
}

static void free_options(struct gate_options *options) {
    for (int side = 0; side < GATE_SIDES; side++)
        run_list_free(&options->sides[side].runs);
}

static int check_sides(const struct gate_options *options, struct error *err) {
    const struct gate_runs *old = &options->sides[GATE_OLD], *new = &options->sides[GATE_NEW];
    if (!old->runs.count)
        return error_usage(err, "every run of --base %s is in %s too: name a base with other runs", old->name,
                           new->name);
    return 0;
}

static int resolve(struct session *session, struct targets *targets, struct error *err) {
    struct gate_options *options = &session->options;
    const struct gate_command *command = session->command;
    if (command->set && targets_add(targets, command->set, &options->sides[GATE_NEW].runs, err) < 0) return -1;
    if (targets_add(targets, command->base, &options->sides[GATE_OLD].runs, err) < 0) return -1;
    run_list_remove(&options->sides[GATE_OLD].runs, &options->sides[GATE_NEW].runs);
    if (command->run && targets->files.handle)
        return error_usage(err, "--run needs runs of the warehouse, and not files: clear ingest them first");
    if (check_sides(options, err) < 0) return -1;
    for (int side = 0; side < GATE_SIDES; side++)
        for (size_t i = 0; i < options->sides[side].runs.count; i++)
            add_id(&session->sides[side], options->sides[side].runs.items[i].id);
    session->is_resolved = true;
    return 0;
}

static int find_runs(struct session *session, struct targets *targets, struct error *err) {
    free_options(&session->options);
    if (!session->is_resolved) return resolve(session, targets, err);
    if (cli_open(&targets->warehouse, targets->option, DB_READ, err)) return -1;
    for (int side = 0; side < GATE_SIDES; side++)
        for (size_t i = 0; i < session->sides[side].count; i++)
            run_list_add(&session->options.sides[side].runs, &targets->warehouse, session->sides[side].items[i]);
    return 0;
}

/* Judges what is there; `fresh` is a run that shall confirm a failure, or 0. */
static int judge(struct session *session, int64_t fresh, struct error *err) {
    struct targets targets = {.option = session->command->db};
    struct error ignored = {0};
    int code = find_runs(session, &targets, err);
    session->options.rules = targets.warehouse.handle ? &targets.warehouse : &targets.files;
    gate_free(&session->gate);
    if (code == 0 && session->options.sides[GATE_NEW].runs.count)
        code = gate_judge(&session->gate, &session->options, err);
    if (code == 0 && fresh) {
        const struct run_item item = {&targets.warehouse, fresh};
        code = gate_confirm(&session->gate, &item, err);
    }
    targets_close(&targets, &ignored);
    return code;
}

/* ---- more runs ---- */

struct taker {
    struct session *session;
    char **words[GATE_SIDES];
    struct run_tags tags[GATE_SIDES];
    int64_t taken; /* runs of --run */
};

static int split_command(const char *option, const char *text, char ***words, struct error *err) {
    char open;
    *words = split_words(text, NULL, NULL, &open);
    if (!*words) return error_usage(err, "%s: a quote (%c) is not closed", option, open);
    return **words ? 0 : error_usage(err, "%s needs a command", option);
}

/* A run of the old program belongs to the commit of the base, whatever is checked out here. */
static int copy_git_tags(struct taker *taker, struct error *err) {
    const struct side_ids *base = &taker->session->sides[GATE_OLD];
    struct db db;
    if (cli_open(&db, taker->session->command->db, DB_READ, err)) return -1;
    sqlite3_stmt *row = db_prepare(&db, embedded_text("history/git_tags.sql"), err);
    int code = row ? 1 : -1;
    if (row) db_bind_int(row, ":run", base->items[base->count - 1]);
    while (code == 1 && (code = db_step(&db, row, err)) == 1)
        run_tags_add(&taker->tags[GATE_OLD], db_text(row, 0), db_text(row, 1));
    struct error ignored = {0};
    db_close(&db, &ignored);
    return code;
}

static int open_taker(struct taker *taker, struct session *session, struct error *err) {
    const struct gate_command *command = session->command;
    *taker = (struct taker){.session = session};
    if (split_command("--run", command->run, &taker->words[GATE_NEW], err) < 0) return -1;
    if (command->run_base && split_command("--run-base", command->run_base, &taker->words[GATE_OLD], err) < 0)
        return -1;
    for (size_t i = 0; i < command->tags.count; i++)
        run_tags_add(&taker->tags[GATE_NEW], command->tags.items[i].key, command->tags.items[i].value);
    run_tags_add(&taker->tags[GATE_NEW], "gate", "new");
    run_tags_add(&taker->tags[GATE_OLD], "gate", "base");
    return command->run_base ? copy_git_tags(taker, err) : 0;
}

static void close_taker(struct taker *taker) {
    for (int side = 0; side < GATE_SIDES; side++) {
        split_free(taker->words[side]);
        run_tags_free(&taker->tags[side]);
    }
}

/* A program that fails did other work than one that succeeds. Its run stays in the warehouse. */
static int check_end(const struct taken_run *taken, const char *program, struct error *err) {
    char *failure = taken_run_failure(taken);
    if (!failure) return 0;
    taken_run_print_said(taken, "  ", stderr);
    error_fail(err, "%s ended with %s (run %lld): its figures cannot be compared", program, failure,
               (long long)taken->run_id);
    free(failure);
    return -1;
}

static int take_one(struct taker *taker, enum gate_side side, int64_t *run_id, struct error *err) {
    struct session *session = taker->session;
    const struct take_run wanted = {
        .database = session->command->db, .command = taker->words[side], .tags = &taker->tags[side]};
    struct taken_run taken;
    int code = take_run(&wanted, &session->stop, &taken, err);
    if (code == 0) code = check_end(&taken, taker->words[side][0], err);
    *run_id = taken.run_id;
    taken_run_free(&taken);
    return code;
}

static int take_into(struct taker *taker, enum gate_side side, struct error *err) {
    int64_t run_id;
    if (take_one(taker, side, &run_id, err) < 0) return -1;
    add_id(&taker->session->sides[side], run_id);
    return 0;
}

/* Says what the latest run changed. */
static void show_progress(const struct taker *taker, const char *what) {
    const struct session *session = taker->session;
    if (session->command->quiet) return;
    fprintf(stderr, "gate: %s %lld of at most %lld: %s\n", what, (long long)taker->taken,
            (long long)session->command->runs_max, gate_word(session->gate.verdict));
}

/* One more run a side, old first, and a new judgement. */
static int take_round(struct taker *taker, struct error *err) {
    struct session *session = taker->session;
    if (taker->words[GATE_OLD] && take_into(taker, GATE_OLD, err) < 0) return -1;
    if (take_into(taker, GATE_NEW, err) < 0 || judge(session, 0, err) < 0) return -1;
    taker->taken++;
    show_progress(taker, "run");
    return 0;
}

/* Asks a fresh run. It joins the others afterwards only where it did not confirm, because then they go on. */
static int confirm(struct taker *taker, bool *is_confirmed, struct error *err) {
    struct session *session = taker->session;
    int64_t fresh;
    if (take_one(taker, GATE_NEW, &fresh, err) < 0 || judge(session, fresh, err) < 0) return -1;
    taker->taken++;
    show_progress(taker, "confirming run");
    *is_confirmed = session->gate.verdict == GATE_FAIL;
    if (!*is_confirmed) add_id(&session->sides[GATE_NEW], fresh);
    return 0;
}

static int take_until_sure(struct taker *taker, struct error *err) {
    const struct session *session = taker->session;
    bool is_confirmed = false;
    int code = 0;
    while (code == 0 && !is_confirmed) {
        const struct gate *gate = &session->gate;
        bool is_judged = gate->options != NULL;
        if (is_judged && gate->verdict == GATE_FAIL)
            code = confirm(taker, &is_confirmed, err);
        else if ((is_judged && gate->is_sure) || taker->taken >= session->command->runs_max)
            break;
        else
            code = take_round(taker, err);
    }
    return code;
}

static int take_runs(struct session *session, struct error *err) {
    struct taker taker;
    int code = open_taker(&taker, session, err);
    if (code == 0) code = stop_watch(&session->stop, err);
    if (code == 0) {
        code = take_until_sure(&taker, err);
        stop_end(&session->stop);
    }
    close_taker(&taker);
    return code;
}

/* ---- the command ---- */

/* Without a warehouse, the rules are those that a new one would have. */
static int open_for_rules(struct db *db, const char *option, struct error *err) {
    struct error ignored = {0};
    if (cli_is_store(option) || access(cli_database(option), F_OK) == 0) return cli_open(db, option, DB_READ, err);
    if (db_open_private(db, "rules", err) < 0) return -1;
    if (config_apply(cli_config(), db, err) == 0) return 0;
    db_close(db, &ignored);
    return -1;
}

static int list_rules(const struct gate_command *command, struct error *err) {
    struct db db;
    struct buffer text = {0};
    if (open_for_rules(&db, command->db, err) < 0) return -1;
    int code = rules_text(&db, command->json, &text, err);
    if (code == 0) fwrite(text.data, 1, text.size, stdout);
    buffer_free(&text);
    return db_close(&db, err) < 0 ? -1 : code;
}

static int check_options(const struct gate_command *command, struct error *err) {
    if (command->list) return command->set ? error_usage(err, "--list takes no SET") : 0;
    if (!command->set && !command->run) return error_usage(err, "no runs: name a SET, or --run COMMAND");
    if (command->run_base && !command->run) return error_usage(err, "--run-base needs --run");
    return 0;
}

/* Without --base, the rules may name one. */
static int find_base(struct gate_command *command, struct error *err) {
    struct gate_rule *rules;
    size_t count;
    bool are_own;
    struct db db;
    if (command->base) return 0;
    if (open_for_rules(&db, command->db, err) < 0) return -1;
    int code = gates_load(&db, &rules, &count, &are_own, err);
    if (code == 0) {
        code = gates_base(rules, count, &command->rules_base, err);
        gates_free_all(rules, count);
    }
    if (db_close(&db, err) < 0) code = -1;
    command->base = command->rules_base;
    if (code < 0 || command->base) return code;
    return error_usage(err,
                       "--base SET is missing: the runs to compare with, such as tag:git_branch=main,last=20; no rule "
                       "of the gate has a `base:` either");
}

static int exit_status(enum gate_verdict verdict) {
    return verdict == GATE_FAIL ? EXIT_FAIL : verdict == GATE_UNDECIDED ? EXIT_UNDECIDED : EXIT_PASS;
}

static bool wants_colour(void) {
    const char *no_color = getenv("NO_COLOR");
    return !(no_color && *no_color) && terminal_is_shown(stdout);
}

static int compare(const struct gate_command *command, struct error *err) {
    struct session session = {.command = command, .root = source_root(command)};
    session.options = (struct gate_options){.timeout_ns = command->timeout_ns,
                                            .looks = command->run ? command->runs_max : 1,
                                            .root = session.root,
                                            .is_whole = command->all,
                                            .colour = wants_colour()};
    session.options.sides[GATE_OLD].name = command->base;
    session.options.sides[GATE_NEW].name = command->set ? command->set : "--run";
    int code = judge(&session, 0, err);
    if (code == 0 && command->run) code = take_runs(&session, err);
    if (code == 0) code = write_reports(&session.gate, command, err);
    if (code == 0) code = exit_status(session.gate.verdict);
    gate_free(&session.gate);
    free_options(&session.options);
    for (int side = 0; side < GATE_SIDES; side++)
        free(session.sides[side].items);
    free(session.root);
    if (code < 0 && session.stop.signal) stop_exit(&session.stop);
    return code;
}

int command_gate(int argc, char **argv, struct error *err) {
    struct gate_command command = {.runs_max = 10, .timeout_ns = (int64_t)ASK_TIMEOUT_S * 1000000000};
    if (cli_options(&argc, argv, &command, err) < 0) return -1;
    if (cli_at_most(1, argc, argv, err) < 0) return -1;
    command.set = argv[1];
    int code = check_options(&command, err);
    if (code == 0 && command.run) code = cli_need_file(command.db, err);
    if (code == 0 && !command.list) code = find_base(&command, err);
    if (code == 0) code = command.list ? list_rules(&command, err) : compare(&command, err);
    run_tags_free(&command.tags);
    free(command.rules_base);
    return code;
}
