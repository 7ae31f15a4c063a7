#include "ingest/shim/stacks/intern.h"

#include <dlfcn.h>
#include <string.h>

#include "ingest/shim/core/blocks.h"
#include "ingest/shim/stacks/local_frames.h"
#include "ingest/shim/stacks/modules.h"
#include "ingest/shim/stacks/unwind.h"

enum {
    STACK_CHUNK_BODY = 8 * 1024,
    CUT_DEPTH = 8, /* frames of a stack beyond --profile-max */
};

struct index *index_new(uint64_t slots) {
    struct index *index = private_memory(sizeof *index + slots * sizeof index->entries[0]);
    if (index) index->mask = slots - 1;
    return index;
}

/* A tick may come in between. */
struct index *index_small(struct thread *thread) {
    enum { ROOMS = sizeof thread->small_indexes / sizeof thread->small_indexes[0] };
    uint32_t room = thread->small_indexes_used < ROOMS ? fetch_add_relaxed(&thread->small_indexes_used, 1) : ROOMS;
    if (room >= ROOMS) return index_new(INDEX_SMALL);
    struct index *index = (struct index *)(void *)thread->small_indexes[room];
    index->mask = INDEX_SMALL - 1;
    return index;
}

static void index_add(struct index *index, uint64_t hash, uint64_t id) {
    uint64_t slot = hash & index->mask;
    while (index->entries[slot].hash)
        slot = (slot + 1) & index->mask;
    store_relaxed(&index->entries[slot].id, id);
    store_release(&index->entries[slot].hash, hash);
    index->count++;
}

/* Readers may still be inside the old index, so it is kept: all old ones together are as large as the new one. */
static bool index_reserve(struct index **place) {
    struct index *old = *place;
    if (old->count * 2 < old->mask) return true;
    struct index *grown = index_new((old->mask + 1) * 2);
    if (!grown) return false;
    for (uint64_t i = 0; i <= old->mask; i++)
        if (old->entries[i].hash) index_add(grown, old->entries[i].hash, old->entries[i].id);
    store_release(place, grown);
    return true;
}

bool index_put(struct index **place, uint64_t hash, uint64_t id) {
    if (!index_reserve(place)) return false;
    index_add(*place, hash, id);
    return true;
}

static uint64_t most_ids(uint64_t most) {
    return process->ids_max && process->ids_max < most ? process->ids_max : most;
}

/* It decides under the lock alone: threads that wait for the lock may all have asked before. */
static bool may_add(const _Atomic uint64_t *count, uint64_t most) {
    return load_relaxed(count) < most;
}

static bool may_add_object(void) {
    return may_add(&process->segment->objects, most_ids(OBJECT_ID_MAX));
}

/* The entry of a hash, or the free one where it would be. */
static struct index_entry *index_entry_of(struct index *index, uint64_t hash) {
    uint64_t slot = hash & index->mask;
    while (index->entries[slot].hash && index->entries[slot].hash != hash)
        slot = (slot + 1) & index->mask;
    return &index->entries[slot];
}

/* Adds a hash, or gives it another id. Needs room (index_reserve). */
static void index_set(struct index *index, uint64_t hash, uint64_t id) {
    struct index_entry *entry = index_entry_of(index, hash);
    if (entry->hash)
        store_relaxed(&entry->id, id);
    else
        index_add(index, hash, id);
}

/* --- stacks --------------------------------------------------------------------------------------------------- */

/* Room for an entry of `size` bytes, in the chunk that is being filled or in a new one. Needs process->lock. */
static struct segment_stack *stack_room(uint64_t size) {
    struct chunk *chunk = process->stack_chunk;
    if (!chunk || process->stack_chunk_used + size > chunk->size - sizeof *chunk) {
        chunk = chunk_new(STACK_CHUNK_BODY);
        if (!chunk) return NULL;
        chunk_publish(chunk, CHUNK_STACKS);
        process->stack_chunk = chunk;
        process->stack_chunk_used = 0;
    }
    return (struct segment_stack *)((char *)chunk_body(chunk) + process->stack_chunk_used);
}

static uint32_t add_stack(const struct walked_stack *stack) {
    uint64_t size = sizeof(struct segment_stack) + stack->depth * sizeof stack->pc[0];
    if (!index_reserve(&process->stacks)) return 0;
    struct segment_stack *entry = stack_room(size);
    if (!entry) return 0;
    uint32_t id = (uint32_t)load_relaxed(&process->segment->stacks) + 1;
    *entry = (struct segment_stack){
        .id = id, .depth = (uint16_t)stack->depth, .flags = (uint16_t)stack->flags, .epoch = process->epoch};
    memcpy(entry->pc, stack->pc, stack->depth * sizeof stack->pc[0]);
    process->stack_chunk_used += size;
    struct chunk *chunk = process->stack_chunk;
    store_release(&chunk->count, load_relaxed(&chunk->count) + 1);
    store_release(&process->segment->stacks, id);
    index_add(process->stacks, stack->hash, id);
    return id;
}

static uint32_t store_stack(struct thread *thread, const struct walked_stack *stack, uint64_t most) {
    if (!may_add(&process->segment->stacks, most) || !process_lock_from(thread)) return 0;
    uint32_t id = index_find(process->stacks, stack->hash);
    if (!id && may_add(&process->segment->stacks, most)) id = add_stack(stack);
    process_unlock();
    return id;
}

/* Beyond --profile-max a new stack is recorded by its innermost frames alone, so that every event still counts, at the
 * function where it happened. These stacks are few: a quarter of the limit is for those of CUT_DEPTH frames. Those of
 * one frame are as many as the program has calls. */
static uint32_t intern_cut(struct thread *thread, const struct walked_stack *stack, uint32_t depth, uint64_t most) {
    struct walked_stack cut = *stack;
    if (depth < stack->depth) {
        cut.depth = depth;
        cut.flags |= STACK_TRUNCATED;
        unwind_changed(&cut);
    }
    uint32_t id = index_find(load_acquire(&process->stacks), cut.hash);
    if (!id) id = store_stack(thread, &cut, most);
    if (id && cut.flags != stack->flags) add_own(&thread->counters->truncated, 1);
    return id;
}

COLD uint32_t stack_intern_slowly(struct thread *thread, const struct walked_stack *stack) {
    uint64_t whole = most_ids(STACK_ID_MAX), most = process->ids_max + process->ids_max / 4;
    uint32_t id = store_stack(thread, stack, whole);
    if (id || may_add(&process->segment->stacks, whole)) return id;
    id = intern_cut(thread, stack, CUT_DEPTH, most < STACK_ID_MAX ? most : STACK_ID_MAX);
    return id ? id : intern_cut(thread, stack, 1, STACK_ID_MAX);
}

/* --- objects -------------------------------------------------------------------------------------------------- */

static struct segment_object *object_at(uint32_t id) {
    struct segment_object *objects = chunk_body(process->object_chunks[(id - 1) / OBJECTS_PER_CHUNK]);
    return &objects[(id - 1) % OBJECTS_PER_CHUNK];
}

/* Where the object is: in a module, which the collector must know, in a heap block, which gives its allocating
 * stack, or in a frame of a thread's stack: in `frame`, if it has a pc. Returns that. */
static struct local_frame describe_place(const struct thread *thread, struct segment_object *entry,
                                         struct local_frame frame) {
    struct dl_find_object object;
    struct heap_block block;
    const struct local_frame none = {0};
    if (entry->kind == OBJECT_TASK_SITE || entry->kind == OBJECT_JOIN || entry->kind == OBJECT_NAME) return none;
    if (_dl_find_object((void *)(uintptr_t)entry->address, &object) == 0) {
        module_note(&object);
        entry->epoch = process->epoch;
        return none;
    }
    if (process->features & FEATURE_HEAP && block_around(entry->address, &block, &entry->offset)) {
        entry->owner = block.id;
        return none;
    }
    entry->offset = 0;
    if (!frame.pc) frame = local_frame_elsewhere(thread, entry->address);
    entry->frame_pc = frame.pc;
    entry->frame_offset = frame.offset;
    entry->frame_size = frame.size;
    return frame;
}

/* Needs process->lock. 0: no room, or the limit is reached. */
static uint32_t add_object(const struct thread *thread, const struct segment_object *object,
                           struct local_frame *frame) {
    if (!may_add_object()) return 0;
    uint32_t id = (uint32_t)load_relaxed(&process->segment->objects) + 1;
    struct chunk **chunk = &process->object_chunks[(id - 1) / OBJECTS_PER_CHUNK];
    if (!*chunk) {
        struct chunk *made = chunk_new(OBJECTS_PER_CHUNK * sizeof *object);
        if (!made) return 0;
        chunk_publish(made, CHUNK_OBJECTS);
        *chunk = made;
    }
    struct segment_object *entry = object_at(id);
    *entry = *object;
    entry->id = id;
    entry->epoch = process->epoch;
    *frame = describe_place(thread, entry, *frame);
    store_release(&(*chunk)->count, load_relaxed(&(*chunk)->count) + 1);
    store_release(&process->segment->objects, id);
    return id;
}

COLD uint32_t object_intern_slowly(struct thread *thread, struct object_key key, enum segment_object_kind kind) {
    uint64_t hash = object_hash(key);
    bool is_split = key.class == CLASS_LOCK || key.class == CLASS_CELL || key.class == CLASS_WAIT;
    struct local_frame frame = {0};
    if (!may_add_object()) return 0;
    if (is_split) frame = local_frame_here(thread, key.address);
    if (!process_lock_from(thread)) return 0;
    uint32_t id = index_find(process->objects, hash);
    if (!id && index_reserve(&process->objects)) {
        struct segment_object object = {.kind = kind,
                                        .address = key.address,
                                        .stack = is_split ? key.part : 0,
                                        .number = key.class == CLASS_CHANNEL ? ++process->channels
                                                  : key.class == CLASS_LOCK || key.class == CLASS_WAIT ? key.first
                                                                                                       : key.part,
                                        .guard = key.guard};
        id = add_object(thread, &object, &frame);
        if (id) index_set(process->objects, hash, id);
        if (id) local_frame_keep(key.address, hash, frame);
    }
    process_unlock();
    return id;
}

/* The owner of the table may write the entry at this moment: then that one is looked up once more. */
static void forget_known(struct known_object *table, const void *object) {
    struct known_object *places[] = {known_first(table, object), known_second(table, object)};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (load_relaxed(&places[i]->object) == object) store_relaxed(&places[i]->object, NULL);
}

void object_forget(uint64_t address, uint64_t hash) {
    struct index_entry *entry = index_entry_of(process->objects, hash);
    const void *object = (const void *)(uintptr_t)address;
    if (entry->hash) store_relaxed(&entry->id, 0);
    for (struct thread *thread = process->all; thread; thread = thread->next_of_all) {
        forget_known(thread->known_locks, object);
        forget_known(thread->known_cells, object);
        forget_known(thread->known_waits, object);
    }
}

/* --- names ---------------------------------------------------------------------------------------------------- */

enum { NAME_SIZE = sizeof((struct segment_object *)NULL)->name - 1 };

static uint64_t name_hash(const char *name, size_t size) {
    uint64_t hash = size;
    for (size_t at = 0; at < size; at += sizeof hash) {
        uint64_t word = 0;
        memcpy(&word, name + at, size - at < sizeof word ? size - at : sizeof word);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
        hash ^= hash >> 29;
    }
    return object_hash((struct object_key){.address = hash, .class = CLASS_NAME});
}

static COLD uint32_t add_name(struct thread *thread, const char *name, size_t size, uint64_t hash) {
    struct segment_object object = {.kind = OBJECT_NAME};
    struct local_frame frame = {0};
    if (!may_add_object() || !process_lock_from(thread)) return 0;
    uint32_t id = index_find(process->objects, hash);
    memcpy(object.name, name, size);
    if (!id && index_reserve(&process->objects)) {
        id = add_object(thread, &object, &frame);
        if (id) index_add(process->objects, hash, id);
    }
    process_unlock();
    return id;
}

uint32_t name_intern(struct thread *thread, const char *name) {
    size_t size = strnlen(name, NAME_SIZE);
    uint64_t hash = name_hash(name, size);
    uint32_t id = index_find(load_acquire(&process->objects), hash);
    return likely(id) ? id : add_name(thread, name, size, hash);
}

/* --- channels ------------------------------------------------------------------------------------------------- */

static bool is_same_channel(uint32_t id, uint64_t capacity, const char *name) {
    const struct segment_object *known = id ? object_at(id) : NULL;
    return known && known->capacity == capacity && strncmp(known->name, name, sizeof known->name - 1) == 0;
}

COLD uint32_t channel_intern(struct thread *thread, uintptr_t address, uint64_t capacity, const char *name) {
    uint64_t hash = object_hash((struct object_key){.address = address, .class = CLASS_CHANNEL});
    if (!name) name = "";
    if (!may_add_object() || !process_lock_from(thread)) return 0;
    uint32_t known = index_find(process->objects, hash), id = known;
    if (!is_same_channel(known, capacity, name) && index_reserve(&process->objects)) {
        struct local_frame frame = {0};
        struct segment_object object = {
            .kind = OBJECT_CHANNEL, .address = address, .capacity = capacity, .number = ++process->channels};
        memcpy(object.name, name, strnlen(name, sizeof object.name - 1));
        id = add_object(thread, &object, &frame);
        if (id) index_set(process->objects, hash, id);
        store_release(&process->objects_generation, process->objects_generation + 1);
    }
    process_unlock();
    return id;
}
