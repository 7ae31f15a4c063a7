#include "ingest/record/names/resolve.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/hex.h"
#include "base/path.h"
#include "ingest/symbols/source_rows.h"
#include "ingest/writer/module_mapping.h"
#include "schema/schema.h"

/* ---- images ------------------------------------------------------------------------------------------------------ */

int resolver_open(struct resolver *resolver, struct db *db, struct error *err) {
    *resolver = (struct resolver){.db = db};
    if (writer_open(&resolver->writer, db, err)) return -1;
    resolver->symbolizer = symbolizer_open();
    return 0;
}

static void forget_ids(struct image *image) {
    free(image->ranges);
    image->ranges = NULL;
    image->range_count = 0;
    map_free(&image->locations);
    image->locations = (struct map){0};
    image->is_known = image->has_lender = false;
    image->looked_to = 0;
}

int resolver_forget(struct resolver *resolver, struct error *err) {
    for (size_t i = 0; i < resolver->image_count; i++)
        forget_ids(resolver->images[i]);
    sources_rolled_back(symbolizer_sources(resolver->symbolizer));
    writer_free(&resolver->writer);
    return writer_open(&resolver->writer, resolver->db, err);
}

void resolver_close(struct resolver *resolver) {
    for (size_t i = 0; i < resolver->image_count; i++) {
        forget_ids(resolver->images[i]);
        free(resolver->images[i]->path);
        free(resolver->images[i]->build_id);
        free(resolver->images[i]);
    }
    free(resolver->images);
    map_free(&resolver->by_name);
    symbolizer_close(resolver->symbolizer);
    writer_free(&resolver->writer);
    free(resolver->linked_file);
    free(resolver->link);
    *resolver = (struct resolver){0};
}

static struct image *find_image(struct resolver *resolver, const char *path, const char *build_id) {
    struct buffer key = {0};
    buffer_add(&key, path, strlen(path) + 1);
    buffer_add_text(&key, build_id);
    bool added;
    struct map_entry *entry = map_put(&resolver->by_name, key.data, key.size, &added);
    buffer_free(&key);
    if (!added) return resolver->images[entry->value];
    struct image *image = xcalloc(1, sizeof *image);
    image->path = xstrdup(path);
    image->build_id = xstrdup(build_id);
    entry->value = (int64_t)resolver->image_count;
    resolver->images = xrealloc(resolver->images, (resolver->image_count + 1) * sizeof *resolver->images);
    return resolver->images[resolver->image_count++] = image;
}

void resolver_called(struct resolver *resolver, const char *file, const char *link) {
    free(resolver->linked_file);
    free(resolver->link);
    resolver->linked_file = xstrdup(file);
    resolver->link = xstrdup(link);
}

const char *resolver_path(const struct resolver *resolver, const char *path) {
    return resolver->link && strcmp(path, resolver->linked_file) == 0 ? resolver->link : path;
}

static struct symbolizer_module *module_of(struct resolver *resolver, struct image *image) {
    size_t size = resolver->moved ? strlen(resolver->moved) : 0;
    if (image->module) return image->module;
    if (!size || strncmp(image->path, resolver->moved, size) != 0 || image->path[size] != '/')
        return image->module = symbolizer_module(resolver->symbolizer, image->path, image->build_id);
    char *path = xasprintf("%s%s", resolver->moved_to, image->path + size);
    image->module = symbolizer_module(resolver->symbolizer, path, image->build_id);
    free(path);
    return image->module;
}

/* ---- address spaces ---------------------------------------------------------------------------------------------- */

void address_space_put(struct resolver *resolver, struct address_space *space, size_t index,
                       const struct segment_module *module) {
    uint32_t epoch_end = module->epoch_end;
    if (index < space->count) {
        space->modules[index].epoch_end = epoch_end;
        return;
    }
    if (space->count == space->capacity) {
        space->capacity = space->capacity ? space->capacity * 2 : 16;
        space->modules = xrealloc(space->modules, space->capacity * sizeof *space->modules);
    }
    char build_id[SEGMENT_BUILD_ID_MAX * 2 + 1];
    hex_bytes(build_id, module->build_id, module->build_id_size);
    space->modules[space->count++] =
        (struct loaded){.image = find_image(resolver, resolver_path(resolver, module->path), build_id),
                        .bias = module->bias,
                        .low = module->low,
                        .high = module->high,
                        .epoch_start = module->epoch_start,
                        .epoch_end = epoch_end};
}

void address_space_free(struct address_space *space) {
    free(space->modules);
    free(space->mapping_ids);
    jit_names_free(&space->jit);
    python_codes_free(&space->python);
    map_free(&space->blocks);
    map_free(&space->block_counts);
    *space = (struct address_space){0};
}

const char *address_space_build_id(const struct address_space *space, const char *path) {
    for (size_t i = 0; i < space->count; i++)
        if (strcmp(space->modules[i].image->path, path) == 0) return space->modules[i].image->build_id;
    return "";
}

bool address_space_bias(const struct address_space *space, const char *path, uint64_t *bias) {
    for (size_t i = 0; i < space->count; i++) {
        if (strcmp(space->modules[i].image->path, path) != 0) continue;
        *bias = space->modules[i].bias;
        return true;
    }
    return false;
}

static bool holds(const struct loaded *loaded, uint64_t address, uint32_t epoch) {
    return address >= loaded->low && address < loaded->high && epoch >= loaded->epoch_start &&
           (!loaded->epoch_end || epoch < loaded->epoch_end);
}

static const struct loaded *find_loaded(struct address_space *space, uint64_t address, uint32_t epoch) {
    if (space->last < space->count && holds(&space->modules[space->last], address, epoch))
        return &space->modules[space->last];
    for (size_t i = 0; i < space->count; i++)
        if (holds(&space->modules[i], address, epoch)) return &space->modules[space->last = i];
    return NULL;
}

void address_space_meet(struct address_space *space, const uint64_t *pcs, size_t depth, uint32_t epoch) {
    for (size_t i = 0; i < depth; i++) {
        const bool has_file = !(pcs[i] & PYTHON_FRAME) && pcs[i] != LEAF_RECORDER && pcs[i] != LEAF_UNSAMPLED;
        const struct loaded *loaded = has_file && pcs[i] ? find_loaded(space, pcs[i] - 1, epoch) : NULL;
        if (loaded) loaded->image->is_met = true;
    }
}

void resolver_read_ahead(struct resolver *resolver) {
    struct symbolizer_module **modules = xcalloc(resolver->image_count + 1, sizeof(struct symbolizer_module *));
    size_t count = 0;
    for (size_t i = 0; i < resolver->image_count; i++)
        if (resolver->images[i]->is_met) modules[count++] = module_of(resolver, resolver->images[i]);
    symbolizer_read_ahead(resolver->symbolizer, modules, count);
    free(modules);
}

static void note_mapping(struct address_space *space, int64_t mapping_id) {
    for (size_t i = 0; i < space->mapping_count; i++)
        if (space->mapping_ids[i] == mapping_id) return;
    space->mapping_ids = xrealloc(space->mapping_ids, (space->mapping_count + 1) * sizeof *space->mapping_ids);
    space->mapping_ids[space->mapping_count++] = mapping_id;
}

/* ---- mappings ---------------------------------------------------------------------------------------------------- */

static const struct image_range *add_range(struct image *image, uint64_t start, uint64_t limit, int64_t mapping_id) {
    image->ranges = xrealloc(image->ranges, (image->range_count + 1) * sizeof *image->ranges);
    image->ranges[image->range_count] = (struct image_range){start, limit, mapping_id};
    return &image->ranges[image->range_count++];
}

/* The mapping that an earlier run stored for that address; *range is NULL where there is none. With it, a run of known
 * code need not open the file. Only with a build id: without one the file may have changed. */
static int stored_range(struct resolver *resolver, struct image *image, uint64_t address,
                        const struct image_range **range, struct error *err) {
    *range = NULL;
    if (!*image->build_id) return 0;
    sqlite3_stmt *statement = db_prepare(resolver->db, embedded_text("ingest/resolve/stored_mapping"), err);
    if (!statement) return -1;
    db_bind_text(statement, ":path", image->path);
    db_bind_text(statement, ":build", image->build_id);
    db_bind_int(statement, ":address", (int64_t)address);
    int code = db_step(resolver->db, statement, err);
    if (code == 1) {
        *range = add_range(image, (uint64_t)sqlite3_column_int64(statement, 1),
                           (uint64_t)sqlite3_column_int64(statement, 2), sqlite3_column_int64(statement, 0));
        sqlite3_reset(statement);
    }
    return code < 0 ? -1 : 0;
}

static int new_range(struct resolver *resolver, const struct loaded *loaded, uint64_t address,
                     const struct image_range **range, struct error *err) {
    struct image *image = loaded->image;
    int64_t started_ns = clock_monotonic_ns();
    struct symbolizer_module *module = module_of(resolver, image);
    struct symbol_segment segment;
    if (!symbolizer_segment(module, address, &segment))
        segment = (struct symbol_segment){loaded->low - loaded->bias, loaded->high - loaded->bias, 0};
    struct writer_mapping mapping = module_mapping(module, &segment, image->path, image->build_id);
    resolver->symbolize_ns += (uint64_t)(clock_monotonic_ns() - started_ns);
    int64_t id = writer_mapping(&resolver->writer, &mapping, err);
    if (id < 0) return -1;
    *range = add_range(image, segment.start, segment.limit, id);
    return 0;
}

static int find_range(struct resolver *resolver, const struct loaded *loaded, uint64_t address,
                      const struct image_range **range, struct error *err) {
    const struct image *image = loaded->image;
    for (size_t i = 0; i < image->range_count; i++) {
        *range = &image->ranges[i];
        if (address >= (*range)->start && address < (*range)->limit) return 0;
    }
    if (stored_range(resolver, loaded->image, address, range, err)) return -1;
    return *range ? 0 : new_range(resolver, loaded, address, range, err);
}

/* ---- locations --------------------------------------------------------------------------------------------------- */

/* Whether an unstripped copy of the file was ever recorded. Looked for again only where there are new mappings: nearly all code is stripped, and
 * no copy of it is there. */
static int look_for_lender(struct resolver *resolver, struct image *image, struct error *err) {
    int64_t newest, count;
    if (image->has_lender) return 0;
    if (db_int(resolver->db, "SELECT max(id) FROM mappings", 0, &newest, err)) return -1;
    if (newest == image->looked_to) return 0;
    sqlite3_stmt *row =
        db_prepare(resolver->db, "SELECT count(*) FROM mappings WHERE build_id = :build AND has_line_numbers = 1", err);
    if (!row) return -1;
    db_bind_text(row, ":build", image->build_id);
    if (db_step(resolver->db, row, err) < 0) return -1;
    count = sqlite3_column_int64(row, 0);
    sqlite3_reset(row);
    image->has_lender = count > 0;
    image->looked_to = newest;
    return 0;
}

/* The location with the lines that an unstripped copy of the file had there; 0: none was recorded. */
static int64_t borrowed_location(struct resolver *resolver, struct image *image, int64_t mapping_id, uint64_t address,
                                 struct error *err) {
    enum { LINES_MAX = 64 };
    struct writer_line lines[LINES_MAX];
    size_t count = 0;
    if (!*image->build_id || symbolizer_has_lines(module_of(resolver, image))) return 0;
    if (look_for_lender(resolver, image, err)) return -1;
    if (!image->has_lender) return 0;
    sqlite3_stmt *row = db_prepare(resolver->db, embedded_text("ingest/resolve/lines_of_build"), err);
    if (!row || writer_flush(&resolver->writer, err)) return -1;
    db_bind_text(row, ":build", image->build_id);
    db_bind_int(row, ":address", (int64_t)address);
    int code;
    while ((code = db_step(resolver->db, row, err)) == 1 && count < LINES_MAX)
        lines[count++] = (struct writer_line){sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1),
                                              sqlite3_column_int64(row, 2)};
    sqlite3_reset(row);
    if (code < 0) return -1;
    return count ? writer_location(&resolver->writer, mapping_id, address, 0, lines, count, err) : 0;
}

static int64_t symbolized_location(struct resolver *resolver, struct image *image, int64_t mapping_id, uint64_t address,
                                   struct error *err) {
    const struct symbol_frame *frames;
    int64_t started_ns = clock_monotonic_ns();
    size_t count = symbolize(module_of(resolver, image), address, &frames);
    resolver->symbolize_ns += (uint64_t)(clock_monotonic_ns() - started_ns);
    struct writer_line *lines = xcalloc(count, sizeof *lines);
    int64_t id = 0;
    for (size_t i = 0; i < count && id >= 0; i++) {
        id = writer_function(&resolver->writer, frames[i].name, frames[i].system_name, frames[i].file,
                             frames[i].start_line, err);
        lines[i] = (struct writer_line){id, frames[i].line, frames[i].column};
    }
    if (id >= 0) id = writer_location(&resolver->writer, mapping_id, address, 0, lines, count, err);
    free(lines);
    return id;
}

static int64_t named_location(struct resolver *resolver, uint64_t address, const char *name, struct error *err) {
    struct writer_line line = {.function_id = writer_function(&resolver->writer, name, name, "", 0, err)};
    return line.function_id < 0 ? -1 : writer_location(&resolver->writer, 0, address, 0, &line, 1, err);
}

/* Of a function of a Python script: by its file, not by an address. */
static int64_t python_location(struct resolver *resolver, const struct address_space *space, uint64_t pc,
                               struct error *err) {
    const struct python_code *code = python_code_of(&space->python, pc);
    if (!code) return named_location(resolver, 0, "[python]", err);
    struct writer_line line = {0};
    python_line(code, pc, &line.line, &line.column);
    line.function_id = writer_function(&resolver->writer, code->name, code->name, code->file, code->first_line, err);
    return line.function_id < 0 ? -1 : writer_location(&resolver->writer, 0, 0, 0, &line, 1, err);
}

static int64_t image_location(struct resolver *resolver, struct address_space *space, const struct loaded *loaded,
                              uint64_t address, struct error *err) {
    struct image *image = loaded->image;
    const struct image_range *range;
    if (find_range(resolver, loaded, address, &range, err)) return -1;
    note_mapping(space, range->mapping_id);
    const struct map_entry *known = map_find(&image->locations, &address, sizeof address);
    if (known) return known->value;
    int64_t mapping_id = range->mapping_id, id = 0;
    if (*image->build_id) id = writer_find_location(&resolver->writer, mapping_id, address, err);
    if (id > 0) image->is_known = true;
    if (id == 0) id = borrowed_location(resolver, image, mapping_id, address, err);
    if (id == 0) id = symbolized_location(resolver, image, mapping_id, address, err);
    if (id > 0) map_put(&image->locations, &address, sizeof address, NULL)->value = id;
    return id;
}

static int64_t resolve_location(struct resolver *resolver, struct address_space *space, uint64_t pc, uint32_t epoch,
                                struct error *err) {
    /* A return address may be beyond the end of its function, and even of its module. */
    uint64_t address = pc ? pc - 1 : 0;
    if (pc & PYTHON_FRAME) return python_location(resolver, space, pc, err);
    if (pc == LEAF_RECORDER) return named_location(resolver, pc, "[clear]", err);
    if (pc == LEAF_UNSAMPLED) return named_location(resolver, pc, "[unsampled]", err);
    const struct loaded *loaded = find_loaded(space, address, epoch);
    if (!loaded) return named_location(resolver, address, jit_name(&space->jit, address), err);
    return image_location(resolver, space, loaded, address - loaded->bias, err);
}

int64_t resolve_trace_below(struct resolver *resolver, struct address_space *space, const char *leaf,
                            const uint64_t *pcs, size_t depth, uint32_t epoch, struct error *err) {
    int64_t ids[SEGMENT_DEPTH_MAX + 1];
    size_t count = 0;
    if (leaf && (ids[count++] = named_location(resolver, 0, leaf, err)) < 0) return -1;
    for (size_t i = 0; i < depth && i < SEGMENT_DEPTH_MAX; i++)
        if ((ids[count++] = resolve_location(resolver, space, pcs[i], epoch, err)) < 0) return -1;
    return writer_stack(&resolver->writer, ids, count, err);
}

int64_t resolve_trace(struct resolver *resolver, struct address_space *space, const uint64_t *pcs, size_t depth,
                      uint32_t epoch, struct error *err) {
    return resolve_trace_below(resolver, space, NULL, pcs, depth, epoch, err);
}

int resolver_store_sources(struct resolver *resolver, int64_t run_id, struct error *err) {
    for (size_t i = 0; i < resolver->image_count; i++) {
        struct image *image = resolver->images[i];
        for (size_t j = 0; image->is_known && j < image->range_count; j++)
            if (sources_inherit(resolver->db, run_id, image->ranges[j].mapping_id, err)) return -1;
        image->is_known = false;
    }
    return sources_store(symbolizer_sources(resolver->symbolizer), resolver->db, run_id, err);
}

/* ---- objects ----------------------------------------------------------------------------------------------------- */

/* The block's number among those whose allocating stack has that signature, from 1, in the order in which they were asked for. Many
 * blocks of one stack are a crowd, not things to tell apart: those beyond the first have one number together. */
static int64_t block_number(struct address_space *space, uint64_t signature, uint64_t block) {
    enum { APART = 64 };
    const uint64_t key[] = {signature, block};
    bool added;
    struct map_entry *number = map_put(&space->blocks, key, sizeof key, &added);
    if (!added) return number->value;
    struct map_entry *count = map_put(&space->block_counts, &signature, sizeof signature, NULL);
    if (count->value <= APART) count->value++;
    return number->value = count->value;
}

struct number_text {
    char text[24];
};

/* `#NUMBER`, or nothing for the first. */
static struct number_text number_suffix(int64_t number) {
    struct number_text text = {""};
    if (number > 1) snprintf(text.text, sizeof text.text, "#%" PRId64, number);
    return text;
}

static int64_t heap_object(struct resolver *resolver, struct address_space *space, const char *kind,
                           const struct segment_object *object, int64_t trace, struct error *err) {
    sqlite3_stmt *statement = db_prepare(resolver->db, embedded_text("ingest/resolve/trace_signature"), err);
    if (!statement || writer_flush(&resolver->writer, err)) return -1;
    db_bind_int(statement, ":trace", trace);
    int code = db_step(resolver->db, statement, err);
    if (code < 0) return -1;
    uint64_t signature = code ? (uint64_t)sqlite3_column_int64(statement, 0) : 0;
    const char *function = code ? db_text(statement, 1) : "";
    bool is_cell = object->kind == OBJECT_CELL;
    struct number_text number =
        number_suffix(is_cell ? 1 : block_number(space, signature, object->address - object->offset));
    char *name = xasprintf("%s+%" PRIu64 "%s", *function ? function : "?", object->offset, number.text);
    char *identity = xasprintf("heap:%016" PRIx64 "+%" PRIu64 "%s", signature, object->offset, number.text);
    sqlite3_reset(statement);
    int64_t id = writer_object(&resolver->writer, kind, identity, name, trace, object->offset, err);
    free(name);
    free(identity);
    return id;
}

static int64_t global_object(struct resolver *resolver, const char *kind, const struct loaded *loaded, uint64_t address,
                             struct error *err) {
    uint64_t offset = 0;
    const char *module = path_base(loaded->image->path);
    const char *symbol = symbolize_data(module_of(resolver, loaded->image), address - loaded->bias, &offset);
    struct hex_text in_file = hex_address(address - loaded->bias);
    if (!symbol) {
        symbol = in_file.text;
        offset = 0;
    }
    char *name = offset ? xasprintf("%s:%s+%" PRIu64, module, symbol, offset) : xasprintf("%s:%s", module, symbol);
    /* The file's own name, so that an object is the same however the program was started. */
    if (resolver->link && strcmp(loaded->image->path, resolver->link) == 0) module = path_base(resolver->linked_file);
    char *identity = xasprintf("symbol:%s:%s+%" PRIu64, module, symbol, offset);
    int64_t id = writer_object(&resolver->writer, kind, identity, name, 0, offset, err);
    free(name);
    free(identity);
    return id;
}

/* `trades (local of run(), app.cc:41)`; `local of run(), app.cc:38` where nothing says which variable it is. Free it. */
static char *local_name(const struct symbol_local *local, const char *number) {
    struct buffer text = {0};
    if (local->variable) buffer_add_text(&text, local->variable);
    if (local->variable && local->offset) buffer_printf(&text, "+%" PRIu64, local->offset);
    if (local->variable) buffer_printf(&text, "%s (", number);
    buffer_printf(&text, "local of %s%s", local->function, local->is_made_up ? "" : "()");
    if (*local->file && local->line) buffer_printf(&text, ", %s:%d", path_base(local->file), local->line);
    buffer_add_text(&text, local->variable ? ")" : number);
    return buffer_take(&text);
}

/* What lies in a frame of a thread's stack: by function and variable. Places of one variable are told apart by their order, as blocks are. */
static int64_t local_object(struct resolver *resolver, struct address_space *space, const char *kind,
                            const struct loaded *loaded, const struct segment_object *object, struct error *err) {
    struct symbol_local local;
    int64_t started_ns = clock_monotonic_ns();
    symbolize_local(module_of(resolver, loaded->image), object->frame_pc - 1 - loaded->bias, object->frame_offset,
                    object->frame_size, &local);
    resolver->symbolize_ns += (uint64_t)(clock_monotonic_ns() - started_ns);
    char *whole =
        xasprintf("local:%s:%s:%s+%" PRId64, path_base(loaded->image->path), local.function,
                  local.variable ? local.variable : "", local.variable ? (int64_t)local.offset : object->frame_offset);
    struct number_text number = number_suffix(block_number(space, hash_bytes(whole, strlen(whole)), object->address));
    char *identity = xasprintf("%s%s", whole, number.text), *name = local_name(&local, number.text);
    int64_t id = writer_object(&resolver->writer, kind, identity, name, 0, local.offset, err);
    free(whole);
    free(identity);
    free(name);
    return id;
}

static int64_t named_object(struct resolver *resolver, const char *kind, const char *name, struct error *err) {
    char *identity = xasprintf("name:%s", name);
    int64_t id = writer_object(&resolver->writer, kind, identity, name, 0, 0, err);
    free(identity);
    return id;
}

/* Nothing is known that stays equal between runs: a channel has its number, which is equal if both runs open channels
 * in the same order; others have their address. */
static int64_t nameless_object(struct resolver *resolver, const char *kind, const struct segment_object *object,
                               struct error *err) {
    char name[32], identity[48];
    if (object->kind == OBJECT_CHANNEL) {
        snprintf(name, sizeof name, "channel#%" PRIu32, object->number);
        snprintf(identity, sizeof identity, "channel:%" PRIu32, object->number);
    } else {
        strcpy(name, hex_address(object->address).text);
        snprintf(identity, sizeof identity, "address:%s", name);
    }
    return writer_object(&resolver->writer, kind, identity, name, 0, 0, err);
}

int64_t resolve_object(struct resolver *resolver, struct address_space *space, const struct segment_object *object,
                       int64_t owner_trace, struct error *err) {
    const char *kind = object->kind == OBJECT_CELL      ? "cell"
                       : object->kind == OBJECT_CHANNEL ? "channel"
                       : object->kind == OBJECT_NAME    ? "name"
                       : object->kind >= OBJECT_COND    ? "wait"
                                                        : "lock";
    if (object->kind == OBJECT_JOIN) return named_object(resolver, kind, "thread join", err);
    if (object->kind == OBJECT_NAME || *object->name) return named_object(resolver, kind, object->name, err);
    if (owner_trace > 0) return heap_object(resolver, space, kind, object, owner_trace, err);
    const struct loaded *loaded = find_loaded(space, object->address, object->epoch);
    if (loaded) return global_object(resolver, kind, loaded, object->address, err);
    if (object->frame_pc) loaded = find_loaded(space, object->frame_pc - 1, object->epoch);
    if (loaded) return local_object(resolver, space, kind, loaded, object, err);
    return nameless_object(resolver, kind, object, err);
}
