#include "ingest/record/measure.h"

#define WORDS(type)             (sizeof(struct type) / sizeof(uint64_t))
#define WORD(type, member)      (offsetof(struct type, member) / sizeof(uint64_t))
#define BIT(type, member)       (1u << WORD(type, member))
#define PARAMETER(type, member) [WORD(type, member)] = ":" #member

/* Bytes that are left out in both stay so: the blocks of a site are of one size (schema/tables.sql). */
#define SITE_BLOCKS "(SELECT block_bytes FROM site_keys WHERE site_keys.id = site_rows.site_key_id)"
#define SITE_FOLD_BYTES(bytes, count)                                                                                  \
    " " bytes " = iif(site_rows." bytes " IS NULL AND excluded." bytes " IS NULL, NULL,"                               \
    " coalesce(site_rows." bytes ", site_rows." count " * " SITE_BLOCKS ")"                                            \
    " + coalesce(excluded." bytes ", excluded." count " * " SITE_BLOCKS "))"
static const char site_fold[] =
    "INSERT INTO site_rows(profile_id, site_key_id, alloc_count, free_count, alloc_bytes, free_bytes)"
    " SELECT :into, site_key_id, alloc_count, free_count, alloc_bytes, free_bytes"
    " FROM site_rows WHERE profile_id = :from"
    " ON CONFLICT (profile_id, site_key_id) DO UPDATE SET alloc_count = alloc_count + excluded.alloc_count,"
    " free_count = free_count + excluded.free_count," SITE_FOLD_BYTES("alloc_bytes", "alloc_count") "," SITE_FOLD_BYTES(
        "free_bytes", "free_count");

static const char lock_sql[] =
    "INSERT INTO locks(profile_id, object_id, address, trace_id, kind, acquires, contended, wait_ns, max_wait_ns,"
    " hold_ns, max_hold_ns, read_acquires, read_contended, read_wait_ns, read_max_wait_ns)"
    " VALUES (:profile, :object, :address, :trace, :kind, :acquires, :contended, :wait, :wait_max,"
    " :hold, :hold_max, :read_acquires, :read_contended, :read_wait, :read_wait_max)";
static const char lock_fold[] =
    "INSERT INTO locks(profile_id, object_id, address, trace_id, kind, acquires, contended, wait_ns, max_wait_ns,"
    " hold_ns, max_hold_ns, read_acquires, read_contended, read_wait_ns, read_max_wait_ns)"
    " SELECT :into, object_id, address, trace_id, kind, acquires, contended, wait_ns, max_wait_ns,"
    " hold_ns, max_hold_ns, read_acquires, read_contended, read_wait_ns, read_max_wait_ns"
    " FROM locks WHERE profile_id = :from"
    " ON CONFLICT (profile_id, object_id, address, trace_id) DO UPDATE SET acquires = acquires + excluded.acquires,"
    " contended = contended + excluded.contended, wait_ns = wait_ns + excluded.wait_ns,"
    " max_wait_ns = max(max_wait_ns, excluded.max_wait_ns), hold_ns = hold_ns + excluded.hold_ns,"
    " max_hold_ns = max(max_hold_ns, excluded.max_hold_ns), read_acquires = read_acquires + excluded.read_acquires,"
    " read_contended = read_contended + excluded.read_contended, read_wait_ns = read_wait_ns + excluded.read_wait_ns,"
    " read_max_wait_ns = max(read_max_wait_ns, excluded.read_max_wait_ns)";

static const char cell_sql[] =
    "INSERT INTO cells(profile_id, object_id, address, trace_id, struct_size, reads, commits, multi_commits, retries,"
    " update_failures) VALUES (:profile, :object, :address, :trace, :struct_size, :reads, :commits, :multi_commits,"
    " :retries, :update_failures)";
static const char cell_fold[] =
    "INSERT INTO cells(profile_id, object_id, address, trace_id, struct_size, reads, commits, multi_commits, retries,"
    " update_failures)"
    " SELECT :into, object_id, address, trace_id, struct_size, reads, commits, multi_commits, retries, update_failures"
    " FROM cells WHERE profile_id = :from"
    " ON CONFLICT (profile_id, object_id, address, trace_id) DO UPDATE SET"
    " struct_size = max(struct_size, excluded.struct_size), reads = reads + excluded.reads,"
    " commits = commits + excluded.commits, multi_commits = multi_commits + excluded.multi_commits,"
    " retries = retries + excluded.retries, update_failures = update_failures + excluded.update_failures";

static const char channel_sql[] =
    "INSERT INTO channels(profile_id, object_id, channel, capacity, pushes, pops, push_blocked, pop_blocked, max_depth,"
    " push_blocked_ns, pop_blocked_ns) VALUES (:profile, :object, :channel, :capacity, :pushes, :pops, :push_blocked,"
    " :pop_blocked, :max_depth, :push_blocked_ns, :pop_blocked_ns)";
static const char channel_fold[] =
    "INSERT INTO channels(profile_id, object_id, channel, capacity, pushes, pops, push_blocked, pop_blocked, max_depth,"
    " push_blocked_ns, pop_blocked_ns)"
    " SELECT :into, object_id, channel, capacity, pushes, pops, push_blocked, pop_blocked, max_depth,"
    " push_blocked_ns, pop_blocked_ns FROM channels WHERE profile_id = :from"
    " ON CONFLICT (profile_id, object_id, channel) DO UPDATE SET capacity = max(capacity, excluded.capacity),"
    " pushes = pushes + excluded.pushes, pops = pops + excluded.pops,"
    " push_blocked = push_blocked + excluded.push_blocked, pop_blocked = pop_blocked + excluded.pop_blocked,"
    " max_depth = max(max_depth, excluded.max_depth), push_blocked_ns = push_blocked_ns + excluded.push_blocked_ns,"
    " pop_blocked_ns = pop_blocked_ns + excluded.pop_blocked_ns";

static const char cpu_sql[] =
    "INSERT INTO cpu(profile_id, trace_id, samples, cpu_ns) VALUES (:profile, :trace, :samples, :cpu_ns)";
static const char cpu_fold[] =
    "INSERT INTO cpu(profile_id, trace_id, label_set_id, samples, cpu_ns)"
    " SELECT :into, trace_id, label_set_id, samples, cpu_ns FROM cpu WHERE profile_id = :from"
    " ON CONFLICT (profile_id, trace_id, label_set_id) DO UPDATE SET samples = samples + excluded.samples,"
    " cpu_ns = cpu_ns + excluded.cpu_ns";

static const char fibers_fold[] =
    "INSERT INTO fibers(profile_id, total_fibers, short_fibers, very_short_fibers, total_lifetime_ns, max_lifetime_ns)"
    " SELECT :into, total_fibers, short_fibers, very_short_fibers, total_lifetime_ns, max_lifetime_ns"
    " FROM fibers WHERE profile_id = :from"
    " ON CONFLICT (profile_id) DO UPDATE SET total_fibers = total_fibers + excluded.total_fibers,"
    " short_fibers = short_fibers + excluded.short_fibers,"
    " very_short_fibers = very_short_fibers + excluded.very_short_fibers,"
    " total_lifetime_ns = total_lifetime_ns + excluded.total_lifetime_ns,"
    " max_lifetime_ns = max(max_lifetime_ns, excluded.max_lifetime_ns)";
static const char schedulers_fold[] =
    "INSERT INTO schedulers(profile_id, scheduler, fibers)"
    " SELECT :into, scheduler, fibers FROM schedulers WHERE profile_id = :from"
    " ON CONFLICT (profile_id, scheduler) DO UPDATE SET fibers = fibers + excluded.fibers";
static const char task_sites_fold[] =
    "INSERT INTO task_sites(profile_id, site, spawns, runs, exits, total_lifetime_ns, max_lifetime_ns, dispatch, form,"
    " schedulers, kind, line, column)"
    " SELECT :into, site, spawns, runs, exits, total_lifetime_ns, max_lifetime_ns, dispatch, form,"
    " schedulers, kind, line, column FROM task_sites WHERE profile_id = :from"
    " ON CONFLICT (profile_id, site) DO UPDATE SET spawns = spawns + excluded.spawns, runs = runs + excluded.runs,"
    " exits = exits + excluded.exits, total_lifetime_ns = total_lifetime_ns + excluded.total_lifetime_ns,"
    " max_lifetime_ns = max(max_lifetime_ns, excluded.max_lifetime_ns),"
    " schedulers = (SELECT json_group_object(key, runs) FROM (SELECT key, sum(value) AS runs"
    " FROM (SELECT key, value FROM json_each(task_sites.schedulers)"
    " UNION ALL SELECT key, value FROM json_each(excluded.schedulers)) GROUP BY key ORDER BY CAST(key AS INTEGER)))";

/* Sample types, period and default as docs/design.md lists them. */
const struct measure measures[MEASURE_COUNT] = {
    [MEASURE_HEAP] = {.chunk = CHUNK_HEAP,
                      .feature = FEATURE_HEAP,
                      .is_by_stack = true,
                      .is_sampled = true,
                      .words = WORDS(heap_counters),
                      .events = BIT(heap_counters, alloc_count) | BIT(heap_counters, free_count),
                      .kind = "heap",
                      .sample_types = "[[\"alloc_objects\",\"count\"],[\"alloc_space\",\"bytes\"],"
                                      "[\"inuse_objects\",\"count\"],[\"inuse_space\",\"bytes\"]]",
                      .default_type = "inuse_space",
                      .period_type = "space",
                      .period_unit = "bytes",
                      .fold = {site_fold}},
    [MEASURE_LOCK] = {.chunk = CHUNK_LOCK,
                      .feature = FEATURE_LOCKS,
                      .is_sampled = true,
                      .words = WORDS(lock_counters),
                      .maxima = BIT(lock_counters, wait_max) | BIT(lock_counters, hold_max) |
                                BIT(lock_counters, read_wait_max),
                      .ticks = BIT(lock_counters, wait) | BIT(lock_counters, wait_max) | BIT(lock_counters, hold) |
                               BIT(lock_counters, hold_max) | BIT(lock_counters, read_wait) |
                               BIT(lock_counters, read_wait_max),
                      .events = BIT(lock_counters, acquires) | BIT(lock_counters, read_acquires),
                      .kind = "lock",
                      .sample_types = "[[\"contentions\",\"count\"],[\"delay\",\"nanoseconds\"],"
                                      "[\"hold\",\"nanoseconds\"],[\"acquisitions\",\"count\"]]",
                      .default_type = "delay",
                      .period_type = "contentions",
                      .period_unit = "count",
                      .sql = lock_sql,
                      .fold = {lock_fold},
                      .parameters = {PARAMETER(lock_counters, acquires), PARAMETER(lock_counters, contended),
                                     PARAMETER(lock_counters, wait), PARAMETER(lock_counters, wait_max),
                                     PARAMETER(lock_counters, hold), PARAMETER(lock_counters, hold_max),
                                     PARAMETER(lock_counters, read_acquires), PARAMETER(lock_counters, read_contended),
                                     PARAMETER(lock_counters, read_wait), PARAMETER(lock_counters, read_wait_max)}},
    [MEASURE_CELL] = {.chunk = CHUNK_CELL,
                      .feature = FEATURE_CELLS,
                      .is_rare = true,
                      .is_sampled = true,
                      .words = WORDS(cell_counters),
                      .maxima = BIT(cell_counters, struct_size),
                      .states = BIT(cell_counters, struct_size),
                      .events = BIT(cell_counters, reads) | BIT(cell_counters, commits) |
                                BIT(cell_counters, multi_commits) | BIT(cell_counters, update_failures),
                      .kind = "mvcc",
                      .sample_types = "[[\"reads\",\"count\"],[\"commits\",\"count\"],"
                                      "[\"retries\",\"count\"],[\"cow_bytes\",\"bytes\"]]",
                      .default_type = "cow_bytes",
                      .period_type = "commits",
                      .period_unit = "count",
                      .sql = cell_sql,
                      .fold = {cell_fold},
                      .parameters = {PARAMETER(cell_counters, struct_size), PARAMETER(cell_counters, reads),
                                     PARAMETER(cell_counters, commits), PARAMETER(cell_counters, multi_commits),
                                     PARAMETER(cell_counters, retries), PARAMETER(cell_counters, update_failures)}},
    [MEASURE_CHANNEL] = {.chunk = CHUNK_CHANNEL,
                         .feature = FEATURE_CHANNELS,
                         .is_rare = true,
                         .words = WORDS(channel_counters),
                         .maxima = BIT(channel_counters, max_depth),
                         .events = BIT(channel_counters, pushes) | BIT(channel_counters, pops),
                         .kind = "channels",
                         .sample_types = "[[\"pushes\",\"count\"],[\"pops\",\"count\"],[\"push_blocked\",\"count\"],"
                                         "[\"pop_blocked\",\"count\"],[\"max_depth\",\"count\"]]",
                         .default_type = "pushes",
                         .period_type = "pushes",
                         .period_unit = "count",
                         .sql = channel_sql,
                         .fold = {channel_fold},
                         .parameters = {PARAMETER(channel_counters, pushes), PARAMETER(channel_counters, pops),
                                        PARAMETER(channel_counters, push_blocked),
                                        PARAMETER(channel_counters, pop_blocked),
                                        PARAMETER(channel_counters, push_blocked_ns),
                                        PARAMETER(channel_counters, pop_blocked_ns),
                                        PARAMETER(channel_counters, max_depth)}},
    [MEASURE_FIBER] = {.chunk = CHUNK_TASK,
                       .feature = FEATURE_FIBERS,
                       .is_rare = true,
                       .words = WORDS(task_counters),
                       .maxima = BIT(task_counters, lifetime_max_ns),
                       .events = BIT(task_counters, spawns) | BIT(task_counters, runs) | BIT(task_counters, exits),
                       .kind = "fibers",
                       .sample_types = "[]",
                       .default_type = "",
                       .period_type = "fibers",
                       .period_unit = "count",
                       .fold = {fibers_fold, schedulers_fold, task_sites_fold}},
    [MEASURE_CPU] = {.chunk = CHUNK_CPU,
                     .feature = FEATURE_CPU,
                     .is_by_stack = true,
                     .words = WORDS(cpu_counters),
                     .events = BIT(cpu_counters, samples),
                     .kind = "cpu",
                     .sample_types = "[[\"samples\",\"count\"],[\"cpu\",\"nanoseconds\"]]",
                     .default_type = "cpu",
                     .period_type = "cpu",
                     .period_unit = "nanoseconds",
                     .sql = cpu_sql,
                     .fold = {cpu_fold},
                     .parameters = {PARAMETER(cpu_counters, samples), PARAMETER(cpu_counters, cpu_ns)}},
};

_Static_assert(WORDS(lock_counters) <= MEASURE_WORDS_MAX, "the widest fits");
