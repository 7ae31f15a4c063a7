#include "query/code/machine_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void code_open(struct code *code, const struct profile *profile, const struct code_options *options) {
    *code = (struct code){.profile = profile, .options = *options};
    code->binaries = xcalloc(profile->mapping_count + 1, sizeof *code->binaries);
    objdump_open(&code->tools, options->tools, options->intel_syntax);
}

void code_close(struct code *code) {
    for (size_t i = 0; i < code->profile->mapping_count; i++) {
        if (!code->binaries[i].is_shared) binary_close(code->binaries[i].binary);
        free(code->binaries[i].why);
    }
    free(code->binaries);
    objdump_close(&code->tools);
    arena_free(&code->arena);
}

bool code_is_one_file(const struct profile *profile, uint32_t a, uint32_t b) {
    return profile->mappings[a].file == profile->mappings[b].file &&
           profile->mappings[a].build_id == profile->mappings[b].build_id;
}

void code_note(const struct code *code, const char *message) {
    if (code->options.note) code->options.note(code->options.note_context, message);
}

struct binary *code_binary(struct code *code, uint32_t mapping) {
    struct code_binary *own = &code->binaries[mapping];
    if (own->tried) return own->binary;
    own->tried = true;
    for (uint32_t i = 0; i < code->profile->mapping_count; i++) {
        const struct code_binary *other = &code->binaries[i];
        if (i == mapping || !other->tried || !code_is_one_file(code->profile, i, mapping)) continue;
        own->binary = other->binary;
        own->is_shared = true;
        return own->binary;
    }
    own->binary = binary_open(&code->profile->mappings[mapping], &own->why);
    if (own->why) {
        char *message = xasprintf("no machine code: %s", own->why);
        code_note(code, message);
        free(message);
    }
    return own->binary;
}

bool code_address(struct code *code, uint32_t mapping, uint64_t address, uint64_t *in_file) {
    const struct binary *binary = mapping == PROFILE_NONE ? NULL : code_binary(code, mapping);
    uint64_t base;
    if (!binary || !binary_base(binary, &code->profile->mappings[mapping], address, &base)) return false;
    *in_file = address - base;
    return true;
}

bool code_parse_address(const char *pattern, uint64_t *address) {
    char *end;
    if (*pattern < '0' || *pattern > '9') return false;
    errno = 0;
    *address = strtoull(pattern, &end, 0);
    return !*end && !errno;
}
