/* programs.h: a program whose file has another name on the new side (srv, srv-slow). Its global locks, cells and channels are the same
 * objects, though their identities contain the name of the file. Private to query/diff. */
#ifndef CLEAR_QUERY_DIFF_PROGRAMS_H
#define CLEAR_QUERY_DIFF_PROGRAMS_H

#include "base/buffer.h"
#include "base/error.h"
#include "query/diff/diff.h"

struct renamed_program {
    char *old, *new; /* base names; NULL: no program has another name. */
};

/* Each side runs exactly one program that the other does not run: then it is taken for the same one. Call renamed_program_free. */
int renamed_program_find(const struct diff_options *options, struct renamed_program *renamed, struct error *err);
void renamed_program_free(struct renamed_program *renamed);

/* Whether some run has a command line or, by its build ids, programs that no run of the other side has. */
int code_differs(const struct diff_options *options, bool *differs, struct error *err);

/* Appends the identity of an object (ingest/writer/row_writer.h), with the old name in place of the new. */
void renamed_program_key(const struct renamed_program *renamed, const char *identity, struct buffer *key);

#endif
