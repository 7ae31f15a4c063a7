#include "cli/advice.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static const struct {
    const char *name, *here;
} commands_elsewhere[] = {
    {"record", "profile PROGRAM"},
    {"run", "profile PROGRAM"},
    {"start", "profile PROGRAM"},
    {"stat", "doctor"},
    {"stats", "doctor"},
    {"summary", "doctor"},
    {"check", "doctor"},
    {"analyze", "doctor"},
    {"diff", "doctor OLD --diff NEW"},
    {"compare", "doctor OLD --diff NEW"},
    {"import", "ingest FILE"},
    {"read", "ingest FILE"},
    {"load", "ingest FILE"},
    {"annotate", "list FUNCTION"},
    {"source", "list FUNCTION"},
    {"disasm", "report disasm=FUNCTION"},
    {"script", "report traces"},
    {"callers", "peek FUNCTION"},
    {"flamegraph", "export --kind cpu -o flamegraph.svg"},
    {"svg", "export --kind cpu -o flamegraph.svg"},
    {"flame", "export --kind cpu -o flamegraph.svg"},
    {"graph", "export -o graph.dot"},
    {"perf", "profile PROGRAM"},
    {"attach", "profile PROGRAM"},
    {"weblist", "report weblist=FUNCTION"},
    {"heap", "top --kind heap"},
    {"locks", "top --kind lock"},
    {"leaks", "doctor"},
    {"show", "doctor"},
    {"http", "serve"},
    {"ui", "web"},
    {"view", "web"},
    {"open", "web"},
    {"timeline", "trace"},
    {"waits", "trace"},
    {"history", "trend"},
    {"plot", "trend"},
    {"ci", "gate"},
    {"assert", "gate"},
    {"delete", "rm RUN"},
    {"remove", "rm RUN"},
    {"clean", "gc"},
    {"prune", "gc"},
    {"upload", "push"},
    {"send", "push"},
    {"sync", "push"},
    {"download", "pull RUNS"},
    {"fetch", "pull RUNS"},
    {"ls", "runs"},
    {"log", "runs"},
    {"sql", "query SQL"},
    {"sqlite3", "shell"},
    {"strace", "profile --syscalls PROGRAM"},
    {"archive", "export"},
};

const char *advice_command(const char *name) {
    for (size_t i = 0; i < sizeof commands_elsewhere / sizeof *commands_elsewhere; i++)
        if (strcmp(commands_elsewhere[i].name, name) == 0) return commands_elsewhere[i].here;
    return NULL;
}

/* `commands` are the ones that it is said for, each between blanks. */
static const struct {
    const char *commands, *option, *text;
} options_elsewhere[] = {
    {" profile ", "--call-graph", "every figure has its call stack; --depth N says how many frames are kept"},
    {" profile ", "--freq", "the samples a second are --cpu=HZ, or -F HZ"},
    {" profile ", "-c", "the samples a second are --cpu=HZ, or -F HZ"},
    {" profile ", "--event", "--cpu=perf samples with perf, --counters counts events"},
    {" profile ", "-e", "--cpu=perf samples with perf, --counters counts events"},
    {" profile ", "--heap",
     "allocations and locks are recorded without an option; --no-heap and --no-locks leave them out"},
    {" profile ", "--memory",
     "allocations and locks are recorded without an option; --no-heap and --no-locks leave them out"},
    {" profile ", "--mem",
     "allocations and locks are recorded without an option; --no-heap and --no-locks leave them out"},
    {" profile ", "--alloc",
     "allocations and locks are recorded without an option; --no-heap and --no-locks leave them out"},
    {" profile ", "--locks",
     "allocations and locks are recorded without an option; --no-heap and --no-locks leave them out"},
    {" profile ", "--lock",
     "allocations and locks are recorded without an option; --no-heap and --no-locks leave them out"},
    {" profile ", "-a", "one program is recorded, with the processes that it starts, and never the whole system"},
    {" doctor top tree peek list report export shell ", "--label", "name the run by it, as in clear doctor LABEL"},
    {" doctor top tree peek list report export shell ", "--lable",
     "name the run by its label, as in clear doctor LABEL"},
    {" doctor top tree peek list report export shell ", "--tag", "name the run by it, as in clear doctor KEY=VALUE"},
    {" doctor top tree peek list report export ", "--last", "name the runs by it, as in clear top last=5"},
    {" doctor top tree peek list report export ", "--run", "name the run without an option, as in clear doctor 5"},
    {" doctor top tree peek list report export ", "-r", "name the run without an option, as in clear doctor 5"},
    {" doctor top tree peek list report export ", "-i", "name the file without an option, as in clear top ./perf.data"},
    {" doctor top tree peek list report export ", "--input", "name the file without an option: clear top ./perf.data"},
    {" top list report ", "-g", "callers and callees are in clear tree and clear peek"},
    {" top list report ", "-p", "one function with its callers is clear peek FUNCTION; -focus REGEX filters"},
    {" top tree peek list report ", "--stdio", "reports are text already"},
    {" top tree peek list report export ", "--full-names",
     "names are full here; clear doctor shortens those of C++ and Rust"},
    {" top tree peek list report ", "--diff",
     "two runs are compared by clear doctor OLD --diff NEW, or -diff_base OLD"},
    {" doctor ", "--kind", "all kinds are judged; one kind alone is clear top --kind KIND"},
    {" export ", "--run", "name the run without an option, as in clear export 5 --kind heap -o heap.pb.gz"},
    {" export ", "--svg", "the ending names the format: -o NAME.svg"},
    {" export ", "--png", "the ending names the format: -o NAME.png"},
    {" export ", "--pdf", "the ending names the format: -o NAME.pdf"},
    {" serve web ", "--port", "the address is --http PORT, or --http HOST:PORT"},
    {" serve web ", "--host", "the address is --http HOST:PORT"},
    {" serve web ", "-p", "the address is --http PORT, or --http HOST:PORT"},
    {" profile ", "--outputdir", "the directory of the profiles is -o DIR"},
    {" profile ", "--output-dir", "the directory of the profiles is -o DIR"},
    {" profile ", "--duration",
     "the program runs to its end, or until Ctrl-C; timeout 5s clear profile PROGRAM ends it"},
    {" runs ", "--limit", "the newest N are --last N, or -n N"},
};

const char *advice_option(const char *command, const char *option) {
    char *between = xasprintf(" %s ", command);
    const char *text = NULL;
    for (size_t i = 0; i < sizeof options_elsewhere / sizeof *options_elsewhere && !text; i++)
        if (strcmp(options_elsewhere[i].option, option) == 0 && strstr(options_elsewhere[i].commands, between))
            text = options_elsewhere[i].text;
    free(between);
    return text;
}
