#include "ingest/read/perf/frame_names.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/read/input.h"
#include "ingest/symbols/source_rows.h"
#include "ingest/writer/module_mapping.h"

static const char unknown_name[] = "[unknown]", kernel_name[] = "[kernel]", guest_name[] = "[guest]";

void perf_names_open(struct perf_names *names, struct perf_recording *recording, struct ingest *ingest) {
    const struct ingest_program *program = ingest->program;
    *names = (struct perf_names){.recording = recording, .writer = &ingest->writer, .symbolizer = symbolizer_open()};
    if (program && program->source)
        source_map_built(symbolizer_sources(names->symbolizer), program->build_directory, program->source);
    if (ingest->input->is_directory) source_map_kept(symbolizer_sources(names->symbolizer), ingest->input->path);
    names->is_ours = program != NULL;
    names->images = xcalloc(recording->spaces.image_count + 1, sizeof *names->images);
    names->frames = xcalloc(recording->frames.count + 1, sizeof *names->frames);
    names->traces = xcalloc(recording->stacks.count + 1, sizeof *names->traces);
}

void perf_names_close(struct perf_names *names) {
    for (size_t i = 0; names->images && i < names->recording->spaces.image_count; i++) {
        elf_code_free(&names->images[i].elf);
        free(names->images[i].mappings);
    }
    free(names->images);
    free(names->frames);
    free(names->traces);
    symbolizer_close(names->symbolizer);
    perf_kernel_free(&names->kernel);
    jit_names_free(&names->jit);
    map_free(&names->label_sets);
    arena_free(&names->texts);
    *names = (struct perf_names){0};
}

int perf_names_store_sources(struct perf_names *names, struct ingest *ingest, struct error *err) {
    for (size_t i = 0; i < names->recording->spaces.image_count; i++) {
        const struct perf_named_image *named = &names->images[i];
        for (size_t j = 0; named->is_opened && *named->build_id && j < named->mapping_count; j++)
            if (sources_inherit(ingest->db, ingest->run_id, named->mappings[j].id, err)) return -1;
    }
    return sources_store(symbolizer_sources(names->symbolizer), ingest->db, ingest->run_id, err);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* perf record keeps copies of mapped files, and of the vdso, in ~/.debug by build id: ab/cdef.../elf. */
static void find_copy(struct perf_names *names, struct perf_named_image *named) {
    const char *home = getenv("HOME"), *file = strcmp(named->path, "[vdso]") == 0 ? "vdso" : "elf";
    if (!home || strlen(named->build_id) < 4) return;
    char *path = xasprintf("%s/.debug/.build-id/%.2s/%s/%s", home, named->build_id, named->build_id + 2, file);
    struct elf_code elf = elf_code_read(path, named->build_id);
    if (elf.is_there) {
        named->elf = elf;
        named->path = arena_text(&names->texts, path, strlen(path));
    }
    free(path);
}

static struct perf_named_image *open_image(struct perf_names *names, uint32_t index) {
    struct perf_named_image *named = &names->images[index];
    if (named->is_opened) return named;
    named->is_opened = true;
    named->path = names->recording->spaces.images[index].path;
    named->build_id = perf_image_build_id(&names->recording->spaces, index);
    named->elf = elf_code_read(named->path, named->build_id);
    if (!named->elf.is_there) find_copy(names, named);
    named->module = symbolizer_module(names->symbolizer, named->path, named->build_id);
    return named;
}

static int64_t add_mapping(struct perf_names *names, uint32_t index, const struct writer_mapping *mapping,
                           struct error *err) {
    struct perf_named_image *named = &names->images[index];
    int64_t id = writer_mapping(names->writer, mapping, err);
    if (id < 0) return -1;
    named->mappings = xrealloc(named->mappings, (named->mapping_count + 1) * sizeof *named->mappings);
    named->mappings[named->mapping_count++] = (struct perf_mapping){mapping->memory_start, mapping->memory_limit, id};
    return id;
}

static int64_t known_mapping(const struct perf_named_image *named, uint64_t address) {
    for (size_t i = 0; i < named->mapping_count; i++)
        if (address >= named->mappings[i].start && address < named->mappings[i].limit) return named->mappings[i].id;
    return 0;
}

static int64_t file_mapping(struct perf_names *names, uint32_t index, uint64_t address, struct error *err) {
    struct perf_named_image *named = &names->images[index];
    int64_t id = known_mapping(named, address);
    if (id) return id;
    struct symbol_segment segment;
    /* A mapping for a file that is missing: only the address is known to be in it. */
    if (!symbolizer_segment(named->module, address, &segment)) segment = (struct symbol_segment){0, INT64_MAX, 0};
    struct writer_mapping mapping =
        module_mapping(named->module, &segment, names->recording->spaces.images[index].path, named->build_id);
    return add_mapping(names, index, &mapping, err);
}

/* ---- locations --------------------------------------------------------------------------------------------------- */

static int64_t named_location(struct perf_names *names, int64_t mapping_id, uint64_t address, const char *name,
                              struct error *err) {
    struct writer_line line = {.function_id = writer_function(names->writer, name, name, "", 0, err)};
    return line.function_id < 0 ? -1 : writer_location(names->writer, mapping_id, address, 0, &line, 1, err);
}

static int64_t symbolized_location(struct perf_names *names, struct symbolizer_module *module, int64_t mapping_id,
                                   uint64_t address, struct error *err) {
    const struct symbol_frame *frames;
    size_t count = symbolize(module, address, &frames);
    struct writer_line *lines = xcalloc(count, sizeof *lines);
    int64_t id = 0;
    for (size_t i = 0; i < count && id >= 0; i++) {
        id = writer_function(names->writer, frames[i].name, frames[i].system_name, frames[i].file, frames[i].start_line,
                             err);
        lines[i] = (struct writer_line){id, frames[i].line, frames[i].column};
    }
    if (id >= 0) id = writer_location(names->writer, mapping_id, address, 0, lines, count, err);
    free(lines);
    return id;
}

/* Of a process that we have recorded ourselves, just now: in a file of others the number may be anybody's. */
static const char *jit_frame_name(struct perf_names *names, uint32_t pid, uint64_t address) {
    if (!names->is_ours) return unknown_name;
    if (names->jit.pid != (int32_t)pid) {
        jit_names_free(&names->jit);
        jit_names_begin(&names->jit, (int32_t)pid, kill((pid_t)pid, 0) == 0);
    }
    return jit_name(&names->jit, address);
}

static int name_file_frame(struct perf_names *names, const struct perf_frame *frame, struct perf_named_frame *named,
                           struct error *err) {
    struct perf_named_image *image = open_image(names, frame->image);
    uint64_t address = elf_code_address(&image->elf, frame->address);
    named->mapping_id = file_mapping(names, frame->image, address, err);
    if (named->mapping_id < 0) return -1;
    uint32_t pid = names->recording->spaces.images[frame->image].pid;
    if (pid) { /* code without a file: a JIT compiler's, a trampoline */
        named->location_id =
            named_location(names, named->mapping_id, address, jit_frame_name(names, pid, address), err);
        return named->location_id < 0 ? -1 : 0;
    }
    named->location_id = *image->build_id ? writer_find_location(names->writer, named->mapping_id, address, err) : 0;
    if (named->location_id == 0)
        named->location_id = symbolized_location(names, image->module, named->mapping_id, address, err);
    return named->location_id < 0 ? -1 : 0;
}

/* Addresses are relative to the kernel's reference symbol or to the module, so that they are equal for each boot. */
static int name_kernel_frame(struct perf_names *names, const struct perf_frame *frame, struct perf_named_frame *named,
                             struct error *err) {
    const struct perf_spaces *spaces = &names->recording->spaces;
    const struct perf_image *image = &spaces->images[frame->image];
    bool is_module = image->kind == PERF_IMAGE_MODULE;
    if (!names->is_kernel_read) {
        names->is_kernel_read = true;
        perf_kernel_open(&names->kernel, perf_image_build_id(spaces, IMAGE_KERNEL), names->recording->facts.release,
                         spaces->kernel_symbol, spaces->kernel_start);
    }
    const char *name = NULL;
    if (!is_module) name = perf_kernel_name(&names->kernel, frame->address + spaces->kernel_start);
    if (is_module && !names->kernel.moved)
        name = perf_kernel_name(&names->kernel, frame->address + image->module_start);
    struct writer_mapping mapping = {.filename = image->path,
                                     .build_id = perf_image_build_id(spaces, frame->image),
                                     .memory_limit = INT64_MAX,
                                     .has_functions = names->kernel.count != 0};
    named->mapping_id = known_mapping(&names->images[frame->image], 0);
    if (!named->mapping_id) named->mapping_id = add_mapping(names, frame->image, &mapping, err);
    if (named->mapping_id < 0) return -1;
    named->location_id = named_location(names, named->mapping_id, frame->address, name ? name : kernel_name, err);
    return named->location_id < 0 ? -1 : 0;
}

static int name_frame(struct perf_names *names, uint32_t number, struct error *err) {
    const struct perf_frame *frame = perf_recording_frame(names->recording, number);
    struct perf_named_frame *named = &names->frames[number];
    const struct perf_image *image = &names->recording->spaces.images[frame->image];
    switch (image->kind) {
    case PERF_IMAGE_FILE: return name_file_frame(names, frame, named, err);
    case PERF_IMAGE_KERNEL:
    case PERF_IMAGE_MODULE: return name_kernel_frame(names, frame, named, err);
    case PERF_IMAGE_FUNCTION: named->location_id = named_location(names, 0, frame->address, image->path, err); break;
    case PERF_IMAGE_GUEST: named->location_id = named_location(names, 0, frame->address, guest_name, err); break;
    case PERF_IMAGE_NONE: named->location_id = named_location(names, 0, frame->address, unknown_name, err); break;
    }
    return named->location_id < 0 ? -1 : 0;
}

/* ---- stacks ------------------------------------------------------------------------------------------------------ */

int64_t perf_names_trace(struct perf_names *names, uint32_t stack, struct error *err) {
    if (names->traces[stack]) return names->traces[stack];
    const struct map_entry *entry = &names->recording->stacks.entries[stack];
    const uint32_t *frames = entry->key;
    size_t depth = entry->size / sizeof *frames;
    int64_t *ids = xmalloc((depth + 1) * sizeof *ids);
    int code = 0;
    for (size_t i = 0; i < depth && code == 0; i++) {
        if (!names->frames[frames[i]].location_id) code = name_frame(names, frames[i], err);
        ids[i] = names->frames[frames[i]].location_id;
    }
    int64_t id = code ? -1 : writer_stack(names->writer, ids, depth, err);
    free(ids);
    if (id > 0) names->traces[stack] = id;
    return id;
}

/* The numbers of the frames in the stacks of an event, each once, in the order in which they are met. */
static size_t frames_met(const struct perf_recording *recording, uint32_t event, uint32_t *met) {
    bool *is_met = xcalloc(recording->frames.count + 1, sizeof *is_met);
    size_t count = 0;
    for (size_t i = 0; i < recording->row_count; i++) {
        if (recording->rows[i].event != event) continue;
        const struct map_entry *entry = &recording->stacks.entries[recording->rows[i].stack];
        const uint32_t *frames = entry->key;
        for (size_t f = 0; f < entry->size / sizeof *frames; f++) {
            if (!is_met[frames[f]]) met[count++] = frames[f];
            is_met[frames[f]] = true;
        }
    }
    free(is_met);
    return count;
}

size_t perf_names_mappings(struct perf_names *names, uint32_t event, int64_t **ids) {
    const struct perf_recording *recording = names->recording;
    uint32_t *met = xmalloc((recording->frames.count + 1) * sizeof *met);
    const size_t met_count = frames_met(recording, event, met);
    struct map seen = {0};
    size_t count = 0;
    *ids = xmalloc((recording->frames.count + 1) * sizeof **ids);
    for (int pass = 0; pass < 2; pass++) /* programs, then the rest */
        for (size_t i = 0; i < met_count; i++) {
            const uint32_t image = perf_recording_frame(recording, met[i])->image;
            const int64_t id = names->frames[met[i]].mapping_id;
            bool is_new;
            if (!id || (pass == 0 && !recording->spaces.images[image].is_program)) continue;
            map_put(&seen, &id, sizeof id, &is_new);
            if (is_new) (*ids)[count++] = id;
        }
    map_free(&seen);
    free(met);
    return count;
}

const char *perf_names_variable(struct perf_names *names, const struct perf_data_place *place) {
    if (place->image == IMAGE_NONE || names->recording->spaces.images[place->image].pid) return NULL;
    struct perf_named_image *image = open_image(names, place->image);
    uint64_t offset;
    if (!image->elf.is_there) return NULL;
    return symbolize_data(image->module, elf_code_address(&image->elf, place->code_offset) + place->distance, &offset);
}
