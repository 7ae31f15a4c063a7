/* legacy_pack.c: writes the model of a legacy profile as profile.proto. Messages are packed one by one, so only one of
 * them is in memory besides the bytes. */
#include <string.h>

#include "base/protobuf.h"
#include "ingest/read/pprof/legacy.h"
#include "profile.pb-c.h"

typedef Perftools__Profiles__Profile profile_message;

/* Field numbers of message Profile. */
enum field { SAMPLE_TYPE = 1, SAMPLE = 2, MAPPING = 3, LOCATION = 4, FUNCTION = 5, STRING = 6, PERIOD_TYPE = 11 };

struct pack {
    const struct legacy *legacy;
    struct buffer *proto;
    struct map texts, functions; /* -> index in the string table; -> function id */
};

static void put_message(struct pack *pack, enum field field, const ProtobufCMessage *message) {
    size_t size = protobuf_c_message_get_packed_size(message);
    protobuf_add_varint(pack->proto, (uint64_t)field << 3 | PROTOBUF_BYTES);
    protobuf_add_varint(pack->proto, size);
    buffer_reserve(pack->proto, size);
    pack->proto->size += protobuf_c_message_pack(message, (uint8_t *)pack->proto->data + pack->proto->size);
}

/* The index of a text in the string table, where it is added if it is new. */
static int64_t text_index(struct pack *pack, const char *text) {
    bool added;
    struct map_entry *entry = map_put(&pack->texts, text, strlen(text), &added);
    if (added) {
        entry->value = (int64_t)pack->texts.count - 1;
        protobuf_add_text(pack->proto, STRING, text);
    }
    return entry->value;
}

static void put_types(struct pack *pack) {
    const struct legacy *legacy = pack->legacy;
    Perftools__Profiles__ValueType type = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
    for (size_t i = 0; i < legacy->type_count; i++) {
        type.type = text_index(pack, legacy->types[i][0]);
        type.unit = text_index(pack, legacy->types[i][1]);
        put_message(pack, SAMPLE_TYPE, &type.base);
    }
    type.type = text_index(pack, legacy->period_type);
    type.unit = text_index(pack, legacy->period_unit);
    put_message(pack, PERIOD_TYPE, &type.base);
}

static void put_sample(struct pack *pack, const struct legacy_sample *sample) {
    Perftools__Profiles__Sample message = PERFTOOLS__PROFILES__SAMPLE__INIT;
    Perftools__Profiles__Label label = PERFTOOLS__PROFILES__LABEL__INIT, *labels[] = {&label};
    uint64_t ids[LEGACY_DEPTH_MAX];
    int64_t values[LEGACY_TYPES_MAX];
    for (size_t i = 0; i < sample->depth; i++)
        ids[i] = (uint64_t)sample->frames[i] + 1;
    memcpy(values, sample->values, sizeof values);
    message.location_id = ids;
    message.n_location_id = sample->depth;
    message.value = values;
    message.n_value = pack->legacy->type_count;
    if (pack->legacy->has_block_bytes) {
        label.key = text_index(pack, "bytes");
        label.num = sample->block_bytes;
        message.label = labels;
        message.n_label = 1;
    }
    put_message(pack, SAMPLE, &message.base);
}

static void put_mappings(struct pack *pack) {
    for (size_t i = 0; i < pack->legacy->mapping_count; i++) {
        const struct legacy_mapping *mapping = &pack->legacy->mappings[i];
        Perftools__Profiles__Mapping message = PERFTOOLS__PROFILES__MAPPING__INIT;
        message.id = i + 1;
        message.memory_start = mapping->start;
        message.memory_limit = mapping->limit;
        message.file_offset = mapping->offset;
        message.filename = text_index(pack, mapping->file);
        message.build_id = text_index(pack, mapping->build_id);
        put_message(pack, MAPPING, &message.base);
    }
}

/* The id of a function. As in pprof, a name is one function. */
static uint64_t function_id(struct pack *pack, const struct legacy_location *location) {
    bool added;
    struct map_entry *entry = map_put(&pack->functions, location->function, strlen(location->function), &added);
    if (added) {
        Perftools__Profiles__Function message = PERFTOOLS__PROFILES__FUNCTION__INIT;
        entry->value = (int64_t)pack->functions.count;
        message.id = pack->functions.count;
        message.name = message.system_name = text_index(pack, location->function);
        message.filename = text_index(pack, location->file);
        put_message(pack, FUNCTION, &message.base);
    }
    return (uint64_t)entry->value;
}

static void put_locations(struct pack *pack) {
    for (size_t i = 0; i < pack->legacy->location_count; i++) {
        const struct legacy_location *location = &pack->legacy->locations[i];
        Perftools__Profiles__Location message = PERFTOOLS__PROFILES__LOCATION__INIT;
        Perftools__Profiles__Line line = PERFTOOLS__PROFILES__LINE__INIT, *lines[] = {&line};
        message.id = i + 1;
        message.mapping_id = location->mapping;
        message.address = location->address;
        if (location->function) {
            line.function_id = function_id(pack, location);
            line.line = location->line;
            message.line = lines;
            message.n_line = 1;
        }
        put_message(pack, LOCATION, &message.base);
    }
}

/* drop_frames: the functions that pprof hides in such a profile, those of the allocator and of the profiler. The same
 * expressions as pprof's. Those of locks and CPU are functions of gperftools' handlers. */
static const char heap_drop[] =
    "calloc|cfree|malloc|free|memalign|do_memalign|(__)?posix_memalign|pvalloc|valloc|realloc|tcmalloc::.*|tc_calloc|"
    "tc_cfree|tc_malloc|tc_free|tc_memalign|tc_posix_memalign|tc_pvalloc|tc_valloc|tc_realloc|tc_new|tc_delete|"
    "tc_newarray|tc_deletearray|tc_new_nothrow|tc_newarray_nothrow|malloc_zone_malloc|malloc_zone_calloc|"
    "malloc_zone_valloc|malloc_zone_realloc|malloc_zone_memalign|malloc_zone_free|runtime\\..*|BaseArena::.*|"
    "(::)?do_malloc_no_errno|(::)?do_malloc_pages|(::)?do_malloc|DoSampledAllocation|MallocedMemBlock::"
    "MallocedMemBlock|"
    "_M_allocate|__builtin_(vec_)?delete|__builtin_(vec_)?new|__gnu_cxx::new_allocator::allocate|__libc_malloc|"
    "__malloc_alloc_template::allocate|allocate|cpp_alloc|operator new(\\[\\])?|simple_alloc::allocate";
static const char heap_keep[] = "runtime\\.panic|runtime\\.reflectcall|runtime\\.call[0-9]*";
static const char lock_drop[] =
    "RecordLockProfileData|(base::)?RecordLockProfileData.*|(base::)?SubmitMutexProfileData.*|"
    "(base::)?SubmitSpinLockProfileData.*|(base::Mutex::)?AwaitCommon.*|(base::Mutex::)?Unlock.*|"
    "(base::Mutex::)?UnlockSlow.*|(base::Mutex::)?ReaderUnlock.*|(base::MutexLock::)?~MutexLock.*|"
    "(Mutex::)?AwaitCommon.*|(Mutex::)?Unlock.*|(Mutex::)?UnlockSlow.*|(Mutex::)?ReaderUnlock.*|"
    "(MutexLock::)?~MutexLock.*|(SpinLock::)?Unlock.*|(SpinLock::)?SlowUnlock.*|(SpinLockHolder::)?~SpinLockHolder.*";
static const char cpu_drop[] =
    "ProfileData::Add|ProfileData::prof_handler|CpuProfiler::prof_handler|__pthread_sighandler|__restore";

/* The fields that are no messages. Fields of one message may be written in several parts. */
static void put_header(struct pack *pack) {
    const struct legacy *legacy = pack->legacy;
    profile_message message = PERFTOOLS__PROFILES__PROFILE__INIT;
    const char *drop = cpu_drop;
    if (legacy->has_block_bytes) drop = heap_drop;
    if (strcmp(legacy->types[0][0], "contentions") == 0) drop = lock_drop;
    message.drop_frames = text_index(pack, drop);
    if (drop == heap_drop) message.keep_frames = text_index(pack, heap_keep);
    message.period = legacy->period;
    message.duration_nanos = legacy->duration_ns;
    size_t size = protobuf_c_message_get_packed_size(&message.base);
    buffer_reserve(pack->proto, size);
    pack->proto->size += protobuf_c_message_pack(&message.base, (uint8_t *)pack->proto->data + pack->proto->size);
}

void legacy_pack(const struct legacy *legacy, struct buffer *proto) {
    struct pack pack = {.legacy = legacy, .proto = proto};
    text_index(&pack, "");
    put_types(&pack);
    put_header(&pack);
    for (size_t i = 0; i < legacy->sample_count; i++)
        put_sample(&pack, &legacy->samples[i]);
    put_mappings(&pack);
    put_locations(&pack);
    map_free(&pack.texts);
    map_free(&pack.functions);
}
