#include "ingest/read/perf/process_maps.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"

#include "base/buffer.h"
#include "base/hex.h"

/* vm.max_map_count is 65,530 by default, and few of a process's mappings hold code. All processes together: 192 MB. */
enum { AREAS_MAX = 1 << 16, ALL_AREAS_MAX = 6 << 20 };

static const char kernel_prefix[] = "[kernel.kallsyms]";

/* ---- images ------------------------------------------------------------------------------------------------------ */

static const char *hex_text(struct arena *arena, const unsigned char *bytes, size_t size) {
    char hex[41];
    if (size > 20) size = 20;
    hex_bytes(hex, bytes, size);
    return arena_text(arena, hex, size * 2);
}

static uint32_t add_image(struct perf_spaces *spaces, enum perf_image_kind kind, const char *path, size_t path_size,
                          const char *build_id, uint32_t pid) {
    struct buffer key = {0};
    buffer_add(&key, &kind, sizeof kind);
    buffer_add(&key, &pid, sizeof pid);
    buffer_add(&key, path, path_size);
    buffer_add(&key, "", 1);
    buffer_add_text(&key, build_id);
    bool added;
    struct map_entry *entry = map_put(&spaces->by_name, key.data, key.size, &added);
    buffer_free(&key);
    if (!added) return (uint32_t)entry->value;
    entry->value = (int64_t)spaces->image_count;
    if ((spaces->image_count & (spaces->image_count - 1)) == 0) /* a power of two: full */
        spaces->images = xrealloc(spaces->images, (spaces->image_count * 2 + 1) * sizeof *spaces->images);
    spaces->images[spaces->image_count] = (struct perf_image){
        .kind = kind, .path = arena_text(&spaces->texts, path, path_size), .build_id = build_id, .pid = pid};
    return (uint32_t)spaces->image_count++;
}

void perf_spaces_build_id(struct perf_spaces *spaces, const char *path, size_t path_size, const unsigned char *build_id,
                          size_t size) {
    map_put(&spaces->build_ids, path, path_size, NULL)->value = (intptr_t)hex_text(&spaces->texts, build_id, size);
}

const char *perf_image_build_id(const struct perf_spaces *spaces, uint32_t index) {
    const struct perf_image *image = &spaces->images[index];
    if (*image->build_id) return image->build_id;
    const struct map_entry *entry = map_find(&spaces->build_ids, image->path, strlen(image->path));
    return entry ? (const char *)(intptr_t)entry->value : "";
}

/* ---- areas ------------------------------------------------------------------------------------------------------- */

static void release(struct perf_spaces *spaces, struct perf_areas *areas) {
    if (!areas || --areas->users) return;
    spaces->area_count -= areas->count;
    free(areas->items);
    free(areas);
}

/* The areas of a space, copied if they are shared. */
static struct perf_areas *own_areas(struct perf_spaces *spaces, struct perf_space *space) {
    struct perf_areas *shared = space->areas;
    if (shared && shared->users == 1) return shared;
    struct perf_areas *own = space->areas = xcalloc(1, sizeof *own);
    own->users = 1;
    if (!shared) return own;
    own->count = own->capacity = shared->count;
    own->items = xmalloc((own->count + 1) * sizeof *own->items);
    memcpy(own->items, shared->items, own->count * sizeof *own->items);
    spaces->area_count += own->count;
    shared->users--;
    return own;
}

/* The index of the first area that ends above the address. */
static size_t first_behind(const struct perf_areas *areas, uint64_t address) {
    return SEARCH_ABOVE(struct perf_area, areas->items, areas->count, end, address);
}

const struct perf_area *perf_space_find(const struct perf_space *space, uint64_t address) {
    if (!space->areas) return NULL;
    size_t index = first_behind(space->areas, address);
    if (index == space->areas->count || space->areas->items[index].start > address) return NULL;
    return &space->areas->items[index];
}

const struct perf_area *perf_space_below(const struct perf_space *space, uint64_t address) {
    const struct perf_areas *areas = space->areas;
    size_t above = areas ? SEARCH_ABOVE(struct perf_area, areas->items, areas->count, start, address) : 0;
    return above ? &areas->items[above - 1] : NULL;
}

/* Replaces `old` areas by `count` others. */
static void replace(struct perf_areas *areas, size_t at, size_t old, const struct perf_area *with, size_t count) {
    if (count == 0 && old == 0) return; /* nor any memory to move */
    if (areas->count + count > areas->capacity + old) {
        areas->capacity = areas->capacity * 2 + count;
        areas->items = xrealloc(areas->items, areas->capacity * sizeof *areas->items);
    }
    memmove(areas->items + at + count, areas->items + at + old, (areas->count - at - old) * sizeof *areas->items);
    memcpy(areas->items + at, with, count * sizeof *with);
    areas->count = areas->count - old + count;
}

/* A new mapping replaces what it overlaps, as with mmap(MAP_FIXED); parts of old ones outside of it stay. image 0:
 * nothing is mapped there afterwards. */
static int put_area(struct perf_spaces *spaces, struct perf_space *space, struct perf_area area, struct error *err) {
    struct perf_areas *areas = own_areas(spaces, space);
    size_t first = first_behind(areas, area.start), last = first, count = 0, before = areas->count;
    struct perf_area with[3];
    while (last < areas->count && areas->items[last].start < area.end)
        last++;
    if (last > first && areas->items[first].start < area.start) {
        with[count] = areas->items[first];
        with[count++].end = area.start;
    }
    if (area.image) with[count++] = area;
    if (last > first && areas->items[last - 1].end > area.end) {
        with[count] = areas->items[last - 1];
        with[count].file_offset += area.end - with[count].start;
        with[count++].start = area.end;
    }
    replace(areas, first, last - first, with, count);
    spaces->area_count += areas->count - before;
    space->version = ++spaces->version;
    if (areas->count > AREAS_MAX || spaces->area_count > ALL_AREAS_MAX)
        return error_fail(err, "too many mappings (%zu in one process, %zu in all)", areas->count, spaces->area_count);
    return 0;
}

/* ---- processes --------------------------------------------------------------------------------------------------- */

static size_t space_index(struct perf_spaces *spaces, uint32_t pid) {
    bool added;
    struct map_entry *entry = map_put(&spaces->by_pid, &pid, sizeof pid, &added);
    if (!added) return (size_t)entry->value;
    entry->value = (int64_t)spaces->space_count;
    if ((spaces->space_count & (spaces->space_count - 1)) == 0)
        spaces->spaces = xrealloc(spaces->spaces, (spaces->space_count * 2 + 1) * sizeof *spaces->spaces);
    spaces->spaces[spaces->space_count] = (struct perf_space){.version = ++spaces->version};
    return spaces->space_count++;
}

void perf_spaces_open(struct perf_spaces *spaces) {
    *spaces = (struct perf_spaces){.kernel_symbol = ""};
    add_image(spaces, PERF_IMAGE_NONE, "", 0, "", 0);
    add_image(spaces, PERF_IMAGE_KERNEL, kernel_prefix, sizeof kernel_prefix - 1, "", 0);
    add_image(spaces, PERF_IMAGE_GUEST, "[guest]", 7, "", 0);
    space_index(spaces, UINT32_MAX); /* the pid of the kernel's mappings */
}

void perf_spaces_free(struct perf_spaces *spaces) {
    for (size_t i = 0; i < spaces->space_count; i++)
        release(spaces, spaces->spaces[i].areas);
    free(spaces->spaces);
    free(spaces->images);
    map_free(&spaces->by_pid);
    map_free(&spaces->by_name);
    map_free(&spaces->build_ids);
    arena_free(&spaces->texts);
    *spaces = (struct perf_spaces){0};
}

struct perf_space *perf_spaces_of(struct perf_spaces *spaces, uint32_t pid) {
    size_t index = space_index(spaces, pid); /* first: it may move the spaces */
    return &spaces->spaces[index];
}

struct perf_space *perf_spaces_kernel(struct perf_spaces *spaces) {
    return &spaces->spaces[0];
}

static void set_areas(struct perf_spaces *spaces, struct perf_space *space, struct perf_areas *areas) {
    if (areas) areas->users++;
    release(spaces, space->areas);
    space->areas = areas;
    space->version = ++spaces->version;
}

void perf_spaces_fork(struct perf_spaces *spaces, const struct perf_data_task *task) {
    if (task->pid == task->parent_pid || task->keeps_maps) return; /* a thread; a process whose own maps will follow */
    if (task->pid == UINT32_MAX || task->parent_pid == UINT32_MAX) return;
    size_t child = space_index(spaces, task->pid), parent = space_index(spaces, task->parent_pid);
    set_areas(spaces, &spaces->spaces[child], spaces->spaces[parent].areas);
}

/* The areas of the old program stay until those of the new one replace them, as in perf: while the kernel is in execve,
 * a stack ends in the old program. */
void perf_spaces_exec(struct perf_spaces *spaces, uint32_t pid) {
    if (pid != UINT32_MAX) perf_spaces_of(spaces, pid)->is_started = true;
}

/* "[kernel.kallsyms]_text": the reference symbol follows the bracket, and the file offset is its run-time address, from
 * which the load address of the kernel follows. */
static int map_kernel(struct perf_spaces *spaces, const struct perf_data_mmap *mmap, struct error *err) {
    const size_t prefix = sizeof kernel_prefix - 1;
    struct perf_area area = {mmap->start, mmap->start + mmap->size, 0, IMAGE_KERNEL};
    if (mmap->path_size >= prefix && memcmp(mmap->path, kernel_prefix, prefix) == 0) {
        spaces->kernel_start = mmap->path_size > prefix ? mmap->file_offset : 0;
        spaces->kernel_symbol = arena_text(&spaces->texts, mmap->path + prefix, mmap->path_size - prefix);
        area.file_offset = mmap->start - spaces->kernel_start;
        if (mmap->build_id) {
            struct perf_image *kernel = &spaces->images[IMAGE_KERNEL];
            kernel->build_id = hex_text(&spaces->texts, mmap->build_id, mmap->build_id_size);
        }
    } else {
        const char *build_id = mmap->build_id ? hex_text(&spaces->texts, mmap->build_id, mmap->build_id_size) : "";
        area.file_offset = mmap->file_offset;
        area.image = add_image(spaces, PERF_IMAGE_MODULE, mmap->path, mmap->path_size, build_id, 0);
        spaces->images[area.image].module_start = mmap->start - mmap->file_offset;
    }
    return put_area(spaces, perf_spaces_kernel(spaces), area, err);
}

static bool is_anonymous(const struct perf_data_mmap *mmap) {
    static const char *const prefixes[] = {"//anon", "/anon_hugepage", "[heap]", "[stack", "/dev/zero", "/SYSV"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t size = strlen(prefixes[i]);
        if (mmap->path_size >= size && memcmp(mmap->path, prefixes[i], size) == 0) return true;
    }
    return false;
}

int perf_spaces_map(struct perf_spaces *spaces, const struct perf_data_mmap *mmap, struct error *err) {
    if (mmap->size == 0 || mmap->is_data) return 0;
    if (mmap->pid == UINT32_MAX || mmap->mode == PERF_MODE_KERNEL) return map_kernel(spaces, mmap, err);
    if (mmap->mode == PERF_MODE_GUEST_KERNEL || mmap->mode == PERF_MODE_GUEST_USER) return 0;
    const char *build_id = mmap->build_id ? hex_text(&spaces->texts, mmap->build_id, mmap->build_id_size) : "";
    uint32_t pid = is_anonymous(mmap) ? mmap->pid : 0;
    /* Anonymous memory: its addresses stay those of the process. */
    struct perf_area area = {mmap->start, mmap->start + mmap->size, pid ? mmap->start : mmap->file_offset, 0};
    area.image = add_image(spaces, PERF_IMAGE_FILE, mmap->path, mmap->path_size, build_id, pid);
    struct perf_space *space = perf_spaces_of(spaces, mmap->pid);
    if (space->is_started && !pid) { /* the kernel maps the program first, its loader next */
        spaces->images[area.image].is_program = true;
        space->is_started = false;
    }
    return put_area(spaces, space, area, err);
}

int perf_spaces_ksymbol(struct perf_spaces *spaces, uint64_t address, uint64_t size, const char *name, size_t name_size,
                        bool is_gone, struct error *err) {
    if (size == 0 || size > UINT64_MAX - address) return 0;
    struct perf_area area = {address, address + size, 0, IMAGE_NONE};
    if (!is_gone) area.image = add_image(spaces, PERF_IMAGE_FUNCTION, name, name_size, "", 0);
    return put_area(spaces, perf_spaces_kernel(spaces), area, err);
}
