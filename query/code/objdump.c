#include "query/code/objdump.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/search.h"

#include "base/buffer.h"
#include "base/child.h"

/* The whole of a large program's code is some 100 MB; a disassembler that reads gigabytes of debug information takes a minute. It maps the file,
 * and inflates what is compressed there, which a hostile file does not stop at four times its size. */
static struct child_limits limits_of(const char *path) {
    struct stat about;
    uint64_t size = stat(path, &about) == 0 && about.st_size > 0 ? (uint64_t)about.st_size : 0;
    size = size < UINT64_C(1) << 40 ? size : UINT64_C(1) << 40;
    return (struct child_limits){
        .output_max = (size_t)512 << 20, .seconds = 180, .memory_max = ((size_t)4 << 30) + 4 * (size_t)size};
}

/* ---- which tools ---- */

/* "DIR" is for every tool, "NAME:DIR" for that one. */
static char *find_tool(const char *name, const char *wanted) {
    char *path = NULL;
    if (!*wanted) return child_find(name, getenv("PATH"));
    for (const char *at = wanted; !path && *at;) {
        size_t size = strcspn(at, ","), of_name = strcspn(at, ":");
        const char *directory = of_name < size ? at + of_name + 1 : at;
        if (of_name >= size || (of_name == strlen(name) && strncmp(at, name, of_name) == 0)) {
            path = xasprintf("%.*s/%s", (int)(at + size - directory), directory, name);
            if (access(path, X_OK) != 0) {
                free(path);
                path = NULL;
            }
        }
        at += size + (at[size] == ',');
    }
    return path;
}

/* 1: LLVM's, of a version that knows the options; 0: GNU's; -1: something else. */
static int is_disassembler_of(const char *path) {
    static const struct child_limits short_limits = {.output_max = 1 << 20, .seconds = 30};
    const char *const argv[] = {path, "--version", NULL};
    struct buffer said = {0};
    struct error ignored = {0};
    enum child_end end = child_read(argv, NULL, &short_limits, &said, &ignored);
    const char *version = strstr(buffer_text(&said), "LLVM version ");
    int kind = -1;
    if (end == CHILD_DONE && version)
        kind = atoi(version + strlen("LLVM version ")) >= 8 ? 1 : -1;
    else if (end == CHILD_DONE && strstr(buffer_text(&said), "GNU objdump"))
        kind = 0;
    buffer_free(&said);
    return kind;
}

static void find_disassembler(struct objdump *tools, const char *wanted) {
    static const char *const names[] = {"llvm-objdump", "objdump"};
    for (size_t i = 0; i < sizeof names / sizeof *names && !tools->disassembler; i++) {
        char *path = find_tool(names[i], wanted);
        int kind = path ? is_disassembler_of(path) : -1;
        if (kind < 0) {
            free(path);
            continue;
        }
        tools->disassembler = path;
        tools->is_llvm = kind == 1;
    }
}

void objdump_open(struct objdump *tools, const char *wanted, bool intel_syntax) {
    const char *usual = getenv("PPROF_TOOLS");
    *tools = (struct objdump){.intel_syntax = intel_syntax};
    if (!*wanted && usual) wanted = usual;
    find_disassembler(tools, wanted);
    tools->liner = find_tool("llvm-symbolizer", wanted);
    tools->is_llvm_liner = tools->liner != NULL;
    if (!tools->liner) tools->liner = find_tool("addr2line", wanted);
}

void objdump_close(struct objdump *tools) {
    free(tools->disassembler);
    free(tools->liner);
    *tools = (struct objdump){0};
}

int objdump_check(const struct objdump *tools, struct error *err) {
    if (tools->disassembler) return 0;
    return error_fail(err, "no objdump is installed, which shows machine code (Debian: apt-get install binutils)");
}

/* ---- code ---- */

/* An instruction: "  1256:\tpush   %rbp". */
static bool read_instruction(const char *line, struct instruction *instruction) {
    size_t digits = strspn(line, "0123456789abcdefABCDEF");
    if (digits == 0 || digits > 16 || line[digits] != ':') return false;
    const char *text = line + digits + 1;
    if (!isspace((unsigned char)*text)) return false;
    while (isspace((unsigned char)*text))
        text++;
    instruction->address = strtoull(line, NULL, 16);
    instruction->text = text;
    return true;
}

/* LLVM writes what is no code as a comment. */
static char *skip_comment(char *line) {
    if (*line == ';') line++;
    if (isspace((unsigned char)*line)) line++;
    return line;
}

/* "/src/a.c:39 (discriminator 2)": the last colon before a digit. */
static bool read_place(char *line, const char **file, int64_t *number) {
    line = skip_comment(line);
    for (char *at = line + strlen(line); at-- > line;) {
        if (*at != ':' || !isdigit((unsigned char)at[1])) continue;
        char *end;
        unsigned long long value = strtoull(at + 1, &end, 10);
        if (value > UINT32_MAX || end - at > 12) return true;
        *at = '\0';
        *file = line;
        *number = (int64_t)value;
        return true;
    }
    return false;
}

/* "burn():" of the line tables, else "0000000000001256 <burn>:" of the symbols. */
static bool read_function(char *line, const char **function) {
    char *start = skip_comment(line), *found = NULL, *end = NULL;
    for (char *at = start; (at = strstr(at, "():")); at++)
        if (at > start) found = at;
    if (found && !isspace((unsigned char)*start)) {
        *found = '\0';
        *function = start;
        return true;
    }
    start = line + strspn(line, "0123456789abcdefABCDEF");
    if (isspace((unsigned char)*start)) start++;
    end = strrchr(start, ':');
    if (!end) return false;
    *end = '\0';
    *function = start;
    return true;
}

static char *trim(char *line) {
    while (isspace((unsigned char)*line))
        line++;
    for (size_t size = strlen(line); size && isspace((unsigned char)line[size - 1]); size--)
        line[size - 1] = '\0';
    return line;
}

void objdump_parse(char *text, struct arena *arena, struct instructions *instructions) {
    struct instruction next = {.function = "", .file = ""};
    size_t room = 0;
    *instructions = (struct instructions){0};
    for (char *rest = text, *line; rest && *rest;) {
        line = trim(strsep(&rest, "\n"));
        if (read_instruction(line, &next)) {
            if (instructions->count == room) {
                room = room ? room * 2 : 256;
                instructions->items = xrealloc(instructions->items, room * sizeof *instructions->items);
            }
            next.text = arena_text(arena, next.text, strlen(next.text));
            instructions->items[instructions->count++] = next;
        } else if (read_place(line, &next.file, &next.line)) {
            next.file = arena_text(arena, next.file, strlen(next.file));
        } else if (read_function(line, &next.function)) {
            next.function = arena_text(arena, next.function, strlen(next.function));
        } else {
            next = (struct instruction){.function = "", .file = ""};
        }
    }
}

int objdump_disassemble(const struct objdump *tools, const char *path, uint64_t start, uint64_t end,
                        struct arena *arena, struct instructions *instructions, struct error *err) {
    *instructions = (struct instructions){0};
    if (objdump_check(tools, err) < 0) return -1;
    char *from = xasprintf("--start-address=%#llx", (unsigned long long)start);
    char *to = xasprintf("--stop-address=%#llx", (unsigned long long)end);
    char *file = xasprintf("%s%s", *path == '-' ? "./" : "", path);
    const char *argv[12] = {
        tools->disassembler, "--disassemble", "--demangle", "--no-show-raw-insn", "--line-numbers", from, to};
    size_t count = 7;
    if (tools->intel_syntax && !tools->is_llvm) argv[count++] = "-M";
    if (tools->intel_syntax) argv[count++] = tools->is_llvm ? "--x86-asm-syntax=intel" : "intel";
    argv[count] = file;
    struct buffer said = {0};
    const struct child_limits limits = limits_of(path);
    enum child_end code = child_read(argv, NULL, &limits, &said, err);
    if (code == CHILD_MISSING) error_fail(err, "%s: it is gone", tools->disassembler);
    if (code == CHILD_DONE && said.size) objdump_parse(said.data, arena, instructions);
    buffer_free(&said);
    free(file);
    free(to);
    free(from);
    return code == CHILD_DONE ? 0 : -1;
}

/* ---- lines ---- */

struct lines {
    char *rest; /* of what the tool said */
    struct arena *arena;
};

static char *next_line(struct lines *lines) {
    char *line = lines->rest ? strsep(&lines->rest, "\n") : NULL;
    return line ? trim(line) : NULL;
}

static const char *keep(struct lines *lines, const char *text) {
    return arena_text(lines->arena, text, strlen(text));
}

/* "FILE:LINE (discriminator 3)" of addr2line. */
static void read_gnu_place(struct lines *lines, char *place, struct code_frame *frame) {
    char *cut = strstr(place, " (discriminator"), *colon, *end;
    frame->file = "";
    if (strcmp(place, "??:0") == 0 || strcmp(place, "??:?") == 0) return;
    if (cut && cut != place) *cut = '\0';
    colon = strrchr(place, ':');
    long line = colon ? strtol(colon + 1, &end, 10) : 0;
    if (colon && colon[1] && !*end) {
        *colon = '\0';
        frame->line = line;
    }
    frame->file = keep(lines, place);
}

/* "FILE:LINE:COLUMN" of llvm-symbolizer. A name with colons is kept as it is. */
static void read_llvm_place(struct lines *lines, char *place, struct code_frame *frame) {
    size_t colons = 0;
    frame->file = "";
    if (strcmp(place, "??:0") == 0 || strcmp(place, "??:0:0") == 0) return;
    for (const char *at = place; (at = strchr(at, ':')); at++)
        colons++;
    char *colon = strchr(place, ':'), *end;
    if (colon && colons <= 2) {
        long line = strtol(colon + 1, &end, 10);
        if (end != colon + 1 && (*end == ':' || !*end)) frame->line = line;
        *colon = '\0';
    }
    frame->file = keep(lines, place);
}

/* One address: "0xADDRESS" and pairs of lines up to the next one (addr2line), or pairs up to an empty line (llvm-symbolizer). */
static void read_frames(const struct objdump *tools, struct lines *lines, struct code_frames *frames) {
    struct buffer items = {0};
    for (char *function; lines->rest;) {
        bool at_next = !tools->is_llvm_liner && strncmp(lines->rest, "0x", 2) == 0;
        if (at_next || !(function = next_line(lines)) || (tools->is_llvm_liner && !*function)) break;
        struct code_frame frame = {.function = strcmp(function, "??") == 0 ? "" : keep(lines, function), .file = ""};
        char *place = next_line(lines);
        if (place && tools->is_llvm_liner) read_llvm_place(lines, place, &frame);
        if (place && !tools->is_llvm_liner) read_gnu_place(lines, place, &frame);
        if (*frame.function || *frame.file || frame.line) buffer_add(&items, &frame, sizeof frame);
    }
    frames->count = items.size / sizeof(struct code_frame);
    frames->items = items.size ? arena_copy(lines->arena, items.data, items.size) : NULL;
    buffer_free(&items);
}

/* The symbol that an address of the file is in; of data only where it is within its size. As pprof, symbols without a size do
 * not count. */
static const char *symbol_at(struct binary *binary, uint64_t address) {
    size_t count;
    const struct binary_symbol *symbols = binary_symbols(binary, &count), *found = NULL;
    size_t above = SEARCH_ABOVE(struct binary_symbol, symbols, count, address, address);
    while (above > 0 && !found)
        if (symbols[--above].size) found = &symbols[above];
    if (found && found->is_data && address - found->address >= found->size) return NULL;
    return found ? found->name : NULL;
}

/* addr2line leaves out parts of some names; that of the symbol is better where it is longer by more than an underscore. */
static void prefer_symbol(struct binary *binary, uint64_t address, struct lines *lines, struct code_frames *frames) {
    const char *symbol = binary && frames->count ? symbol_at(binary, address) : NULL;
    if (!symbol || strlen(symbol) <= strlen(frames->items[frames->count - 1].function) + 1) return;
    struct code_frame *items = arena_copy(lines->arena, frames->items, frames->count * sizeof *items);
    items[frames->count - 1].function = symbol;
    frames->items = items;
}

void objdump_parse_lines(const struct objdump *tools, char *text, struct binary *binary, const uint64_t *addresses,
                         size_t count, struct arena *arena, struct code_frames *frames) {
    struct lines lines = {text, arena};
    memset(frames, 0, count * sizeof *frames);
    for (size_t i = 0; i < count; i++) {
        if (!tools->is_llvm_liner && !next_line(&lines)) break; /* the address */
        read_frames(tools, &lines, &frames[i]);
        if (!tools->is_llvm_liner) prefer_symbol(binary, addresses[i], &lines, &frames[i]);
    }
}

int objdump_lines(const struct objdump *tools, struct binary *binary, const uint64_t *addresses, size_t count,
                  struct arena *arena, struct code_frames *frames, struct error *err) {
    struct buffer asked = {0}, said = {0};
    const struct child_limits limits = limits_of(binary_path(binary));
    char *object = xasprintf("--obj=%s", binary_path(binary));
    const char *const gnu[] = {tools->liner, "-aif", "-e", binary_path(binary), NULL};
    const char *const llvm[] = {tools->liner, "--inlining", "-demangle=false", object, NULL};
    for (size_t i = 0; i < count; i++)
        buffer_printf(&asked, tools->is_llvm_liner ? "0x%llx\n" : "%llx\n", (unsigned long long)addresses[i]);
    enum child_end code =
        tools->liner ? child_read(tools->is_llvm_liner ? llvm : gnu, &asked, &limits, &said, err) : CHILD_MISSING;
    if (code == CHILD_MISSING)
        error_fail(
            err, "no addr2line is installed, which tells the lines of machine code (Debian: apt-get install binutils)");
    objdump_parse_lines(tools, code == CHILD_DONE ? said.data : NULL, binary, addresses, count, arena, frames);
    buffer_free(&said);
    buffer_free(&asked);
    free(object);
    return code == CHILD_DONE ? 0 : -1;
}
