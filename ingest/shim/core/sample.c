#include "ingest/shim/core/sample.h"

#include "ingest/shim/core/own_budget.h"

/* exp and log without libm, which the runtime must not load. Both are exact to about 1e-15, far below the noise of
 * sampling. */

/* 1 - exp(-x) for 0 <= x. Halves x until a short Taylor series is exact enough, then squares back: with
 * y = 1 - exp(-x/2), 1 - exp(-x) = y * (2 - y), which loses no digits for small x. */
static double one_minus_exp(double x) {
    enum { TERMS = 12 };
    if (x > 40) return 1;
    int halvings = 0;
    for (; x > 0.25; x /= 2)
        halvings++;
    double term = x, y = 0;
    for (int n = 1; n <= TERMS; n++) {
        y += term;
        term *= -x / (n + 1);
    }
    for (; halvings > 0; halvings--)
        y *= 2 - y;
    return y;
}

/* ln(x) for 0 < x <= 1: x = m * 2^e with m in [1, 2), ln(m) = 2 * artanh((m - 1) / (m + 1)). */
static double natural_log(double x) {
    enum { TERMS = 41 };
    union {
        double value;
        uint64_t bits;
    } parts = {.value = x};
    int exponent = (int)(parts.bits >> 52 & 0x7ff) - 1023;
    parts.bits = (parts.bits & ~(0x7ffull << 52)) | 1023ull << 52;
    double z = (parts.value - 1) / (parts.value + 1), power = z, sum = 0;
    for (int n = 1; n <= TERMS; n += 2) {
        sum += power / n;
        power *= z * z;
    }
    return 2 * sum + exponent * 0.69314718055994530942;
}

static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 33) * 0xff51afd7ed558ccdull;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ull;
    return x ^ x >> 33;
}

static double unit_interval(uint64_t bits) { /* (0, 1] */
    return (double)((bits >> 11) + 1) * 0x1p-53;
}

static double mean_bytes(uint32_t level) {
    return level ? (double)SAMPLE_LEVEL_BYTES(level) : (double)process->sample_bytes;
}

COLD uint64_t sample_weight_slowly(uintptr_t address, uint32_t level, uint64_t size) {
    if (process->sample_n > 1) return process->sample_n;
    if (process->has_budget && !level) return 1;
    double weight = 1 / one_minus_exp((double)(size ? size : 1) / mean_bytes(level));
    uint64_t whole = (uint64_t)weight;
    return whole + (unit_interval(mix(address ^ size << 48)) <= weight - (double)whole);
}

static void seed(struct thread *thread) {
    thread->random = mix((uintptr_t)thread ^ __builtin_ia32_rdtsc()) | 1;
}

static uint64_t draw_bits(struct thread *thread) {
    if (unlikely(!thread->random)) seed(thread); /* of threads past their own end */
    thread->random ^= thread->random << 13;      /* xorshift64 (Marsaglia 2003) */
    thread->random ^= thread->random >> 7;
    thread->random ^= thread->random << 17;
    return mix(thread->random);
}

COLD void sample_draw(struct thread *thread) {
    uint64_t bits = draw_bits(thread);
    if (process->sample_n > 1) {
        thread->events_to_sample = 1 + (int64_t)(bits % (2 * (uint64_t)process->sample_n - 1));
        return;
    }
    double bytes = -natural_log(unit_interval(bits)) * mean_bytes(thread->sample_level);
    thread->bytes_to_sample = (int64_t)bytes;
}

bool sample_is_by_bytes(uint32_t level) {
    return process->sample_n <= 1 && (process->has_budget ? level != 0 : process->sample_bytes > 1);
}

static int64_t draw_bytes(struct thread *thread, uint64_t mean) {
    return 1 + (int64_t)(-natural_log(unit_interval(draw_bits(thread))) * (double)mean);
}

COLD uint64_t sample_thin(struct thread *thread, uint64_t bytes, uint64_t mean) {
    if (!thread->bytes_to_thin) thread->bytes_to_thin = draw_bytes(thread, mean);
    thread->bytes_to_thin -= (int64_t)bytes;
    if (thread->bytes_to_thin > 0) return 0;
    thread->bytes_to_thin = draw_bytes(thread, mean);
    return (uint64_t)((double)bytes / one_minus_exp((double)bytes / (double)mean) + 0.5);
}

COLD uint32_t sample_switch(struct thread *thread, uint32_t level) {
    thread->sample_level = level < SAMPLE_LEVELS ? level : SAMPLE_LEVELS;
    thread->passes_at = thread->sample_level ? thread->sample_level : NO_LEVEL;
    if (thread->sample_level) sample_draw(thread);
    return thread->sample_level;
}

COLD void sample_vary_slowly(bool is_free, uint64_t weight, uint64_t size) {
    enum { WEIGHT_MAX = 1 << 24 }; /* so that 65,000 blocks of it fit; a number of such blocks is not known anyway */
    struct segment *segment = process->segment;
    uint64_t counted = weight < WEIGHT_MAX ? weight : WEIGHT_MAX;
    fetch_add_relaxed(is_free ? &segment->free_variance : &segment->alloc_variance, counted * (counted - 1));
    if (!process->has_budget) return;
    /* A block that counts more than once is hardly larger than the mean, so 65,536^2 of them fit. */
    double bytes = (double)counted * (double)(counted - 1) * (double)size * (double)size / BYTE_VARIANCE_UNIT;
    fetch_add_relaxed(is_free ? &segment->free_byte_variance : &segment->alloc_byte_variance, (uint64_t)(bytes + 0.5));
}

/* --- locks ------------------------------------------------------------------------------------------------------- */

/* Failures before the first success of trials that succeed once in n. */
static uint64_t geometric(struct thread *thread, uint32_t n) {
    thread->random ^= thread->random << 13;
    thread->random ^= thread->random >> 7;
    thread->random ^= thread->random << 17;
    return (uint64_t)(natural_log(unit_interval(mix(thread->random))) / natural_log(1 - 1.0 / n));
}

COLD void lock_tell(struct thread *thread) {
    fetch_add_relaxed(&process->segment->budget_locks, thread->lock_events);
    thread->lock_events = 0;
    own_budget_look();
}

static void add_passed(struct thread *thread, uint64_t count) {
    add_own(&thread->counters->lock_passed, count);
    fetch_add_relaxed(&process->segment->budget_locks_passed, count);
    own_budget_look();
}

COLD void lock_switch(struct thread *thread, uint32_t level) {
    struct thread_counters *counters = thread->counters;
    add_passed(thread, -load_relaxed(&counters->lock_left));
    store_relaxed(&counters->lock_left, 0);
    if (!thread->random) seed(thread);
    thread->lock_level = level < LOCK_LEVELS ? level : LOCK_LEVELS;
    thread->lock_gap = thread->lock_level ? geometric(thread, LOCK_LEVEL_N(thread->lock_level)) : 0;
    thread->late =
        (struct late_wait){0}; /* when it last had the mutex is not known from here on, and was not until here */
}

/* A part of the gap at a time, so that a level that has changed is found soon. */
__attribute__((noinline)) uint32_t lock_draw(struct thread *thread) {
    enum { AT_ONCE = 256 };
    uint32_t n = LOCK_LEVEL_N(thread->lock_level);
    if (!thread->lock_gap) {
        thread->lock_gap = geometric(thread, n);
        add_own(&thread->counters->lock_excess, n - 1);
        fetch_add_relaxed(&process->segment->budget_locks_sampled, 1);
        return n;
    }
    uint64_t count = thread->lock_gap < AT_ONCE ? thread->lock_gap : AT_ONCE;
    thread->lock_gap -= count;
    add_passed(thread, count);
    store_relaxed(&thread->counters->lock_left, count - 1); /* this one is the first */
    return 0;
}

COLD void sample_vary_hold_slowly(uint64_t weight, uint64_t ticks) {
    const double most = 1e18;
    double variance = (double)weight * (double)(weight - 1) * (double)ticks * (double)ticks / HOLD_VARIANCE_UNIT;
    fetch_add_relaxed(&process->segment->hold_variance, (uint64_t)((variance < most ? variance : most) + 0.5));
}

void sample_start(struct thread *thread) {
    if (thread->random || !is_sampling()) return;
    seed(thread);
    bool is_by_bytes = !process->has_budget && process->sample_n <= 1;
    thread->passes_at = is_by_bytes ? 0 : NO_LEVEL;
    if (process->has_budget) return; /* its first allocation finds the level */
    if (is_by_bytes)
        sample_draw(thread);
    else
        thread->events_to_sample = 1 + (int64_t)(mix(thread->random) % process->sample_n);
}
