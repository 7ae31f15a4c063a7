/* otlp_received.c: what an exporter sent. One request has profiles of many services: those of one resource and one span of time are a bucket,
 * which goes to one run. What is wrong with one profile does not keep the others out: the exporter is told how many were refused. */
#include <stdlib.h>
#include <string.h>

#include "ingest/read/otlp/otlp.h"
#include "ingest/read/received.h"

struct bucket {
    size_t *groups; /* indices in the parts of the request */
    size_t count, room;
};

/* The time of a profile, as received_begin_run takes it. */
static int time_of(struct otlp_reader *reader, struct wire profile, int64_t *time_ns) {
    struct wire_field field = {0};
    int state;
    *time_ns = 0;
    while ((state = otlp_next(reader, &profile, &field)) == 1)
        if (field.number == OTLP_PROFILE_TIME) *time_ns = (int64_t)field.value;
    return state;
}

static int key_of(struct otlp_reader *reader, const struct otlp_group *group, struct buffer *key) {
    const struct received *received = reader->ingest->received;
    int64_t time_ns;
    reader->profile = group->first_number;
    int code = time_of(reader, group->profiles[0], &time_ns);
    reader->profile = 0;
    int64_t span = (time_ns ? time_ns : received->now_ns) / received->every_ns;
    buffer_clear(key);
    buffer_add(key, &span, sizeof span);
    buffer_add(key, group->head->resource.data, group->head->resource.size);
    return code;
}

static void add_to(struct bucket *bucket, size_t group) {
    if (bucket->count == bucket->room) {
        bucket->room = bucket->room ? bucket->room * 2 : 4;
        bucket->groups = xrealloc(bucket->groups, bucket->room * sizeof *bucket->groups);
    }
    bucket->groups[bucket->count++] = group;
}

/* In the order in which they are first met. `buckets` has room for as many as there are groups. */
static int fill(struct otlp_reader *reader, const struct otlp_parts *parts, struct bucket *buckets, size_t *count) {
    struct map keys = {0};
    struct buffer key = {0};
    int code = 0;
    *count = 0;
    for (size_t i = 0; i < parts->group_count && code == 0; i++) {
        bool added;
        code = key_of(reader, &parts->groups[i], &key);
        if (code != 0) break;
        struct map_entry *entry = map_put(&keys, key.data, key.size, &added);
        if (added) entry->value = (int64_t)(*count)++;
        add_to(&buckets[entry->value], i);
    }
    buffer_free(&key);
    map_free(&keys);
    return code;
}

/* The writer forgets what the rollback takes from it. */
static int start_anew(struct otlp_reader *reader) {
    struct ingest *ingest = reader->ingest;
    ingest_give_up_profile(ingest);
    db_rollback(ingest->db);
    return writer_open(&ingest->writer, ingest->db, reader->err);
}

static int store_or_reject(struct otlp_reader *reader, const struct otlp_group *group) {
    struct ingest *ingest = reader->ingest;
    if (db_begin(ingest->db, reader->err) != 0) return -1;
    int code = otlp_store_group(reader, group) || ingest_end_profile(ingest, reader->err) ||
               writer_expect_end(&ingest->writer, reader->err);
    if (code == 0 && db_commit(ingest->db, reader->err) == 0) {
        ingest->received->stored += group->count;
        return 0;
    }
    return received_reject(ingest, group->count, reader->err) || start_anew(reader) ? -1 : 0;
}

static int store_groups(struct otlp_reader *reader, struct otlp_parts *parts) {
    const struct received *received = reader->ingest->received;
    if (otlp_choose_kinds(reader, parts) != 0 || otlp_begin_run(reader, parts) != 0) return -1;
    bool are_many = !received->is_new;
    for (size_t i = 0; i < parts->group_count; i++)
        are_many |= parts->groups[i].has_part_label;
    for (size_t i = 0; i < parts->group_count; i++) {
        parts->groups[i].is_bare = are_many;
        parts->groups[i].has_part_label = false;
        if (store_or_reject(reader, &parts->groups[i]) != 0) return -1;
    }
    return 0;
}

static size_t profiles_of(const struct otlp_parts *parts) {
    size_t profiles = 0;
    for (size_t i = 0; i < parts->group_count; i++)
        profiles += parts->groups[i].count;
    return profiles;
}

/* A run that none of its profiles reached is not begun. */
static int store_parts(struct otlp_reader *reader, struct otlp_parts *parts) {
    struct ingest *ingest = reader->ingest;
    struct received *received = ingest->received;
    size_t runs = received->run_count;
    uint64_t stored = received->stored;
    if (db_begin(ingest->db, reader->err) != 0) return -1;
    received->has_begun = false;
    int code = store_groups(reader, parts);
    received->has_begun = false;
    if (code == 0 && received->stored > stored) return db_commit(ingest->db, reader->err);
    received->run_count = runs;
    if (code != 0 && received_reject(ingest, profiles_of(parts), reader->err) != 0) return -1;
    return start_anew(reader);
}

static int store_bucket(struct otlp_reader *reader, const struct otlp_parts *all, const struct bucket *bucket) {
    struct otlp_head *head = (struct otlp_head *)(uintptr_t)all->groups[bucket->groups[0]].head;
    struct otlp_parts parts = {.heads = &head, .head_count = 1, .group_count = bucket->count};
    parts.groups = xcalloc(bucket->count, sizeof *parts.groups);
    for (size_t i = 0; i < bucket->count; i++) {
        parts.groups[i] = all->groups[bucket->groups[i]];
        parts.groups[i].part = i + 1;
    }
    parts.groups[0].has_all = all->group_count == 1;
    int code = store_parts(reader, &parts);
    for (size_t i = 0; i < bucket->count; i++)
        free(parts.groups[i].kind);
    free(parts.groups);
    return code;
}

int otlp_store_received(struct otlp_reader *reader, struct otlp_parts *parts) {
    struct bucket *buckets = xcalloc(parts->group_count + 1, sizeof *buckets);
    size_t count;
    int code = fill(reader, parts, buckets, &count);
    for (size_t i = 0; i < count && code == 0; i++)
        code = store_bucket(reader, parts, &buckets[i]);
    for (size_t i = 0; i < parts->group_count; i++)
        free(buckets[i].groups);
    free(buckets);
    return code;
}
