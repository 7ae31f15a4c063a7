#include "ingest/record/measure.h"

#define WORDS(type)             (sizeof(struct type) / sizeof(uint64_t))
#define WORD(type, member)      (offsetof(struct type, member) / sizeof(uint64_t))
#define BIT(type, member)       (1u << WORD(type, member))
#define PARAMETER(type, member) [WORD(type, member)] = ":" #member

#define CPU_TIME                                                                                                       \
    .feature = FEATURE_CPU, .is_by_stack = true, .is_by_thread = true, .words = WORDS(cpu_counters),                   \
    .events = BIT(cpu_counters, samples), .sql = "ingest/cpu_row.sql", .fold = {"ingest/cpu_fold.sql"},                \
    .parameters = {PARAMETER(cpu_counters, samples), PARAMETER(cpu_counters, cpu_ns)}

/* Sample types, period and default as docs/design.md lists them. */
const struct measure measures[MEASURE_COUNT] = {
    [MEASURE_HEAP] = {.chunk = CHUNK_HEAP,
                      .feature = FEATURE_HEAP,
                      .is_by_stack = true,
                      .is_sampled = true,
                      .words = WORDS(heap_sums),
                      .events = BIT(heap_sums, alloc_count) | BIT(heap_sums, free_count),
                      .kind = KIND_HEAP,
                      .fold = {"ingest/heap_fold.sql", "ingest/site_details_fold.sql"}},
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
                      .kind = KIND_LOCK,
                      .sql = "ingest/lock_row.sql",
                      .fold = {"ingest/lock_fold.sql"},
                      .parameters = {PARAMETER(lock_counters, acquires), PARAMETER(lock_counters, contended),
                                     PARAMETER(lock_counters, wait), PARAMETER(lock_counters, wait_max),
                                     PARAMETER(lock_counters, hold), PARAMETER(lock_counters, hold_max),
                                     PARAMETER(lock_counters, read_acquires), PARAMETER(lock_counters, read_contended),
                                     PARAMETER(lock_counters, read_wait), PARAMETER(lock_counters, read_wait_max),
                                     PARAMETER(lock_counters, timeouts), PARAMETER(lock_counters, unfinished),
                                     PARAMETER(lock_counters, failed_tries), PARAMETER(lock_counters, condition_waits),
                                     PARAMETER(lock_counters, timed_holds)}},
    [MEASURE_CELL] = {.chunk = CHUNK_CELL,
                      .feature = FEATURE_CELLS,
                      .is_rare = true,
                      .is_sampled = true,
                      .words = WORDS(cell_counters),
                      .maxima = BIT(cell_counters, struct_size),
                      .states = BIT(cell_counters, struct_size),
                      .events = BIT(cell_counters, reads) | BIT(cell_counters, commits) |
                                BIT(cell_counters, multi_commits) | BIT(cell_counters, update_failures),
                      .kind = KIND_MVCC,
                      .sql = "ingest/cell_row.sql",
                      .fold = {"ingest/cell_fold.sql"},
                      .parameters = {PARAMETER(cell_counters, struct_size), PARAMETER(cell_counters, reads),
                                     PARAMETER(cell_counters, commits), PARAMETER(cell_counters, multi_commits),
                                     PARAMETER(cell_counters, retries), PARAMETER(cell_counters, update_failures)}},
    [MEASURE_CHANNEL] = {.chunk = CHUNK_CHANNEL,
                         .feature = FEATURE_CHANNELS,
                         .is_rare = true,
                         .words = WORDS(channel_counters),
                         .maxima = BIT(channel_counters, max_depth),
                         .events = BIT(channel_counters, pushes) | BIT(channel_counters, pops),
                         .kind = KIND_CHANNELS,
                         .sql = "ingest/channel_row.sql",
                         .fold = {"ingest/channel_fold.sql"},
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
                       .kind = KIND_FIBERS,
                       .fold = {"ingest/fibers_fold.sql", "ingest/schedulers_fold.sql", "ingest/task_sites_fold.sql"}},
    [MEASURE_CPU] = {CPU_TIME, .kind = KIND_CPU},
    [MEASURE_PEAK] = {.chunk = CHUNK_NONE,
                      .feature = FEATURE_HEAP,
                      .is_by_stack = true,
                      .is_rare = true,
                      .is_sampled = true,
                      .is_snapshot = true,
                      .words = WORDS(peak_levels),
                      .kind = KIND_HEAP_PEAK,
                      .sql = "ingest/heap_peak_row.sql",
                      .parameters = {PARAMETER(peak_levels, peak_count), PARAMETER(peak_levels, peak_bytes)}},
    [MEASURE_WAIT] = {.chunk = CHUNK_WAIT,
                      .feature = FEATURE_LOCKS,
                      .is_rare = true,
                      .is_sampled = true,
                      .words = WORDS(wait_counters),
                      .maxima = BIT(wait_counters, wait_max),
                      .ticks = BIT(wait_counters, wait) | BIT(wait_counters, wait_max),
                      .events = BIT(wait_counters, passes) | BIT(wait_counters, timeouts) |
                                BIT(wait_counters, failed_tries) | BIT(wait_counters, signals) |
                                BIT(wait_counters, broadcasts),
                      .kind = KIND_WAIT,
                      .sql = "ingest/wait_row.sql",
                      .fold = {"ingest/lock_fold.sql"},
                      .parameters = {PARAMETER(wait_counters, passes), PARAMETER(wait_counters, waited),
                                     PARAMETER(wait_counters, wait), PARAMETER(wait_counters, wait_max),
                                     PARAMETER(wait_counters, timeouts), PARAMETER(wait_counters, unfinished),
                                     PARAMETER(wait_counters, failed_tries), PARAMETER(wait_counters, signals),
                                     PARAMETER(wait_counters, broadcasts)}},
    [MEASURE_RECORDER] = {CPU_TIME, .is_rare = true, .kind = KIND_RECORDER},
};

_Static_assert(WORDS(heap_sums) <= MEASURE_WORDS_MAX, "these fit");
_Static_assert(WORDS(wait_counters) <= WORDS(lock_counters) && WORDS(lock_counters) <= MEASURE_WORDS_MAX,
               "the widest fits");
