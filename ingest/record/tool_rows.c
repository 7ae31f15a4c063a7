/* tool_rows.c: stores the output of `perf stat -x;` and `strace -c -U calls,time-total,name,errors`. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/read/ingest.h"
#include "ingest/read/readers.h"
#include "ingest/record/tools.h"
#include "ingest/writer/run_seal.h"

struct tool_import {
    struct db *db;
    int64_t profile_id;
    const char *path;
    int line;
};

static int insert_profile(struct tool_import *import, int64_t run_id, const char *kind, struct error *err) {
    sqlite3_stmt *statement =
        db_prepare(import->db,
                   "INSERT INTO profiles(run_id, kind, time_ns, duration_ns, period)"
                   " SELECT id, :kind, started_ns + duration_ns, duration_ns, 1 FROM runs WHERE id = :run",
                   err);
    if (!statement) return -1;
    db_bind_int(statement, ":run", run_id);
    db_bind_text(statement, ":kind", kind);
    if (db_run(import->db, statement, err)) return -1;
    import->profile_id = sqlite3_last_insert_rowid(import->db->handle);
    return 0;
}

static int broken(const struct tool_import *import, const char *text, struct error *err) {
    return error_fail(err, "%s:%d: cannot be parsed: %s", import->path, import->line, text);
}

/* ---- perf stat: VALUE;UNIT;EVENT;... ----------------------------------------------------------------------------- */

static int take_counter(struct tool_import *import, char *line, struct error *err) {
    char *rest = line, *value = strsep(&rest, ";"), *unit = strsep(&rest, ";"), *event = strsep(&rest, ";"), *end;
    if (!*line || *line == '#') return 0;
    if (!event || !*event) return broken(import, line, err);
    bool is_counted = *value != '<'; /* <not supported>, <not counted> */
    double number = is_counted ? strtod(value, &end) : 0;
    if (is_counted && (end == value || *end)) return broken(import, value, err);
    sqlite3_stmt *statement = db_prepare(import->db,
                                         "INSERT OR REPLACE INTO counters(profile_id, name, value, unit)"
                                         " VALUES (:profile, :name, :value, :unit)",
                                         err);
    if (!statement) return -1;
    db_bind_int(statement, ":profile", import->profile_id);
    db_bind_text(statement, ":name", event);
    if (is_counted) db_bind_real(statement, ":value", number);
    db_bind_text(statement, ":unit", *unit ? unit : "count");
    return db_run(import->db, statement, err);
}

/* ---- strace: CALLS SECONDS NAME [ERRORS] ------------------------------------------------------------------------- */

/* "0.000614" in nanoseconds; strace prints six decimals. */
static int64_t seconds_in_ns(double seconds) {
    return (int64_t)(seconds * 1e6 + 0.5) * 1000;
}

static int take_syscall(struct tool_import *import, char *line, struct error *err) {
    long long calls, errors = 0;
    double seconds;
    char name[64];
    if (!line[strspn(line, " -")] || strstr(line, "syscall  ")) return 0; /* rules, and the names of the columns */
    int found = sscanf(line, "%lld %lf %63s %lld", &calls, &seconds, name, &errors);
    if (found < 3 || calls < 0 || errors < 0 || !(seconds >= 0 && seconds < 9e9)) return broken(import, line, err);
    if (strcmp(name, "total") == 0) return 0;
    sqlite3_stmt *statement = db_prepare(import->db,
                                         "INSERT OR REPLACE INTO syscalls(profile_id, name, calls, errors, time_ns)"
                                         " VALUES (:profile, :name, :calls, :errors, :time)",
                                         err);
    if (!statement) return -1;
    db_bind_int(statement, ":profile", import->profile_id);
    db_bind_text(statement, ":name", name);
    db_bind_int(statement, ":calls", calls);
    db_bind_int(statement, ":errors", errors);
    db_bind_int(statement, ":time", seconds_in_ns(seconds));
    return db_run(import->db, statement, err);
}

/* ---- a file ------------------------------------------------------------------------------------------------------ */

static int take_lines(struct tool_import *import, int (*take)(struct tool_import *, char *, struct error *),
                      struct error *err) {
    FILE *file = fopen(import->path, "re");
    if (!file) return error_fail(err, "%s: %s", import->path, strerror(errno));
    char *line = NULL;
    size_t capacity = 0;
    int code = 0;
    while (code == 0 && getline(&line, &capacity, file) >= 0) {
        import->line++;
        line[strcspn(line, "\n")] = '\0';
        code = take(import, line, err);
    }
    if (code == 0 && ferror(file)) code = error_fail(err, "%s: %s", import->path, strerror(errno));
    free(line);
    fclose(file);
    return code;
}

int tool_store(struct db *db, int64_t run_id, enum tool tool, const char *output, const struct ingest_program *program,
               struct error *err) {
    struct tool_import import = {.db = db, .path = output};
    bool is_perf = tool == TOOL_PERF_STAT;
    if (tool == TOOL_PERF_RECORD) return ingest_into_run(db, run_id, output, &format_perf_data, program, err);
    if (db_begin(db, err)) return -1;
    if (insert_profile(&import, run_id, is_perf ? "counters" : "syscalls", err) ||
        take_lines(&import, is_perf ? take_counter : take_syscall, err) || run_seal(db, run_id, err)) {
        db_rollback(db);
        return -1;
    }
    return db_commit(db, err);
}
