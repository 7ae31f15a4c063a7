/* clear: the commands, one table row each, and how one is chosen. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "cli/cli.h"

#define DB_USAGE                                                                                                       \
    "  --db FILE            the warehouse (default: $CLEAR_DB, else the configuration's, else runs.sqlite)\n"          \
    "  --config FILE        the configuration (default: clear.yaml from here upward, else ~/.config/clear/)\n"
#define RUN_USAGE                                                                                                      \
    "A run is named by latest, latest~N, its number, its label, TAG=VALUE, or the start of its uuid. Where no run "    \
    "is\n"                                                                                                             \
    "called so, RUN may be a file or NAME.profile/ that ingest reads: it is used without being kept in the "           \
    "warehouse,\n"                                                                                                     \
    "which need not exist. ./RUN, /RUN and - (standard input) are always files.\n"

const struct command commands[] = {
    {"profile", command_profile, "run a program and record heap, locks, cells, channels and CPU time",
     "usage: clear profile [OPTION]... TARGET [-- ARGS...]\n"
     "\n"
     "Runs TARGET (a path, or a name looked up in PATH) and writes what it allocated, which locks it took, where its "
     "CPU\n"
     "time went and what it told through clear.h (cells, channels, fibers) into the warehouse, and the text dumps and\n"
     "pprof profiles of the run into NAME.profile/. Exits as TARGET did.\n"
     "\n" DB_USAGE "  --label L            a name for the run, to ask for it by\n"
     "  --tag K=V            a tag for the run, such as commit=1a2b3c; may be given again\n"
     "  --sample N           record every Nth event of heap, locks and cells, and count it N times\n"
     "  --sample SIZE        record allocations by chance, one in SIZE bytes on average (512KiB), scaled up by their "
     "odds\n"
     "  --sync-callstacks    a row for each lock or cell and caller; implies --sample=100 unless it is given\n"
     "  --cpu HZ|off|perf    samples a second of CPU time (default 99), or none, or by perf record\n"
     "  --no-heap            leave allocations alone\n"
     "  --no-locks           leave mutexes, rwlocks and spinlocks alone\n"
     "  --follow all|none    record the processes that the target forks (default all), or itself alone\n"
     "  --start on|off       begin with recording on or off; SIGUSR2 to clear then switches it, off and on\n"
     "  --counters           hardware and software counters of the run, by perf stat\n"
     "  --syscalls           system calls, by strace -c in a second execution whose output is discarded\n"
     "  --interval S         seconds between flushes (default 1, at least 10ms); each stores a window: what changed "
     "since\n"
     "                       the last one\n"
     "  --windows N|all      windows kept of a kind and process (default 64); older ones are folded together\n"
     "  --keep TIME          keep all windows of the last TIME (10m), and one of what was before\n"
     "  --depth N            frames kept of a stack (default 64, at most 1024)\n"
     "  --profile-max N      distinct stacks and objects kept per process (default 0: no cap)\n"
     "  -o, --output DIR     the directory to write instead of NAME.profile/\n"
     "  -q, --quiet          no summary on standard error\n"
     "  -h, --help           this text\n"},
    {"ingest", command_ingest, "read profiles of other tools: pprof, perf.data, folded stacks, dumps",
     "usage: clear ingest [OPTION]... PATH...\n"
     "\n"
     "Each file becomes a run, and so does a directory NAME.profile/; other directories stand for the files below "
     "them,\n"
     "- is standard input, http:// and https:// are asked. The format is recognised by content. The same bytes a second time change nothing. A file\n"
     "that is broken leaves nothing behind, one line says where and why, and the others are read all the same (exit "
     "1).\n"
     "\n" DB_USAGE "  --label L            a name for the runs, to ask for them by\n"
     "  --tag K=V            a tag for the runs, such as commit=1a2b3c; may be given again\n"
     "  --time T             when it was taken, instead of what the file says: 2024-05-01 13:04:59, with Z behind it "
     "for\n"
     "                       UTC, or @SECONDS since 1970\n"
     "  --cumulative         snapshots of one process that count from its start (Go's heap, mutex, block), oldest\n"
     "                       first: store what each adds to the ones before it under the same label\n"
     "  --seconds N          of a URL: let the server record for N seconds\n"
     "  --timeout N          of a URL: wait so many seconds for the answer (default 60, or half as long again as it "
     "records)\n"
     "  --tls_ca FILE        trust these authorities; --tls_cert FILE --tls_key FILE: show this certificate (PEM)\n"
     "  --lenient            skip broken rows of text formats, and count them\n"
     "  -q, --quiet          print nothing but errors\n"
     "  -h, --help           this text\n"
     "\n"
     "Formats: pprof (plain or gzip) and what pprof read before it, perf.data, folded stacks, the text dumps of CLEAR "
     "and\n"
     "NAME.profile/ directories.\n"},
    {"runs", command_runs, "list the runs in the warehouse",
     "usage: clear runs [OPTION]...\n"
     "\n"
     "One line a run, the newest first.\n"
     "\n" DB_USAGE "  --json               as a JSON array\n"
     "  -h, --help           this text\n"},
    {"query", command_query, "ask the warehouse in SQL, read-only",
     "usage: clear query [OPTION]... SQL [NAME=VALUE]...\n"
     "       clear query [OPTION]... -f FILE [NAME=VALUE]...\n"
     "       clear query [OPTION]... @SAVED [NAME=VALUE]...\n"
     "       clear query --list | --save NAME [--description D] SQL [NAME=VALUE]... | --forget NAME\n"
     "\n"
     "Runs one SELECT over every run. SQL may be - for standard input. A parameter :NAME of the SQL is bound to "
     "VALUE;\n"
     "run=RUN binds the id of a run, and :run is the latest one where nothing was given. @SAVED is a saved query, as\n"
     "in clear query @hot-sites run=latest~1 top=5.\n"
     "\n" DB_USAGE "  -f, --file FILE      read the SQL from FILE (- is standard input)\n"
     "  --list               list the saved queries, their parameters and what they answer\n"
     "  --save NAME          keep SQL in the warehouse as @NAME; each NAME=VALUE is the default of a parameter\n"
     "  --description D      one line about it, for --list\n"
     "  --forget NAME        remove a query that was saved\n"
     "  --format F           table (default), csv, json, jsonl or markdown\n"
     "  --json               the same as --format json\n"
     "  --human              in a table, units for columns named _bytes and _ns, and thousands separated\n"
     "  --no-header          table and csv without the names of the columns\n"
     "  --timeout S          give up after S seconds (default 30; 0: never)\n"
     "  -h, --help           this text\n"
     "\n" RUN_USAGE "Tables and views: clear schema\n"},
    {"shell", command_shell, "open the warehouse in sqlite3, read-only, saved queries as views",
     "usage: clear shell [OPTION]... [SQL]...\n"
     "\n"
     "Starts the stock sqlite3 on the warehouse, which it can only read, with headers. Each saved query whose\n"
     "parameters have defaults is a view there: @hot-sites is hot_sites. SQL is run instead of asking for it.\n"
     "\n" DB_USAGE "  -h, --help           this text\n"},
    {"schema", command_schema, "print the tables and views, each column explained",
     "usage: clear schema [OPTION]... [NAME]...\n"
     "\n"
     "Prints the SQL of every table and view of the warehouse, or of those named, with the comments that say what\n"
     "each column means and in which unit it is. Without a warehouse, that of a new one.\n"
     "\n" DB_USAGE "  -h, --help           this text\n"},
    {"export", command_export, "write runs, or any query's result, as a pprof profile or a picture",
     "usage: clear export [OPTION]... [RUNS]... --kind KIND -o FILE\n"
     "       clear export [OPTION]... --sql SQL [NAME=VALUE]... -o FILE\n"
     "       clear export [OPTION]... --query NAME [NAME=VALUE]... -o FILE\n"
     "       clear export [OPTION]... [RUN] -o DIRECTORY/\n"
     "\n"
     "Writes one profile of all that was named. Of a query, the column trace_id (or stack) is the stack, a column "
     "named\n"
     "TYPE/UNIT or with numbers a value, label:KEY a label, any other text a frame, left of the stack towards the "
     "root:\n"
     "clear export --sql 'SELECT trace_id, sum(alloc_bytes) AS \"alloc_space/bytes\" FROM sites GROUP BY 1' -o "
     "x.pb.gz\n"
     "\n" DB_USAGE
     "  --kind KIND          which profile of the runs: heap, lock, mvcc, channels, cpu, or another kind they have\n"
     "  --sql SQL            the query whose rows are the samples; its :run is run=RUNS, once for each run\n"
     "  --query NAME         a saved query (clear query lists them), likewise\n"
     "  --from T, --to T     what happened between, as whole windows: those that end after --from and up to --to. T is "
     "since\n"
     "                       the start of the run (10s), or a moment (2026-11-21T12:00:00Z). In use is the state at "
     "--to\n"
     "  --window N           one window (clear query @run-windows lists them); -1 is the last one\n"
     "  --base RUNS|SQL      take these runs, or the rows of this query, away: values are differences, as with\n"
     "                       pprof -diff_base\n"
     "  --format F           pprof (default), folded, flamegraph, callgrind, speedscope, dot, csv, json, dump "
     "(CLEAR's\n"
     "                       text dump of a run's heap or lock), datasette-metadata; else what the end of FILE says\n"
     "  --type TYPE          the value that pprof shows first, and that a format with a single one shows\n"
     "  --title TEXT         the head of a picture\n"
     "  --level N            gzip's level, 1 (fast) to 9 (small); default 3\n"
     "  -o, --output FILE    where to write; - is standard output, and the default of formats that are text. A "
     "DIRECTORY/\n"
     "                       gets all kinds and dumps of a run\n"
     "  -h, --help           this text\n"
     "\n" RUN_USAGE "RUNS is a RUN, A..B, all, all:LABEL, all:TAG=VALUE, or several of these with commas.\n"},
    {"doctor", command_doctor, "say what is wrong with a run, and what proves it",
     "usage: clear doctor [OPTION]... [RUN]\n"
     "\n"
     "Prints the diagnoses of a run (default: the latest), worst first: figures, stack, advice, and the command that\n"
     "exports the evidence. The same rows are the view `doctor` of the warehouse.\n"
     "\n" DB_USAGE "  --json               all rows as a JSON array\n"
     "  --top N              findings shown of each section (default 5; 0: all)\n"
     "  -h, --help           this text\n"
     "\n" RUN_USAGE},
    {"help", command_help, "explain a command",
     "usage: clear help [COMMAND]\n"
     "       clear help --complete [COMMAND]\n"
     "\n"
     "  --complete           the names of the commands, or the options of COMMAND, a line each: for shells\n"
     "  -h, --help           this text\n"},
    {"version", command_version, "say which clear this is and what it is made of",
     "usage: clear version\n"
     "\n"
     "  -h, --help           this text\n"},
    {0},
};

void cli_print_help(FILE *out) {
    fputs("usage: clear COMMAND [OPTION]... [ARGUMENT]...\n"
          "\n"
          "A profile warehouse in one SQLite file: record a program, ask in SQL, export to pprof.\n"
          "\n",
          out);
    for (const struct command *command = commands; command->name; command++)
        fprintf(out, "  %-8s  %s\n", command->name, command->help);
    fputs("\n"
          "clear COMMAND --help explains a command; a unique prefix of its name is enough. clear --version.\n"
          "clear --config FILE COMMAND: with that configuration instead of the clear.yaml that is found.\n"
          "clear alone, on a terminal, clears the screen.\n",
          out);
}

/* ---- choosing a command ---- */

static const struct command *unknown(const char *name, struct error *err) {
    struct nearest nearest = {.word = name};
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

/* What ncurses' clear(1) writes for every terminal that is in use today: home, erase, and the scrollback (E3) too. */
static int clear_screen(int keep_scrollback) {
    fputs(keep_scrollback ? "\033[H\033[2J" : "\033[H\033[2J\033[3J", stdout);
    return 0;
}

static int without_command(int argc, char **argv) {
    int keep_scrollback = argc == 2 && strcmp(argv[1], "-x") == 0; /* an option of that clear(1) */
    if (isatty(STDOUT_FILENO) && (argc == 1 || keep_scrollback)) return clear_screen(keep_scrollback);
    cli_print_help(stderr);
    return ERROR_USAGE;
}

static int run(const struct command *command, int argc, char **argv) {
    struct error err = {0};
    argv[0] = (char *)command->name;
    optind = 0;
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

static int choose(int argc, char **argv);

static int with_config(int argc, char **argv) {
    struct error err = {0};
    if (argc < 4)
        error_usage(&err, "clear --config FILE COMMAND: a file and a command are wanted");
    else if (cli_load_config(argv[2], &err) == 0)
        return choose(argc - 2, argv + 2);
    fprintf(stderr, "clear: %s%s\n", err.message, err.status == ERROR_USAGE ? " (see clear --help)" : "");
    return (int)err.status;
}

static int choose(int argc, char **argv) {
    struct error err = {0};
    if (argc == 1 || (argc == 2 && strcmp(argv[1], "-x") == 0)) return without_command(argc, argv);
    if (strcmp(argv[1], "--config") == 0) return with_config(argc, argv);
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) name = "help";
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) name = "version";
    if (*name == '-')
        error_usage(&err, "unknown option %s", name);
    else {
        const struct command *command = cli_find(name, &err);
        if (command) return run(command, argc - 1, argv + 1);
    }
    fprintf(stderr, "clear: %s (see clear --help)\n", err.message);
    return (int)err.status;
}

/* A full disk shows itself only when the buffer goes out. A reader that went away (EPIPE) wants to hear nothing. */
static int finish(int status) {
    bool failed = ferror(stdout) != 0;
    errno = 0;
    if (fflush(stdout) == 0 && !failed) return status;
    if (errno != EPIPE) fprintf(stderr, "clear: standard output: %s\n", errno ? strerror(errno) : "cannot be written");
    return status ? status : ERROR_FAILURE;
}

int main(int argc, char **argv) {
    return finish(choose(argc, argv));
}
