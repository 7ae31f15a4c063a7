#include "ingest/shim/stacks/crtstuff.h"

#include <link.h>
#include <stddef.h>

enum { ANY = -1 }; /* a byte that differs from module to module: a distance */

/* From where it makes its frame to where __cxa_finalize, which runs the destructors, returns to. */
static const int16_t frame_to_call[] = {
    0x55,                                       /* push %rbp */
    0x48, 0x83, 0x3d, ANY, ANY, ANY, ANY, 0x00, /* cmpq $0, __cxa_finalize */
    0x48, 0x89, 0xe5,                           /* mov %rsp, %rbp */
    0x74, ANY,                                  /* je, past the call */
    0x48, 0x8b, 0x3d, ANY, ANY, ANY, ANY,       /* mov __dso_handle, %rdi */
    0xe8, ANY,  ANY,  ANY, ANY,                 /* call __cxa_finalize */
};
enum {
    SHAPE = sizeof frame_to_call / sizeof frame_to_call[0],
    BEFORE_SHAPE = 16, /* at most: endbr64 and the question whether it ran already */
};

static bool is_shape(const uint8_t *code) {
    for (size_t i = 0; i < SHAPE; i++)
        if (frame_to_call[i] != ANY && code[i] != frame_to_call[i]) return false;
    return true;
}

/* A function that the module has run at its end, whose shape ends at pc. Only there is it looked for: what else a stack has for a
 * return address may be no code, or not mapped. */
static bool is_behind_shape(uint64_t function, uint64_t pc) {
    uint64_t length = pc - function;
    return length >= SHAPE && length <= SHAPE + BEFORE_SHAPE && is_shape((const uint8_t *)(uintptr_t)(pc - SHAPE));
}

struct rule crtstuff_rule(const struct dl_find_object *object, uint64_t pc) {
    const struct link_map *map = object->dlfo_link_map;
    const uint64_t *functions = NULL;
    uint64_t count = 0;
    for (const ElfW(Dyn) *entry = map ? map->l_ld : NULL; entry && entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_FINI_ARRAY) functions = (const uint64_t *)(uintptr_t)(map->l_addr + entry->d_un.d_ptr);
        if (entry->d_tag == DT_FINI_ARRAYSZ) count = entry->d_un.d_val / sizeof *functions;
    }
    for (uint64_t i = 0; functions && i < count; i++)
        if (is_behind_shape(functions[i], pc)) return (struct rule){.type = RULE_FRAME};
    return (struct rule){.type = RULE_UNKNOWN};
}
