/* origin.h: whose code a frame is, by the names that a profile has of it: what a flame graph is coloured by.
 *
 * The rule of the doctor (schema/facts/own.sql) asks more, of the rows of a run: whether a module lies below the directory of an
 * executable. This one has names alone, of any profile. */
#ifndef CLEAR_BASE_ORIGIN_H
#define CLEAR_BASE_ORIGIN_H

#include <stdbool.h>

enum origin {
    ORIGIN_UNKNOWN, /* nothing is known of its module */
    ORIGIN_OWN,     /* the program's */
    ORIGIN_LIBRARY, /* a library's, or a package's */
    ORIGIN_RUNTIME, /* of the language: its interpreter, its standard library, its garbage collector */
    ORIGIN_LIBC,    /* the C library and the loader */
    ORIGIN_KERNEL,
    ORIGINS
};

extern const char *const origin_names[ORIGINS]; /* "unknown", "own", "library", ... */

/* What a profile says of a frame; no text is NULL, "" is not known. */
struct origin_of_frame {
    const char *module, *file, *function;
    bool is_main; /* the module is the first one of its profile, which pprof's formats keep for the program */
};

enum origin origin_of(const struct origin_of_frame *frame);

/* Headers and sources of compilers and standard libraries, wherever they were inlined. */
bool origin_is_system_file(const char *file);

#endif
