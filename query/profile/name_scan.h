/* name_scan.h: the pieces of a function's name in any language: brackets that belong together, operators, what compilers append. For
 * usual_name.c; web/names/names.js has the same functions by the same names. Texts are bytes [at, end) of `text`. */
#ifndef CLEAR_QUERY_PROFILE_NAME_SCAN_H
#define CLEAR_QUERY_PROFILE_NAME_SCAN_H

#include <stdbool.h>
#include <stddef.h>

/* A letter, digit, '_' or '$' of an identifier, or a byte of a character outside ASCII. */
bool name_is_word(char c);
bool name_starts(const char *text, size_t at, size_t end, const char *with);

/* The place behind the bracket that closes the one at `at`. 0: none does, or they nest too deep. Signs of operators, arrows and
 * comparisons close nothing. */
size_t name_group_end(const char *text, size_t at, size_t end);

/* The bytes of an operator's name at `at`: operator<=>, operator(), operator new[], operator""_km. 0: there is none, or it converts. */
size_t name_operator_size(const char *text, size_t at, size_t end);

/* Whether the dot at `dot` is that of a file's name: src/queue.c, src/queue.c:20. */
bool name_is_file(const char *name, size_t dot, size_t end);

/* The end of the name without what compilers and linkers append to it: .isra.0, .cold, [clone .part.1], @@GLIBC_2.2.5, the hash of
 * Rust, the module of a kernel's symbol, .abi0 of Go. */
size_t name_end_without_suffix(const char *name);

#endif
