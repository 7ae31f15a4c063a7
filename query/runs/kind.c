#include "query/runs/kind.h"

#include <string.h>

/* Go's viewers open a heap profile on what is in use and a mutex profile on the delay; so do we. */
const struct kind kinds[] = {
    {"heap", "export/heap.sql", "inuse_space", "space", "bytes", .plain = true, .has_state = true, .addressed = true,
     .in_directory = true},
    {"lock", "export/lock.sql", "delay", "contentions", "count", .in_directory = true},
    {"mvcc", "export/mvcc.sql", "cow_bytes", "commits", "count", .in_directory = true},
    {"channels", "export/channels.sql", "pushes", "pushes", "count", .in_directory = true},
    {"cpu", "export/cpu.sql", "cpu", "cpu", "nanoseconds", .plain = true, .in_directory = true},
    {"fibers", "export/fibers.sql", "lifetime", "spawns", "count", .plain = false},
    {"syscalls", "export/syscalls.sql", "time", "calls", "count", .plain = false},
    /* As Go calls them: what waited for locks, and what waited for locks and channels. */
    {"mutex", "export/block.sql", "delay", "contentions", "count", .of = {"lock"}},
    {"block", "export/block.sql", "delay", "contentions", "count", .of = {"lock", "channels"}},
    {0},
};
static const struct kind other_kind = {NULL, "export/samples.sql", "", "", "", .plain = true};

const struct kind *kind_find(const char *name) {
    const struct kind *kind = kinds;
    while (kind->name && strcmp(kind->name, name) != 0)
        kind++;
    return kind->name ? kind : &other_kind;
}

bool kind_is_table(const char *name) {
    return strcmp(name, "counters") == 0;
}

void kind_bind(sqlite3_stmt *statement, const char *name) {
    const struct kind *kind = kind_find(name);
    db_bind_text(statement, ":kind", kind->of[0] ? kind->of[0] : name);
    if (sqlite3_bind_parameter_index(statement, ":also")) db_bind_text(statement, ":also", kind->of[1]);
}
