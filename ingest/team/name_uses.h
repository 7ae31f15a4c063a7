/* name_uses.h: where the keys of names stand in a store: in rows of runs, and in other names. */
#ifndef CLEAR_INGEST_TEAM_NAME_USES_H
#define CLEAR_INGEST_TEAM_NAME_USES_H

#include "ingest/team/layout.h"
#include "ingest/team/names.h"

enum { NAME_USES_MAX = 64 };

struct name_use {
    const char *table, *column;
    enum source_name of; /* the kind of the names that have the key; SOURCE_NONE: rows of runs do */
    bool is_list;        /* an array of keys */
    bool is_derived;     /* names.h */
};

/* Of names of that kind; returns how many there are. What names others is a later kind than these. */
size_t name_uses_of(const struct layout *layout, enum source_name kind, struct name_use uses[NAME_USES_MAX]);

#endif
