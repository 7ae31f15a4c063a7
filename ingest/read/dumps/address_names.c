#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hex.h"
#include "base/path.h"
#include "ingest/read/dumps/clear_dumps.h"
#include "ingest/symbols/source_rows.h"
#include "ingest/writer/module_mapping.h"

/* The path of the binary NAME of "DIRECTORY/NAME.profile[/FILE]", if it is a file; free() it. */
static char *find_binary(const char *path) {
    static const char suffix[] = ".profile";
    char real[PATH_MAX];
    struct stat status;
    if (!realpath(path, real)) return NULL;
    if (stat(real, &status) == 0 && !S_ISDIR(status.st_mode)) *strrchr(real, '/') = '\0';
    size_t size = strlen(real);
    if (size < sizeof suffix || strcmp(real + size - (sizeof suffix - 1), suffix) != 0) return NULL;
    real[size - (sizeof suffix - 1)] = '\0';
    return stat(real, &status) == 0 && S_ISREG(status.st_mode) ? xstrdup(real) : NULL;
}

/* The directory may have copies of the sources of the binary. */
static void use_kept_sources(struct dump_names *names) {
    char *directory = xasprintf("%s.profile", names->binary);
    source_map_kept(symbolizer_sources(names->symbolizer), directory);
    free(directory);
}

void dump_names_open(struct dump_names *names, struct ingest *ingest, const char *path) {
    const struct ingest_program *program = ingest->program;
    *names = (struct dump_names){.ingest = ingest};
    if (!program)
        names->binary = find_binary(path);
    else if (program->path)
        names->binary = xstrdup(program->path);
    if (!names->binary) return;
    names->symbolizer = symbolizer_open();
    names->module = symbolizer_module(names->symbolizer, names->binary, "");
    if (!program) {
        use_kept_sources(names);
        return;
    }
    names->bias = program->bias;
    if (program->source)
        source_map_built(symbolizer_sources(names->symbolizer), program->build_directory, program->source);
    symbolizer_find_sources(names->module); /* for the markers of task sites */
}

int dump_names_store_sources(struct dump_names *names, struct error *err) {
    if (!names->symbolizer) return 0;
    return sources_store(symbolizer_sources(names->symbolizer), names->ingest->db, names->ingest->run_id, err);
}

void dump_names_close(struct dump_names *names) {
    if (names->symbolizer) symbolizer_close(names->symbolizer);
    free(names->binary);
    map_free(&names->locations);
    map_free(&names->mappings);
    *names = (struct dump_names){0};
}

/* The mapping of the binary's segment that holds the address; 0 where none does. */
static int64_t find_mapping(struct dump_names *names, uint64_t address, struct error *err) {
    struct symbol_segment segment;
    if (!names->module || !symbolizer_segment(names->module, address, &segment)) return 0;
    bool added;
    struct map_entry *entry = map_put(&names->mappings, &segment.start, sizeof segment.start, &added);
    if (!added) return entry->value;
    const struct writer_mapping mapping = module_mapping(names->module, &segment, names->binary, NULL);
    return entry->value = writer_mapping(&names->ingest->writer, &mapping, err);
}

static int64_t named_location(struct dump_names *names, int64_t mapping_id, uint64_t address, struct error *err) {
    const struct symbol_frame *frames;
    size_t count = symbolize(names->module, address, &frames);
    struct writer_line *lines = xcalloc(count, sizeof *lines);
    int64_t id = 0;
    for (size_t i = 0; i < count && id >= 0; i++) {
        id = writer_function(&names->ingest->writer, frames[i].name, frames[i].system_name, frames[i].file,
                             frames[i].start_line, err);
        lines[i] = (struct writer_line){id, frames[i].line, frames[i].column};
    }
    if (id >= 0) id = writer_location(&names->ingest->writer, mapping_id, address, 0, lines, count, err);
    free(lines);
    return id;
}

static int64_t nameless_location(struct dump_names *names, uint64_t address, struct error *err) {
    struct hex_text name = hex_address(address);
    struct writer_line line = {.function_id =
                                   writer_function(&names->ingest->writer, name.text, name.text, "", 0, err)};
    return line.function_id < 0 ? -1 : writer_location(&names->ingest->writer, 0, address, 0, &line, 1, err);
}

/* By the dump itself, which the run's own names went into. */
static int64_t told_location(struct dump_names *names, int64_t mapping_id, uint64_t address,
                             const struct dump_frame *frame, struct error *err) {
    struct writer_line lines[DUMP_INLINED_MAX];
    size_t count = 0;
    for (; frame && count < DUMP_INLINED_MAX; frame = frame->outer) {
        int64_t function = writer_function(&names->ingest->writer, frame->function, frame->system_name, frame->file,
                                           frame->start_line, err);
        if (function < 0) return -1;
        lines[count++] = (struct writer_line){function, frame->line, 0};
    }
    return writer_location(&names->ingest->writer, mapping_id, address, 0, lines, count, err);
}

static int64_t find_location(struct dump_names *names, uint64_t address, struct error *err) {
    const struct map_entry *told = names->told ? map_find(names->told, &address, sizeof address) : NULL;
    if (told) return told_location(names, 0, address, (const struct dump_frame *)(intptr_t)told->value, err);
    const struct map_entry *known = map_find(&names->locations, &address, sizeof address);
    if (known) return known->value;
    uint64_t in_file = address - names->bias;
    int64_t mapping_id = find_mapping(names, in_file, err);
    if (mapping_id < 0) return -1;
    int64_t id = mapping_id ? named_location(names, mapping_id, in_file, err) : nameless_location(names, address, err);
    if (id > 0) map_put(&names->locations, &address, sizeof address, NULL)->value = id;
    return id;
}

int64_t dump_trace(struct dump_names *names, const uint64_t *addresses, size_t depth, struct error *err) {
    int64_t ids[DUMP_DEPTH_MAX];
    for (size_t i = 0; i < depth; i++)
        if ((ids[i] = find_location(names, addresses[i], err)) < 0) return -1;
    return writer_stack(&names->ingest->writer, ids, depth, err);
}

int64_t dump_object(struct dump_names *names, const char *kind, uint64_t address, struct error *err) {
    uint64_t offset = 0;
    const char *symbol = names->module ? symbolize_data(names->module, address - names->bias, &offset) : NULL;
    char *name, *identity;
    if (symbol) {
        const char *module = path_base(names->binary);
        name = offset ? xasprintf("%s:%s+%" PRIu64, module, symbol, offset) : xasprintf("%s:%s", module, symbol);
        identity = xasprintf("symbol:%s:%s+%" PRIu64, module, symbol, offset);
    } else {
        offset = 0;
        name = xstrdup(hex_address(address).text);
        identity = xasprintf("address:%s", name);
    }
    int64_t id = writer_object(&names->ingest->writer, kind, identity, name, 0, offset, err);
    free(name);
    free(identity);
    return id;
}
