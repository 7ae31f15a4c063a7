#include "ingest/measure.h"

#define WORDS(type)             (sizeof(struct type) / sizeof(uint64_t))
#define WORD(type, member)      (offsetof(struct type, member) / sizeof(uint64_t))
#define BIT(type, member)       (1u << WORD(type, member))
#define PARAMETER(type, member) [WORD(type, member)] = ":" #member

static const char lock_sql[] =
    "INSERT INTO locks(profile_id, object_id, address, trace_id, kind, acquires, contended, wait_ns, max_wait_ns,"
    " hold_ns, max_hold_ns, read_acquires, read_contended, read_wait_ns, read_max_wait_ns)"
    " VALUES (:profile, :object, :address, :trace, :kind, :acquires, :contended, :wait, :wait_max,"
    " :hold, :hold_max, :read_acquires, :read_contended, :read_wait, :read_wait_max)"
    " ON CONFLICT (profile_id, object_id, address, trace_id) DO UPDATE SET acquires = excluded.acquires,"
    " contended = excluded.contended, wait_ns = excluded.wait_ns, max_wait_ns = excluded.max_wait_ns,"
    " hold_ns = excluded.hold_ns, max_hold_ns = excluded.max_hold_ns, read_acquires = excluded.read_acquires,"
    " read_contended = excluded.read_contended, read_wait_ns = excluded.read_wait_ns,"
    " read_max_wait_ns = excluded.read_max_wait_ns";

static const char cell_sql[] =
    "INSERT INTO cells(profile_id, object_id, address, trace_id, struct_size, reads, commits, multi_commits, retries,"
    " update_failures) VALUES (:profile, :object, :address, :trace, :struct_size, :reads, :commits, :multi_commits,"
    " :retries, :update_failures)"
    " ON CONFLICT (profile_id, object_id, address, trace_id) DO UPDATE SET struct_size = excluded.struct_size,"
    " reads = excluded.reads, commits = excluded.commits, multi_commits = excluded.multi_commits,"
    " retries = excluded.retries, update_failures = excluded.update_failures";

static const char channel_sql[] =
    "INSERT INTO channels(profile_id, object_id, channel, capacity, pushes, pops, push_blocked, pop_blocked, max_depth,"
    " push_blocked_ns, pop_blocked_ns) VALUES (:profile, :object, :channel, :capacity, :pushes, :pops, :push_blocked,"
    " :pop_blocked, :max_depth, :push_blocked_ns, :pop_blocked_ns)"
    " ON CONFLICT (profile_id, object_id, channel) DO UPDATE SET capacity = excluded.capacity,"
    " pushes = excluded.pushes, pops = excluded.pops, push_blocked = excluded.push_blocked,"
    " pop_blocked = excluded.pop_blocked, max_depth = excluded.max_depth,"
    " push_blocked_ns = excluded.push_blocked_ns, pop_blocked_ns = excluded.pop_blocked_ns";

static const char cpu_sql[] =
    "INSERT INTO cpu(profile_id, trace_id, samples, cpu_ns) VALUES (:profile, :trace, :samples, :cpu_ns)"
    " ON CONFLICT (profile_id, trace_id, label_set_id) DO UPDATE SET samples = excluded.samples,"
    " cpu_ns = excluded.cpu_ns";

/* Sample types, period and default as DESIGN.md section 6 lists them. */
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
                      .period_unit = "bytes"},
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
                      .events = BIT(cell_counters, reads) | BIT(cell_counters, commits) |
                                BIT(cell_counters, multi_commits) | BIT(cell_counters, update_failures),
                      .kind = "mvcc",
                      .sample_types = "[[\"reads\",\"count\"],[\"commits\",\"count\"],"
                                      "[\"retries\",\"count\"],[\"cow_bytes\",\"bytes\"]]",
                      .default_type = "cow_bytes",
                      .period_type = "commits",
                      .period_unit = "count",
                      .sql = cell_sql,
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
                       .period_unit = "count"},
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
                     .parameters = {PARAMETER(cpu_counters, samples), PARAMETER(cpu_counters, cpu_ns)}},
};

_Static_assert(WORDS(lock_counters) <= MEASURE_WORDS_MAX, "the widest fits");
