#include "cli/passing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"

void passing_remove(struct passing *passing) {
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; passing->db && i < sizeof endings / sizeof *endings; i++) {
        char *file = xasprintf("%s%s", passing->db, endings[i]);
        (void)unlink(file);
        free(file);
    }
    if (passing->directory) (void)rmdir(passing->directory);
    free(passing->db);
    free(passing->directory);
    *passing = (struct passing){0};
}

int passing_make(struct passing *passing, struct error *err) {
    const char *parent = getenv("TMPDIR");
    char *directory = xasprintf("%s/clear-runs-XXXXXX", parent && *parent ? parent : "/tmp");
    if (!mkdtemp(directory)) {
        error_fail(err, "%s: %s (TMPDIR names another directory)", directory, strerror(errno));
        free(directory);
        return -1;
    }
    passing->directory = directory;
    passing->db = xasprintf("%s/runs.sqlite", directory);
    return 0;
}

/* With its message, which names the file. */
static int fail_as(const struct error *ingest, struct error *err) {
    static const char before[] = " failed: clear: ";
    const char *message = strstr(ingest->message, before);
    return error_fail(err, "%s", message ? message + sizeof before - 1 : ingest->message);
}

/* The numbers in "FILE: run 2, pprof, 9 rows" and "FILE: already in the warehouse as run 2", of each line. */
static void add_runs(const struct buffer *said, struct buffer *runs) {
    for (const char *line = said->size ? said->data : ""; *line;) {
        const char *end = line + strcspn(line, "\n"), *found = NULL;
        for (const char *at = line; (at = strstr(at, " run ")) && at < end; at++)
            found = at + strlen(" run ");
        if (found) buffer_printf(runs, "%s%.*s", runs->size ? "," : "", (int)strspn(found, "0123456789"), found);
        line = end + (*end == '\n');
    }
}

enum { WORDS_MAX = 18 };

/* By clear ingest, so that it is read as it is everywhere. */
static int ingest(const struct passing *passing, const char *name, const struct passing_reading *reading,
                  struct buffer *said, struct error *err) {
    static const struct child_limits limits = {.output_max = 1 << 20, .seconds = 3600};
    const char *words[WORDS_MAX] = {"/proc/self/exe", "ingest", "--db", passing->db};
    const struct fetch_options none = {0}, *fetch = reading->fetch ? reading->fetch : &none;
    char *seconds = fetch->seconds ? xasprintf("%" PRId64, fetch->seconds) : NULL;
    char *timeout = fetch->timeout_s ? xasprintf("%" PRId64, fetch->timeout_s) : NULL;
    const char *const options[][2] = {{"--binary", reading->program},  {"--seconds", seconds},
                                      {"--timeout", timeout},          {"--tls_ca", fetch->tls_ca},
                                      {"--tls_cert", fetch->tls_cert}, {"--tls_key", fetch->tls_key}};
    size_t count = 4;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (!options[i][1]) continue;
        words[count++] = options[i][0];
        words[count++] = options[i][1];
    }
    words[count++] = "--";
    words[count] = name;
    enum child_end end = child_read(words, NULL, &limits, said, err);
    free(seconds);
    free(timeout);
    return end == CHILD_DONE ? 0 : end == CHILD_MISSING ? error_fail(err, "/proc is missing") : -1;
}

/* With a program, clear ingest refuses a profile of which it names nothing: that one has its names. */
int passing_read(struct passing *passing, const char *name, const struct passing_reading *reading, struct buffer *runs,
                 struct error *err) {
    struct passing_reading as = reading ? *reading : (struct passing_reading){0};
    struct buffer said = {0};
    struct error why = {0};
    if (!passing->db && passing_make(passing, err)) return -1;
    int code = ingest(passing, name, &as, &said, &why);
    if (code && as.program) {
        as.program = NULL;
        buffer_clear(&said);
        why = (struct error){0};
        code = ingest(passing, name, &as, &said, &why);
    }
    if (code == 0 && runs) add_runs(&said, runs);
    buffer_free(&said);
    return code ? fail_as(&why, err) : 0;
}
