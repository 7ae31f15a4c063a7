/* demangle.h: the readable form of a linker's name of C++ or Rust, by GNU libiberty, within limits. A name is foreign: one of 100 bytes, whose
 * parts refer to each other, reads as gigabytes, and libiberty would write them all. */
#ifndef CLEAR_BASE_DEMANGLE_H
#define CLEAR_BASE_DEMANGLE_H

#include <stdbool.h>

/* Names of the largest programs are some 100 KiB long. */
enum { DEMANGLED_MAX = 1 << 20 };

/* Does the name look like one of C++ or Rust? */
bool demangle_is_mangled(const char *name);
/* As cplus_demangle with DMGL_AUTO, DMGL_ANSI and these options (libiberty/demangle.h). NULL: it is no such name, or what it stands for is
 * longer than DEMANGLED_MAX. free() it. */
char *demangle_name(const char *name, int options);

#endif
