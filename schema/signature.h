/* signature.h: the signature of a stack, which is the same in a rebuilt program (traces.signature).
 *
 * A hash over the functions of all frames, leaf first, inlined ones too, by name and by the base name of the source file. What the
 * compiler decides does not change it: which functions are inlined (the frames are one list), how deep a recursion is (a function
 * that follows itself counts once), and copies of a function (parse.isra.0, parse.part.1 are parse). Lines are not part of it, so an
 * edit above a call changes nothing. */
#ifndef CLEAR_SCHEMA_SIGNATURE_H
#define CLEAR_SCHEMA_SIGNATURE_H

#include <stdint.h>

#include "schema/db.h"

/* Of a function: its part of the signatures of stacks. `filename` may be a path. */
uint64_t signature_function(const char *name, const char *filename);
/* Of a location without names: the base name of its module, and the offset in that file. */
uint64_t signature_bare(uint64_t module, uint64_t offset);
uint64_t signature_file(const char *filename); /* `module` above */

/* A stack that is being signed; starts as {0}. */
struct signature {
    uint64_t value, last;
};
void signature_add(struct signature *signature, uint64_t function);

/* Computes the signatures of all stacks again, and the identities of objects that contain one. For a file whose signatures a clear
 * of schema version 2 or older made. An object whose new identity another object has already keeps its old one. */
int signatures_renew(struct db *db, struct error *err);

#endif
