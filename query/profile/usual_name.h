/* usual_name.h: the one place that decides how a function's name is shown, in the commands, in pictures and, by web/names/names.js that has the
 * same rules, in the browser. tests/names.txt has real names of eight languages with their forms.
 *
 *   full   std::vector<int, std::allocator<int> >::push_back(int&&)    what the tables and JSON have
 *   usual  std::vector<…>::push_back                                   what a person calls it
 *   short  push_back                                                   its last part
 *
 * Usual:
 *   - without parameters, return type, qualifiers and the arguments of the function's own template; arguments of a class are <…>, those
 *     of Go's types […]
 *   - without "(anonymous namespace)", inline namespaces of the standard library (std::__cxx11) and ABI tags; std::string for its long name
 *   - without what compilers append: .isra.0, .cold, [clone .part.1], @@GLIBC_2.2.5, Rust's hash
 *   - C++'s and Rust's namespaces stay; of Go's import paths the last element stays, as in (gzip.(*Writer).Write), of Java's packages nothing
 *   - Rust's <alloc::vec::Vec<T> as core::iter::Extend<T>>::extend is <Vec<…> as Extend<…>>::extend, <Vec<T>>::push is Vec<…>::push
 *   - V8's JS:*handle /srv/app.js:12:3 is handle; a function without a name is its file and line, app.js:12
 * Short: the last part. A closure, lambda or call operator says nothing alone and has what stands before it: main.func1.
 * What has no such shape (libz.so.1+0x4970, a sentence) stays as it is.
 *
 * Reports that must equal pprof's keep full names. */
#ifndef CLEAR_QUERY_PROFILE_USUAL_NAME_H
#define CLEAR_QUERY_PROFILE_USUAL_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/map.h"

enum name_detail {
    NAME_USUAL,
    NAME_WITH_PARAMETERS, /* and with arguments of the function's own template, qualifiers and suffixes; what is nested in them is <…> */
    NAME_WITH_ARGUMENTS, /* and with those of classes, and packages */
    NAME_FULL,
};

/* Appends the name in that form. */
void name_in_detail(struct buffer *out, const char *name, enum name_detail detail);
void usual_name(struct buffer *out, const char *name);
void short_name(struct buffer *out, const char *name);

/* The name as it is, if `is_full`; else its usual form, in `room`, which is cleared first. */
const char *usual_name_unless(bool is_full, const char *name, struct buffer *room);

/* Where the next part of a usual name begins, behind the next "::", '/' or '.' that stands in no brackets and no file's name (queue.c:20); 0: the last
 * one begins at `at`. */
size_t name_next_part(const char *text, size_t at);

/* The detail that each of these names needs beside the others, so that no two different ones look alike. */
void names_apart(const char *const *names, size_t count, enum name_detail *details);

/* The names of one table. A zeroed one has none: each name is shown in its usual form. */
struct shown_names {
    struct map details; /* of a name */
    bool is_full;       /* all as they are */
};

/* With `is_full`, names are not looked at. */
void shown_names_init(struct shown_names *shown, const char *const *names, size_t count, bool is_full);
/* The text for a name, in `room`, which is cleared first, or the name itself. One that the table has not is shown in its usual form. */
const char *shown_name(const struct shown_names *shown, const char *name, struct buffer *room);
/* Whether it needs no more than its usual form. */
bool shown_name_is_usual(const struct shown_names *shown, const char *name);
void shown_names_free(struct shown_names *shown);

#endif
