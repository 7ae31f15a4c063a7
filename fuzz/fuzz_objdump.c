/* What a disassembler and a tool for lines print of a binary that may be hostile. The first byte chooses the tool. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "fuzz/fuzz.h"
#include "fuzz/replay.h"
#include "query/code/objdump.h"

enum { ADDRESSES = 4 };

static void check_text(const char *text) {
    if (!text) bug("a text is missing");
    volatile size_t size = strlen(text);
    (void)size;
}

static void read_code(char *text, struct arena *arena) {
    struct instructions code;
    objdump_parse(text, arena, &code);
    for (size_t i = 0; i < code.count; i++) {
        check_text(code.items[i].text);
        check_text(code.items[i].function);
        check_text(code.items[i].file);
        if (code.items[i].line < 0) bug("line %lld", (long long)code.items[i].line);
    }
    if (code.count) replay_taken++;
    free(code.items);
}

static void read_lines(char *text, bool is_llvm, struct arena *arena) {
    static const uint64_t addresses[ADDRESSES] = {0x1000, 0x1004, 0x2000, UINT64_MAX};
    const struct objdump tools = {.is_llvm_liner = is_llvm};
    struct code_frames frames[ADDRESSES];
    objdump_parse_lines(&tools, text, NULL, addresses, ADDRESSES, arena, frames);
    for (size_t i = 0; i < ADDRESSES; i++)
        for (size_t frame = 0; frame < frames[i].count; frame++) {
            check_text(frames[i].items[frame].function);
            check_text(frames[i].items[frame].file);
        }
    if (frames[0].count) replay_taken++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena = {0};
    if (!size) return 0;
    char *text = xmalloc(size);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    switch (data[0] % 3) {
    case 0: read_code(text, &arena); break;
    case 1: read_lines(text, false, &arena); break;
    default: read_lines(text, true, &arena); break;
    }
    free(text);
    arena_free(&arena);
    return 0;
}
