/* unit_wait_delays: which waits for locks a look sees, and how much they stand for, by a segment made by hand. Its threads are no threads of this
 * machine, so their run delay is not known, and nothing depends on the kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ingest/record/kernel/wait_delays.h"

enum { NO_PROCESS = INT32_MAX, MS = 1000000, THREADS = 3 };

struct made {
    struct segment head;
    char rest[SEGMENT_HEADER_SIZE - sizeof(struct segment)];
    struct {
        struct chunk chunk;
        struct thread_counters counters;
    } thread[THREADS];
};

static char directory[] = "/tmp/unit_wait_delays.XXXXXX";
static int directory_file;

static void write_segment(const struct made *made) {
    int file = openat(directory_file, "1.seg", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, made, sizeof *made), sizeof *made);
    close(file);
}

static struct made *make(void) {
    struct made *made = calloc(1, sizeof *made);
    assert_non_null(made);
    made->head = (struct segment){.magic = SEGMENT_MAGIC,
                                  .version = SEGMENT_VERSION,
                                  .header_size = SEGMENT_HEADER_SIZE,
                                  .pid = NO_PROCESS,
                                  .used = sizeof *made};
    for (int i = 0; i < THREADS; i++) {
        made->thread[i].chunk = (struct chunk){.kind = CHUNK_THREAD, .size = sizeof made->thread[i]};
        made->thread[i].counters.tid = (uint32_t)(NO_PROCESS - 1 - i);
    }
    return made;
}

static void waits(struct made *made, int thread, uint64_t since_ms, uint32_t owner) {
    struct thread_counters *counters = &made->thread[thread].counters;
    counters->wait_owner = owner;
    counters->wait_object = (uint32_t)thread + 1;
    counters->wait_weight = 1;
    counters->wait_lock = 64;
    counters->wait_since = since_ms * MS;
    write_segment(made);
}

static void is_over(struct made *made, int thread, uint64_t until_ms) {
    made->thread[thread].counters.waited_until = until_ms * MS;
    made->thread[thread].counters.wait_since = 0;
    write_segment(made);
}

/* A nanosecond is two ticks. */
static bool look(struct wait_delays *delays, uint64_t now_ms, uint64_t gap_ms) {
    const struct wait_look at = {
        .now_ns = now_ms * MS / 2, .now_ticks = now_ms * MS, .rate_ns = 1, .rate_ticks = 2, .gap_ns = gap_ms * MS};
    return wait_delays_look(delays, directory_file, "1.seg", &at);
}

static void a_wait_counts_when_it_is_over(void **unused) {
    (void)unused;
    struct wait_delays delays;
    struct made *made = make();
    wait_delays_init(&delays);
    write_segment(made);
    assert_false(look(&delays, 90, 0));
    waits(made, 0, 100, NO_PROCESS - 9);
    assert_true(look(&delays, 110, 3));
    assert_true(look(&delays, 120, 3));
    assert_int_equal(delays.sum_count, 0);
    is_over(made, 0, 124);
    assert_true(look(&delays, 130, 3));
    assert_int_equal(delays.sum_count, 1);
    assert_int_equal(delays.sums[0].object, 1);
    assert_int_equal(delays.sums[0].seen_ns, 12 * MS);
    assert_int_equal(delays.sums[0].delay_ns, 0);
    assert_false(look(&delays, 140, 3));
    assert_int_equal(delays.sums[0].seen_ns, 12 * MS);
    /* Shorter than the time between two looks: it stands for those that none met. */
    waits(made, 0, 150, NO_PROCESS - 9);
    assert_true(look(&delays, 151, 3));
    is_over(made, 0, 152);
    assert_true(look(&delays, 160, 3));
    assert_int_equal(delays.sums[0].seen_ns, 15 * MS);
    wait_delays_free(&delays);
    free(made);
}

static void waits_without_a_known_holder_count_until_one_is_known(void **unused) {
    (void)unused;
    struct wait_delays delays;
    struct made *made = make();
    wait_delays_init(&delays);
    waits(made, 0, 100, WAIT_OWNER_UNKNOWN);
    waits(made, 1, 100, WAIT_NO_LOCK);
    waits(made, 2, 100, made->thread[2].counters.tid); /* for itself */
    assert_true(look(&delays, 110, 3));
    for (int i = 0; i < THREADS; i++)
        is_over(made, i, 120);
    look(&delays, 130, 3);
    assert_int_equal(delays.sum_count, 1); /* of a lock that several read, for instance */
    assert_int_equal(delays.sums[0].seen_ns, 10 * MS);
    /* Who begins to wait later tells who has it. */
    waits(made, 0, 140, WAIT_OWNER_UNKNOWN);
    assert_true(look(&delays, 150, 3));
    waits(made, 1, 152, NO_PROCESS - 9);
    assert_true(look(&delays, 160, 3));
    is_over(made, 0, 160);
    is_over(made, 1, 162);
    assert_true(look(&delays, 170, 3));
    assert_int_equal(delays.sum_count, 2);
    assert_int_equal(delays.sums[0].seen_ns + delays.sums[1].seen_ns, 25 * MS);
    /* From then on one that does not know is left out. */
    waits(made, 0, 180, WAIT_OWNER_UNKNOWN);
    assert_true(look(&delays, 185, 3));
    is_over(made, 0, 190);
    look(&delays, 200, 3);
    assert_int_equal(delays.sums[0].seen_ns + delays.sums[1].seen_ns, 25 * MS);
    wait_delays_free(&delays);
    free(made);
}

/* Of the locks that say nothing, threads say it. The first two threads have the same lock; then one of them has, then none. */
static void has(struct made *made, int thread, uint64_t lock) {
    made->thread[thread].counters.has_lock = lock;
    write_segment(made);
}

static void who_has_a_lock_without_an_owner_says_so(void **unused) {
    (void)unused;
    struct wait_delays delays;
    struct made *made = make();
    wait_delays_init(&delays);
    has(made, 0, 64);
    has(made, 1, 64);
    waits(made, 2, 100, WAIT_OWNER_UNKNOWN);
    assert_true(look(&delays, 110, 3));
    assert_int_equal(wait_owner_of(&delays, 2), made->thread[0].counters.tid);
    has(made, 0, 128);
    look(&delays, 113, 3);
    assert_int_equal(wait_owner_of(&delays, 2), made->thread[1].counters.tid);
    has(made, 0, 64); /* it has it again, but the other one still does */
    look(&delays, 116, 3);
    assert_int_equal(wait_owner_of(&delays, 2), made->thread[1].counters.tid);
    has(made, 0, 0);
    has(made, 1, 0);
    look(&delays, 119, 3);
    assert_int_equal(wait_owner_of(&delays, 2), 0);
    is_over(made, 2, 120);
    look(&delays, 130, 3);
    assert_int_equal(delays.sums[0].seen_ns, 10 * MS);
    assert_true(delays.sums[0].has_owner);
    /* A short wait that met nobody was seen, too. */
    waits(made, 2, 280, WAIT_OWNER_UNKNOWN);
    look(&delays, 281, 3);
    made->thread[2].counters.waited_until = 280 * MS + MS;
    made->thread[2].counters.wait_since = 0;
    write_segment(made);
    look(&delays, 290, 0);
    assert_true(delays.sums[0].seen_ns > 10 * MS);
    wait_delays_free(&delays);
    free(made);
}

static void nothing_in_a_segment_is_trusted(void **unused) {
    (void)unused;
    struct wait_delays delays;
    struct made *made = make();
    wait_delays_init(&delays);
    made->head.magic = 1;
    write_segment(made);
    assert_false(look(&delays, 10, 3));
    made->head.magic = SEGMENT_MAGIC;
    made->head.used = UINT64_MAX;
    made->thread[1].chunk.size = 7;
    waits(made, 0, 100, NO_PROCESS - 9);
    waits(made, 1, 100, NO_PROCESS - 9);
    assert_true(look(&delays, 110, 3));
    assert_int_equal(delays.records.count, 1);
    /* An end before the beginning, and one that is not yet: it counts up to now. */
    is_over(made, 0, 50);
    look(&delays, 120, 3);
    assert_int_equal(delays.sums[0].seen_ns, 10 * MS);
    waits(made, 0, 130, NO_PROCESS - 9);
    look(&delays, 140, 3);
    is_over(made, 0, UINT64_MAX / MS);
    look(&delays, 150, 3);
    assert_int_equal(delays.sums[0].seen_ns, 20 * MS);
    waits(made, 0, UINT64_MAX / MS, NO_PROCESS - 9);
    look(&delays, 160, 3);
    is_over(made, 0, 170);
    look(&delays, 180, 3);
    assert_int_equal(delays.sums[0].seen_ns, 20 * MS);
    /* It says that it ends. */
    made->head.end_ticks = 1;
    waits(made, 0, 190, NO_PROCESS - 9);
    assert_false(look(&delays, 200, 3));
    wait_delays_free(&delays);
    free(made);
}

static int make_directory(void **unused) {
    (void)unused;
    if (!mkdtemp(directory)) return -1;
    directory_file = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return directory_file < 0 ? -1 : 0;
}

static int remove_directory(void **unused) {
    (void)unused;
    unlinkat(directory_file, "1.seg", 0);
    close(directory_file);
    return rmdir(directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_counts_when_it_is_over),
        cmocka_unit_test(waits_without_a_known_holder_count_until_one_is_known),
        cmocka_unit_test(who_has_a_lock_without_an_owner_says_so),
        cmocka_unit_test(nothing_in_a_segment_is_trusted),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
