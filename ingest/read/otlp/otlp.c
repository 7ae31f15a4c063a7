#include "ingest/read/otlp/otlp.h"

#include <stdlib.h>
#include <string.h>

#include "base/otlp_identity.h"
#include "ingest/read/pprof/sample_kind.h"
#include "ingest/read/readers.h"

enum { PROFILES_MAX = 1 << 16 }; /* of a file, and its resources and scopes, against hostile files */

static void free_head(struct otlp_head *head) {
    buffer_free(&head->resource);
    buffer_free(&head->scope);
    buffer_free(&head->order);
    buffer_free(&head->default_type);
    free(head);
}

static void free_parts(struct otlp_parts *parts) {
    for (size_t i = 0; i < parts->head_count; i++)
        free_head(parts->heads[i]);
    for (size_t i = 0; i < parts->group_count; i++) {
        free(parts->groups[i].profiles);
        free(parts->groups[i].kind);
    }
    free(parts->heads);
    free(parts->groups);
}

/* ---- which profiles belong together ---- */

static void add_group(struct otlp_parts *parts, const struct otlp_group *group) {
    if (parts->group_count == parts->group_room) {
        parts->group_room = parts->group_room ? parts->group_room * 2 : 16;
        parts->groups = xrealloc(parts->groups, parts->group_room * sizeof *parts->groups);
    }
    parts->groups[parts->group_count] = *group;
    parts->groups[parts->group_count].part = parts->group_count + 1;
    parts->group_count++;
}

/* Puts the profiles into the order of their sample types. False where the attribute does not name each once. */
static bool sort_by_order(const struct buffer *order, const struct otlp_slices *profiles, struct wire *sorted) {
    const uint8_t *bytes = (const uint8_t *)order->data;
    struct wire message = {bytes, bytes + order->size};
    struct wire_field list = {0}, element = {0}, value = {0};
    size_t found = 0;
    if (!order->size || wire_next(&message, &list) != WIRE_OK || list.number != OTLP_VALUE_ARRAY) return false;
    if (list.bytes.at == list.bytes.end && profiles->count == 1) { /* a profile without sample types */
        sorted[0] = profiles->list[0];
        return true;
    }
    for (; wire_next(&list.bytes, &element) == WIRE_OK; found++) {
        bool is_int = wire_next(&element.bytes, &value) == WIRE_OK && value.number == OTLP_VALUE_INT;
        if (!is_int || found >= profiles->count || value.value >= profiles->count || sorted[value.value].at)
            return false;
        sorted[value.value] = profiles->list[found];
    }
    return found == profiles->count;
}

static int add_together(struct otlp_reader *reader, struct otlp_parts *parts, const struct otlp_head *head,
                        const struct otlp_slices *profiles) {
    struct otlp_group group = {
        .head = head, .count = profiles->count, .first_number = parts->profiles + 1, .is_pprof = true};
    group.profiles = xcalloc(profiles->count, sizeof *group.profiles);
    int is_one = sort_by_order(&head->order, profiles, group.profiles) && profiles->count <= INGEST_TYPES_MAX;
    reader->profile = group.first_number;
    if (is_one) is_one = otlp_is_one(reader, &group);
    reader->profile = 0;
    if (is_one == 1)
        add_group(parts, &group);
    else
        free(group.profiles);
    return is_one;
}

static void add_apart(struct otlp_parts *parts, const struct otlp_head *head, const struct otlp_slices *profiles) {
    for (size_t i = 0; i < profiles->count; i++) {
        struct otlp_group group = {.head = head, .count = 1, .first_number = parts->profiles + i + 1};
        group.profiles = xmalloc(sizeof *group.profiles);
        group.profiles[0] = profiles->list[i];
        add_group(parts, &group);
    }
}

/* ---- scopes and resources ---- */

struct otlp_scope {
    struct wire resource, scope, resource_schema, scope_schema;
    struct otlp_slices profiles;
};

/* The attributes about profile.proto go to order and default_type, if they are believed. */
static int resolve_head(struct otlp_reader *reader, const struct otlp_scope *scope, bool takes_order,
                        struct otlp_head *head) {
    static const char *const about_pprof[] = {OTLP_TYPE_ORDER, OTLP_DEFAULT_TYPE, NULL}, *const none[] = {NULL};
    struct buffer apart[2] = {{0}};
    head->resource_schema = scope->resource_schema;
    head->scope_schema = scope->scope_schema;
    buffer_clear(&head->resource);
    buffer_clear(&head->scope);
    int code = otlp_resolve_part(reader, scope->resource, PART_ATTRIBUTES, none, NULL, &head->resource);
    if (code == 0)
        code = otlp_resolve_part(reader, scope->scope, SCOPE_ATTRIBUTES, takes_order ? about_pprof : none, apart,
                                 &head->scope);
    buffer_free(&head->order);
    buffer_free(&head->default_type);
    head->order = apart[0];
    head->default_type = apart[1];
    return code;
}

static struct otlp_head *add_head(struct otlp_parts *parts) {
    if (parts->head_count == parts->head_room) {
        parts->head_room = parts->head_room ? parts->head_room * 2 : 16;
        parts->heads = xrealloc(parts->heads, parts->head_room * sizeof(struct otlp_head *));
    }
    return parts->heads[parts->head_count++] = xcalloc(1, sizeof(struct otlp_head));
}

static int group_scope(struct otlp_reader *reader, struct otlp_parts *parts, const struct otlp_scope *scope) {
    if (scope->profiles.count == 0) return 0;
    struct otlp_head *head = add_head(parts);
    if (resolve_head(reader, scope, true, head) != 0) return -1;
    int together = head->order.size ? add_together(reader, parts, head, &scope->profiles) : 0;
    if (together < 0 || (together == 0 && resolve_head(reader, scope, false, head) != 0)) return -1;
    if (together == 0) add_apart(parts, head, &scope->profiles);
    parts->profiles += scope->profiles.count;
    return 0;
}

static int read_scope(struct otlp_reader *reader, struct otlp_parts *parts, struct wire message,
                      struct otlp_scope *scope) {
    struct wire_field field = {0};
    int state;
    scope->profiles.count = 0;
    scope->scope = scope->scope_schema = (struct wire){message.at, message.at};
    while ((state = otlp_next(reader, &message, &field)) == 1) {
        if (field.number > SCOPE_SCHEMA) continue;
        if (otlp_need(reader, &message, &field, WIRE_BYTES) != 0) return -1;
        if (field.number == SCOPE_SCOPE) scope->scope = field.bytes;
        if (field.number == SCOPE_SCHEMA) scope->scope_schema = field.bytes;
        if (field.number != SCOPE_PROFILES) continue;
        if (parts->profiles + scope->profiles.count == PROFILES_MAX)
            return otlp_fail(reader, field.bytes.at, "more than 65536 profiles: cut the file into several");
        otlp_add_slice(&scope->profiles, field.bytes);
    }
    return state < 0 ? -1 : group_scope(reader, parts, scope);
}

static int read_resource(struct otlp_reader *reader, struct otlp_parts *parts, struct wire message) {
    struct otlp_scope scope = {.resource = {message.at, message.at}, .resource_schema = {message.at, message.at}};
    struct otlp_slices scopes = {0};
    struct wire_field field = {0};
    int state;
    while ((state = otlp_next(reader, &message, &field)) == 1) {
        if (field.number > RESOURCE_SCHEMA) continue;
        if ((state = otlp_need(reader, &message, &field, WIRE_BYTES)) != 0) break;
        if (field.number == RESOURCE_RESOURCE) scope.resource = field.bytes;
        if (field.number == RESOURCE_SCHEMA) scope.resource_schema = field.bytes;
        if (field.number == RESOURCE_SCOPES) otlp_add_slice(&scopes, field.bytes);
    }
    for (size_t i = 0; i < scopes.count && state == 0; i++)
        state = read_scope(reader, parts, scopes.list[i], &scope);
    free(scopes.list);
    free(scope.profiles.list);
    return state;
}

/* ---- kinds ----
 * Profiles of one kind in a run are read as one, so they need the same sample types; one with others gets a kind of its own, named by its
 * type. Of several that have the same, the samples say which they are of. */

struct kind_names {
    struct map types;  /* kind -> hash of its sample types */
    struct map counts; /* kind -> how many parts */
    struct map next;   /* name without a number -> the next number */
    struct map chosen; /* name without a number, and hash -> number */
};

static struct map_entry *entry_of(struct map *map, const char *name) {
    return map_put(map, name, strlen(name), NULL);
}

/* Whether all parts of that kind have these sample types. */
static bool claim(struct kind_names *naming, const char *kind, uint64_t types) {
    bool added;
    struct map_entry *entry = map_put(&naming->types, kind, strlen(kind), &added);
    if (added) entry->value = (int64_t)types;
    return entry->value == (int64_t)types;
}

/* NAME, NAME_2, NAME_3 ... */
static char *own_kind(struct kind_names *naming, const char *name, uint64_t types) {
    struct buffer key = {0};
    bool added;
    char *kind = NULL;
    buffer_add(&key, &types, sizeof types);
    buffer_add_text(&key, name);
    struct map_entry *chosen = map_put(&naming->chosen, key.data, key.size, &added);
    for (bool is_ours = false; !is_ours; is_ours = !added || claim(naming, kind, types)) {
        if (added) chosen->value = ++entry_of(&naming->next, name)->value;
        free(kind);
        kind = chosen->value > 1 ? xasprintf("%s_%lld", name, (long long)chosen->value) : xstrdup(name);
    }
    buffer_free(&key);
    return kind;
}

static int read_type(struct otlp_reader *reader, struct wire profile, unsigned field, struct ingest_type *type,
                     struct arena *texts) {
    struct wire name, unit;
    if (otlp_read_type(reader, profile, field, &name, &unit) != 0) return -1;
    type->type = arena_text(texts, (const char *)name.at, wire_size(name));
    type->unit = arena_text(texts, (const char *)unit.at, wire_size(unit));
    return 0;
}

static int read_period(struct otlp_reader *reader, struct wire profile, int64_t *period) {
    struct wire_field field = {0};
    int state;
    *period = 0;
    while ((state = otlp_next(reader, &profile, &field)) == 1)
        if (field.number == OTLP_PROFILE_PERIOD) *period = (int64_t)field.value;
    return state;
}

/* `types` has room for those of the group. */
static int read_types(struct otlp_reader *reader, const struct otlp_group *group, struct ingest_type *types,
                      struct pprof_types *all, struct arena *texts) {
    for (size_t i = 0; i < group->count; i++)
        if (read_type(reader, group->profiles[i], OTLP_PROFILE_TYPE, &types[i], texts) != 0) return -1;
    *all = (struct pprof_types){.types = types, .count = group->count};
    if (read_type(reader, group->profiles[0], OTLP_PROFILE_PERIOD_TYPE, &all->period_type, texts) != 0) return -1;
    return read_period(reader, group->profiles[0], &all->period);
}

static uint64_t hash_types(const struct ingest_type *types, size_t count) {
    uint64_t hash = count;
    for (size_t i = 0; i < count; i++)
        hash = otlp_hash_text(otlp_hash_text(hash, types[i].type), types[i].unit);
    return hash;
}

/* A kind with a table of its own becomes the other where its samples have more than that holds. */
static void choose_kind(struct kind_names *naming, struct otlp_group *group, const struct pprof_types *types) {
    struct arena texts = {0};
    struct pprof_kind kind, untyped;
    uint64_t hash = hash_types(types->types, types->count);
    pprof_kind_find(&kind, types, &texts);
    pprof_kind_untyped(&untyped, types->types, types->count, &texts);
    bool is_free = claim(naming, kind.name, hash) && (pprof_kind_is_open(&kind) || claim(naming, untyped.name, hash));
    if (!is_free) group->kind = own_kind(naming, untyped.name, hash);
    group->counted = entry_of(&naming->counts, group->kind ? group->kind : kind.name) - naming->counts.entries;
    naming->counts.entries[group->counted].value++;
    arena_free(&texts);
}

int otlp_choose_kinds(struct otlp_reader *reader, struct otlp_parts *parts) {
    struct kind_names naming = {0};
    int code = 0;
    for (size_t i = 0; i < parts->group_count && code == 0; i++) {
        struct otlp_group *group = &parts->groups[i];
        struct ingest_type types[INGEST_TYPES_MAX];
        struct pprof_types all;
        struct arena texts = {0};
        reader->profile = group->first_number;
        code = read_types(reader, group, types, &all, &texts);
        if (code == 0) choose_kind(&naming, group, &all);
        arena_free(&texts);
    }
    reader->profile = 0;
    for (size_t i = 0; i < parts->group_count && code == 0; i++)
        parts->groups[i].has_part_label = naming.counts.entries[parts->groups[i].counted].value > 1;
    map_free(&naming.types);
    map_free(&naming.counts);
    map_free(&naming.next);
    map_free(&naming.chosen);
    return code;
}

/* ---- the run ---- */

struct run_about {
    char *command, *host, *service, *program;
    struct run_tags tags;
};

static void take_text(char **taken, const char *name, const char *wanted, const char *text) {
    if (!*taken && strcmp(name, wanted) == 0) *taken = xstrdup(text);
}

/* Texts of the resource: who ran, and where; each is a tag. */
static void read_about(const struct otlp_head *head, struct run_about *about) {
    const uint8_t *bytes = (const uint8_t *)head->resource.data;
    struct wire message = {bytes, bytes + head->resource.size};
    struct wire_field pair = {0}, key = {0}, any = {0}, value = {0};
    while (head->resource.size && wire_next(&message, &pair) == WIRE_OK) {
        if (pair.number != PART_ATTRIBUTES || wire_next(&pair.bytes, &key) != WIRE_OK ||
            wire_next(&pair.bytes, &any) != WIRE_OK || wire_next(&any.bytes, &value) != WIRE_OK ||
            value.number != OTLP_VALUE_TEXT)
            continue;
        struct arena texts = {0};
        const char *name = arena_text(&texts, (const char *)key.bytes.at, wire_size(key.bytes));
        const char *text = arena_text(&texts, (const char *)value.bytes.at, wire_size(value.bytes));
        if (*name) run_tags_add(&about->tags, name, text);
        bool is_command = strcmp(name, "process.command_line") == 0;
        if (is_command || (!about->command && strcmp(name, "service.name") == 0)) {
            free(about->command);
            about->command = xstrdup(text);
        }
        take_text(&about->host, name, "host.name", text);
        take_text(&about->service, name, "service.name", text);
        take_text(&about->program, name, "process.executable.name", text);
        arena_free(&texts);
    }
}

/* What all parts have in common describes the run. */
static void read_resource_of_all(const struct otlp_parts *parts, struct run_about *about) {
    const struct buffer *first = &parts->heads[0]->resource;
    for (size_t i = 1; i < parts->head_count; i++) {
        const struct buffer *other = &parts->heads[i]->resource;
        if (other->size != first->size || (first->size && memcmp(other->data, first->data, first->size) != 0)) return;
    }
    read_about(parts->heads[0], about);
}

/* The first time and the longest duration of all profiles; what else is in them is read later. */
static int read_times(struct otlp_reader *reader, const struct otlp_parts *parts, struct ingest_run *run) {
    for (size_t i = 0; i < parts->group_count; i++) {
        for (size_t j = 0; j < parts->groups[i].count; j++) {
            struct wire profile = parts->groups[i].profiles[j];
            struct wire_field field = {0};
            int state;
            while ((state = otlp_next(reader, &profile, &field)) == 1) {
                int64_t value = (int64_t)field.value;
                if (field.number == OTLP_PROFILE_TIME && value && (!run->started_ns || value < run->started_ns))
                    run->started_ns = value;
                if (field.number == OTLP_PROFILE_DURATION && value > run->duration_ns) run->duration_ns = value;
            }
            if (state < 0) return -1;
        }
    }
    return 0;
}

int otlp_begin_run(struct otlp_reader *reader, const struct otlp_parts *parts) {
    struct ingest *ingest = reader->ingest;
    struct ingest_run run = {0};
    struct run_about about = {0};
    if (read_times(reader, parts, &run) != 0) return -1;
    read_resource_of_all(parts, &about);
    run.command = about.command;
    run.host = about.host;
    run.service = about.service ? about.service : about.program;
    run.tags = &about.tags;
    int code = ingest_begin_run(ingest, &run, reader->err);
    ingest->has_parts = true;
    run_tags_free(&about.tags);
    free(about.command);
    free(about.host);
    free(about.service);
    free(about.program);
    return code;
}

int otlp_store_group(struct otlp_reader *reader, const struct otlp_group *group) {
    struct buffer bytes = {0};
    int code = otlp_write_pprof(reader, group, &bytes);
    if (code == 0) {
        struct input part = *reader->input;
        part.data = (const uint8_t *)bytes.data;
        part.size = bytes.size;
        reader->ingest->kind = group->kind;
        code = format_pprof.read(reader->ingest, &part, reader->err);
        reader->ingest->kind = NULL;
    }
    buffer_free(&bytes);
    return code;
}

static int store_parts(struct otlp_reader *reader, struct otlp_parts *parts) {
    const uint8_t *start = reader->input->data;
    if (reader->ingest->received) return otlp_store_received(reader, parts);
    if (parts->group_count == 0)
        return otlp_fail(reader, start, "there is no profile in it, so there is nothing to store");
    if (otlp_choose_kinds(reader, parts) != 0 || otlp_begin_run(reader, parts) != 0) return -1;
    parts->groups[0].has_all = parts->group_count == 1;
    for (size_t i = 0; i < parts->group_count; i++)
        if (otlp_store_group(reader, &parts->groups[i]) != 0) return -1;
    return 0;
}

static int read_otlp(struct ingest *ingest, const struct input *input, struct error *err) {
    struct otlp_reader reader = {.ingest = ingest, .input = input, .err = err};
    struct otlp_parts parts = {0};
    int code = otlp_read_file(&reader);
    for (size_t i = 0; i < reader.resources.count && code == 0; i++)
        code = read_resource(&reader, &parts, reader.resources.list[i]);
    if (code == 0) code = store_parts(&reader, &parts);
    free_parts(&parts);
    for (int table = 0; table < OTLP_TABLES_END; table++)
        free(reader.tables[table].list);
    free(reader.resources.list);
    return code;
}

/* ---- recognising ---- */

/* The next field, if it is a message; of one that is cut off what there is. */
static bool next_message(struct wire *wire, uint64_t *number, struct wire *message) {
    uint64_t key, size;
    if (wire_varint(wire, &key) != WIRE_OK || (key & 7) != WIRE_BYTES || wire_varint(wire, &size) != WIRE_OK)
        return false;
    size_t left = (size_t)(wire->end - wire->at);
    *number = key >> 3;
    *message = (struct wire){wire->at, size > left ? wire->end : wire->at + size};
    wire->at = message->end;
    return true;
}

/* There is no magic number. A profile.proto begins with the same two fields: a ValueType, of numbers, where here are messages; and a
 * Sample, whose lists of numbers are not empty, where here is the empty element 0 of a table. */
static bool recognise_otlp(const struct input *input) {
    enum { LOOK_AT = 16 };
    if (input->is_directory || input->size == 0) return false;
    struct wire wire = {input->data, input->data + input->size}, message, part;
    for (int i = 0; i < LOOK_AT && wire.at < wire.end; i++) {
        uint64_t number, inner = 0;
        if (!next_message(&wire, &number, &message) || number == 0 || number > OTLP_DICTIONARY) return false;
        if (message.at == message.end) continue;
        bool has_message = next_message(&message, &inner, &part);
        if (number == OTLP_RESOURCES) return has_message && inner >= RESOURCE_RESOURCE && inner <= RESOURCE_SCHEMA;
        if (has_message && inner < OTLP_TABLES_END && (inner > OTLP_FUNCTIONS || part.at == part.end)) return true;
        return false;
    }
    return false;
}

const struct format format_otlp = {
    .name = "otlp",
    .help = "OpenTelemetry's profiles (OTLP), plain or gzip: what a Collector or its eBPF profiler writes",
    .recognise = recognise_otlp,
    .read = read_otlp,
};
