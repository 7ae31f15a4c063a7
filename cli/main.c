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

#define REPORT_USAGE                                                                                                   \
    "Formats: text (top), tree, peek=RE, list=RE, weblist=RE, disasm=RE, traces, tags, raw, comments, dot, svg, "      \
    "png,\n"                                                                                                           \
    "pdf, ps, gif, callgrind, proto, topproto, folded, json. Options take one dash or two, and NAME=VALUE or NAME "    \
    "VALUE.\n"                                                                                                         \
    "\n" DB_USAGE                                                                                                      \
    "  --kind KIND          which profile of the runs: heap (default), cpu, lock, ... as far as they have it\n"        \
    "  -o, --output FILE    where to write; default and - are standard output\n"                                       \
    "  --base TARGET        take this away, may be given again\n"                                                      \
    "  --diff_base TARGET   the same; percentages are of it\n"                                                         \
    "  --normalize          scale to the total of the base first\n"                                                    \
    "  --cum, --flat        sort by cumulative or own (default) value\n"                                               \
    "  --functions, --filefunctions, --files, --lines, --addresses\n"                                                  \
    "                       what is one line; default functions\n"                                                     \
    "  --noinlines          count inlined functions for their callers\n"                                               \
    "  --nodecount N        most lines shown (text: all, others: 80)\n"                                                \
    "  --nodefraction F     leave out what is below this part of the total (0.005)\n"                                  \
    "  --edgefraction F     leave out calls below this part of the total (0.001)\n"                                    \
    "  --trim BOOL          false: leave out nothing\n"                                                                \
    "  --all                leave out nothing, print whole numbers, and say whether the figures are exact\n"           \
    "  --over-runs          top, json: mean and standard deviation of each function over the runs, and in how many "   \
    "it is\n"                                                                                                          \
    "  --by-tag KEY         top, json: a column for each value of a tag of the runs, else of a label of the samples\n" \
    "  --columns N          most of them (8): the newest values of a tag, the largest of a label; the rest is one\n"   \
    "  --call_tree          a node for each path, in pictures and callgrind\n"                                         \
    "  --relative_percentages  percentages of what is focused\n"                                                       \
    "  --compact_labels     short header\n"                                                                            \
    "  --unit U             unit of the values: ms, MB, auto, minimum (default)\n"                                     \
    "  --divide_by N        divide all values\n"                                                                       \
    "  --mean               divide each value by the first one, a count\n"                                             \
    "  --sample_index V     which value: its name, or number from 0\n"                                                 \
    "  --drop_negative      leave out what became less\n"                                                              \
    "  --focus RE           only samples through a frame that matches (function, file or binary)\n"                    \
    "  --ignore RE          no samples through a frame that matches\n"                                                 \
    "  --show RE, --hide RE only, or no frames that match\n"                                                           \
    "  --show_from RE       no frames above the highest that matches\n"                                                \
    "  --prune_from RE      no frames below the first that matches\n"                                                  \
    "  --tagfocus T         only samples with such tags: RE, RE,RE, KEY=RE, 128kb:512kb, KEY=1ms:\n"                   \
    "  --tagignore T        no samples with such tags\n"                                                               \
    "  --tagshow RE, --taghide RE  only, or no tags whose key matches\n"                                               \
    "  --tagroot KEYS, --tagleaf KEYS  frames of these tags' values at the root or leaf\n"                             \
    "  --source_path PATHS, --trim_path PATHS  where sources are, and what to take off their names\n"                  \
    "  --intel_syntax       machine code as Intel writes it\n"                                                         \
    "  --tools DIRS         where objdump and addr2line are (default: $PPROF_TOOLS, else PATH)\n"                      \
    "  --add_comment TEXT   say this too\n"                                                                            \
    "  --buildid HEX        build id of the program; its file is an ELF file before the targets, as in pprof\n"        \
    "  --seconds N          of a URL: let the server record for N seconds; --timeout N: wait so long for its answer\n" \
    "  --tls_cert F, --tls_key F, --tls_ca F  PEM files: our certificate and its key, and whom to trust\n"             \
    "  --symbolize MODE     as pprof; changes nothing, names are made when a run is recorded or read\n"                \
    "  -h, --help           this text\n"                                                                               \
    "\n" RUN_USAGE

#define RUNS_USAGE                                                                                                     \
    "RUNS is a RUN, A..B, all, all:LABEL, tag:TAG=VALUE, last=N (the newest of those before it, or of all), or "       \
    "several\n"                                                                                                        \
    "of these with commas: tag:branch=main,last=20.\n"

const struct command commands[] = {
    {"profile", command_profile, "run a program and record heap, locks, cells, channels and CPU time",
     "usage: clear profile [OPTION]... TARGET [-- ARGS...]\n"
     "\n"
     "Runs TARGET (a path, or a name looked up in PATH) and writes what it allocated, which locks it took, where its "
     "CPU\n"
     "time went and what it told through clear.h (cells, channels, fibers) into the warehouse, and the text dumps and\n"
     "pprof profiles of the run into NAME.profile/. Exits as TARGET did.\n"
     "A source file (.c, .cc, .cpp, .cxx, .rs, .zig; others, such as .cht, by `toolchain:` in clear.yaml) is built "
     "first, in\n"
     "a private directory. A program that dumps by itself (CLEAR_ALLOC_PROFILE and so on) is told to, and its dumps go "
     "into\n"
     "the run in the place of what was recorded of those kinds.\n"
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
     "  --http ADDRESS       serve the run while it is recorded, as clear serve does (127.0.0.1:6060, :0)\n"
     "  --http-anywhere      allow an ADDRESS that other machines can reach\n"
     "  --http-token FILE    a line of FILE is the token with which a POST to /debug/pprof/toggle switches recording "
     "off\n"
     "                       and on; else that of $CLEAR_HTTP_TOKEN, else a new one, which is printed\n"
     "  -o, --output DIR     the directory to write instead of NAME.profile/\n"
     "  -q, --quiet          no summary on standard error\n"
     "  -h, --help           this text\n"},
    {"ingest", command_ingest, "read profiles of other tools: pprof, perf.data, folded stacks, dumps",
     "usage: clear ingest [OPTION]... PATH...\n"
     "\n"
     "Each file becomes a run, and so does a directory NAME.profile/; other directories stand for the files below "
     "them,\n"
     "- is standard input, http:// and https:// are asked. The format is recognised by content. The same bytes a "
     "second time change nothing. A file\n"
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
     "\n" DB_USAGE "  --kind KIND          which profile of the runs: heap, lock, mvcc, channels, cpu, mutex and block "
     "(as Go has them), or\n"
     "                       another kind they have\n"
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
     "\n" RUN_USAGE RUNS_USAGE},
    {"serve", command_serve, "serve runs over HTTP, live ones too, where Go's pprof and scrapers look for them",
     "usage: clear serve [OPTION]...\n"
     "\n"
     "Answers at /debug/pprof/heap, allocs, mutex, block, profile, cells, channels and others as Go's net/http/pprof "
     "does;\n"
     "/debug/pprof/ lists them and the runs. ?run=RUN is a run (default: the latest), ?seconds=N what happens in the "
     "next\n"
     "N seconds of one that is being recorded, ?from=10s&to=20s what happened then, ?debug=1 is text, and ?format=F "
     "as\n"
     "for clear export. /debug/pprof/delta_heap, delta_mutex and delta_block tell what happened since they were last "
     "asked.\n"
     "Ends with Ctrl-C.\n"
     "\n" DB_USAGE "  --http ADDRESS       where to listen, HOST:PORT (default 127.0.0.1:6060); port 0 is any free "
     "one\n"
     "  --http-anywhere      allow an ADDRESS that other machines can reach: they can then read the profiles\n"
     "  -h, --help           this text\n"
     "\n"
     "go tool pprof http://127.0.0.1:6060/debug/pprof/heap\n"},
    {"doctor", command_doctor, "say what is wrong with a run, and what proves it",
     "usage: clear doctor [OPTION]... [RUN]\n"
     "       clear doctor [OPTION]... [OLD] --diff NEW\n"
     "\n"
     "Prints the diagnoses of a run (default: the latest), worst first: figures, stack, advice, and the command that\n"
     "exports the evidence. The same rows are the view `doctor` of the warehouse, which views doctor_NAME of your own\n"
     "join (see the manual).\n"
     "\n" DB_USAGE
     "  --diff NEW           what changed from OLD to NEW instead: each a RUN, a file, RUNS, or several of these with\n"
     "                       commas. One name alone is what the latest run is held against. With several runs a side,\n"
     "                       a change is called one only outside the noise (Welch's t test)\n"
     "  --by FIGURE          bytes (default), allocs, inuse_bytes or inuse_allocs: what allocations are sorted by; "
     "adds\n"
     "                       tables of functions\n"
     "  --cumulative         tables of functions, sorted by what they and all they call cost\n"
     "  --focus RE           only stacks with a function, file or binary that matches; names of locks and cells too\n"
     "  --ignore RE          none of those; it wins over --focus\n"
     "  --peek RE            callers and callees of the functions that match, instead of the findings\n"
     "  --json               all rows, as a JSON array; an object with --diff\n"
     "  --top N              rows shown of each section (default 5; 0: all)\n"
     "  -h, --help           this text\n"
     "\n" RUN_USAGE RUNS_USAGE},
    {"report", command_report, "pprof's reports on runs: top, tree, peek, list, disasm, traces, dot, ...",
     "usage: clear report FORMAT [OPTION]... [TARGET]...\n"
     "       clear report [OPTION]... [TARGET]... [< SCRIPT]\n"
     "       clear top [OPTION]... [TARGET]...\n"
     "       clear tree [OPTION]... [TARGET]...\n"
     "       clear peek RE [OPTION]... [TARGET]...\n"
     "       clear list RE [OPTION]... [TARGET]...\n"
     "\n"
     "What go tool pprof prints for the same profile and options, from the warehouse. A TARGET is a RUN, a set of "
     "runs\n"
     "(1..20, all, all:LABEL, tag:TAG=VALUE, last=20), a file or a URL; several are added up. Default: the latest "
     "run.\n"
     "Without FORMAT a terminal gets a prompt with pprof's commands and options (top 20 main -gc, sample_index=cpu, "
     ">FILE,\n"
     "o, help) and sql, runs, use RUN; standard input that is no terminal is read as such commands, a line each: exit "
     "1\n"
     "where one of them failed.\n"
     "\n" REPORT_USAGE},
    {"top", command_top, "the functions of a run by what they cost",
     "usage: clear top [OPTION]... [TARGET]...\n"
     "\n"
     "clear report top: the same options.\n"
     "\n" REPORT_USAGE},
    {"tree", command_tree, "each function of a run with its callers and callees",
     "usage: clear tree [OPTION]... [TARGET]...\n"
     "\n"
     "clear report tree: the same options.\n"
     "\n" REPORT_USAGE},
    {"peek", command_peek, "callers and callees of the functions that match",
     "usage: clear peek RE [OPTION]... [TARGET]...\n"
     "\n"
     "clear report peek=RE: the same options.\n"
     "\n" REPORT_USAGE},
    {"list", command_list, "the functions that match, line by line with their source",
     "usage: clear list RE [OPTION]... [TARGET]...\n"
     "\n"
     "clear report list=RE: the same options. Sources are those that the runs kept, else files.\n"
     "\n" REPORT_USAGE},
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
