/* kinds.h: the kinds of profile that have tables of their own, each declared once. A profile of any other kind has its figures in
 * the table `samples`, under the sample types that it came in with (profiles.sample_types). */
#ifndef CLEAR_SCHEMA_KINDS_H
#define CLEAR_SCHEMA_KINDS_H

#include <stdbool.h>

#include "base/buffer.h"
#include "schema/db.h"

/* In the order in which people look at them: of a run that has several, a report is on the first. */
enum kind_id {
    KIND_HEAP,
    KIND_CPU,
    KIND_LOCK,
    KIND_MVCC,
    KIND_CHANNELS,
    KIND_WAIT,
    KIND_FIBERS,
    KIND_SYSCALLS,
    KIND_MUTEX,
    KIND_BLOCK,
    KIND_HEAP_PEAK,
    KIND_LEAK,
    KIND_THREADS,   /* by the stacks that start them */
    KIND_MMAP,      /* mappings that the program makes itself */
    KIND_LIFETIMES, /* histograms of the sizes and lifetimes of blocks */
    KIND_IO,
    KIND_SPIN,     /* yields, short sleeps and failed tries */
    KIND_WALL,     /* all time of all threads: `cpu`, and what --wall found them in */
    KIND_OFF_CPU,  /* of that: the time in which they did not run */
    KIND_RECORDER, /* CPU time that the recording took inside the program */
    KIND_COUNT
};
enum { KIND_TYPES_MAX = 5, KIND_PARTS_MAX = 3 };

struct kind_type {
    const char *type, *unit; /* as in profile.proto */
    const char *column;      /* SQL: its figure in a row of the kind's table; NULL where the kind has no `table` */
    bool is_state;           /* what is in use: windows before a span count to it */
};

struct kind {
    const char *name;                           /* profiles.kind; the file in a run's directory is NAME.pb.gz */
    struct kind_type types[KIND_TYPES_MAX + 1]; /* in order; ends with a NULL type */
    /* What the profile says where the recorder did not: */
    const char *default_type, *period_type, *period_unit;
    /* The table or view whose rows are samples of a :profile: trace_id, `label_set_id`, and the columns of the types. NULL: there are
     * samples by `query` alone. */
    const char *table;
    const char *label_set_id; /* SQL: the label set of a row of `table` */
    /* In schema/: the samples of a :run that end after :from and up to :to, in the columns of `clear export --sql`; NULL: the rows of
     * `table` are the samples. What came in with sample types of its own is read from `table`, where there is one. */
    const char *query;
    bool hides_wrappers; /* its caller did what a wrapper of an allocator did: profiles carry drop_frames */
    bool addressed;      /* recorded samples carry the address of their site as label `addr` */
    bool in_directory;   /* belongs into NAME.profile/ */
    const char *parts[KIND_PARTS_MAX]; /* it is made of profiles of these kinds; NULLs: of its own */
};
extern const struct kind kinds[KIND_COUNT + 1]; /* the last one, with a NULL name, is for all other kinds */

/* The row of that name, or the one for all other kinds. */
const struct kind *kind_find(const char *name);
/* The kind of profile in which what is called `name` stands first: itself, or the first of its parts. */
const char *kind_stored(const char *name);

/* Whether the figures of that kind have no stacks, and so are a table (counters) and no samples. */
bool kind_is_table(const char *name);
/* Whether an ingested profile cannot be of that kind because the name means something here. */
bool kind_is_taken(const char *name);

/* The kinds of profile that the kind `name` is made of: binds :kind and, where the statement has them, :also and
 * :further, NULL for none. */
void kind_bind(sqlite3_stmt *statement, const char *name);

/* Whether some of its values are a state. */
bool kind_has_state(const struct kind *kind);
/* The kind's type of that name; gperftools calls what is in use plainly objects and space. NULL: it has none. */
const struct kind_type *kind_type_find(const struct kind *kind, const char *type);
/* Whether an ingested profile with these types (profiles.sample_types) is clear's own export of a kind whose samples are made by a query, or have
 * no more labels than the address of their site: its rows are as a recorder's, and so its samples are made again. */
bool kind_is_made_again(const struct kind *kind, const char *sample_types);
/* Adds the sample types as profiles.sample_types has them: [["alloc_objects","count"],...] */
void kind_add_types(struct buffer *json, const struct kind *kind);

#endif
