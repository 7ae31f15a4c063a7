#include "base/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stddef.h>

#include "base/buffer.h"

struct demangling {
    struct buffer text;
    jmp_buf too_long;
};

bool demangle_is_mangled(const char *name) {
    return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

/* libiberty cannot be told to stop. It keeps its state on the stack, but for an identifier in Punycode, whose letters are then lost. */
static void take(const char *piece, size_t size, void *context) {
    struct demangling *demangling = context;
    if (demangling->text.size + size > DEMANGLED_MAX) longjmp(demangling->too_long, 1);
    buffer_add(&demangling->text, piece, size);
}

/* Rust first, as cplus_demangle does: its older names are names of C++ as well. */
static bool read_name(struct demangling *demangling, const char *name, int options) {
    if (setjmp(demangling->too_long)) return false;
    if (rust_demangle_callback(name, options, take, demangling)) return true;
    demangling->text.size = 0;
    return cplus_demangle_v3_callback(name, options, take, demangling);
}

char *demangle_name(const char *name, int options) {
    struct demangling demangling = {.text = {0}};
    if (read_name(&demangling, name, options | DMGL_AUTO | DMGL_ANSI)) return buffer_take(&demangling.text);
    buffer_free(&demangling.text);
    return NULL;
}
