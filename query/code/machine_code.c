#include "query/code/machine_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void code_open(struct code *code, const struct report *report) {
    *code = (struct code){.report = report, .profile = report->profile};
    code->binaries = xcalloc(report->profile->mapping_count + 1, sizeof *code->binaries);
    objdump_open(&code->tools, report->options.tools, report->options.intel_syntax);
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

struct binary *code_binary(struct code *code, uint32_t mapping) {
    const struct report *report = code->report;
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
    if (own->why && report->note) {
        char *message = xasprintf("no machine code: %s", own->why);
        report->note(report->note_context, message);
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

const char *code_base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}
