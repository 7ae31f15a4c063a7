/* The tree of live blocks against a plain list of them: blocks of all sizes at all places that an allocator may choose, in the
 * tree and in its side table, with frees that no hook saw. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "ingest/shim/core/blocks.h"

static uintptr_t comes_meanwhile;
static void put_meanwhile(void);
#undef fetch_and_acq_rel
#define fetch_and_acq_rel(at, value) (put_meanwhile(), __atomic_fetch_and(at, value, __ATOMIC_ACQ_REL))

#include "ingest/shim/core/blocks.c"
#include "ingest/shim/core/locked_table.c"

static struct process the_process;
static struct segment the_segment;
struct process *process = &the_process;
uint32_t heap_mode = HEAP_SAMPLED;
char early_pool[EARLY_POOL_SIZE];

void *private_memory(size_t size) {
    return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

void *wiped_memory(size_t size) {
    return private_memory(size);
}

void private_memory_free(void *memory, size_t size) {
    munmap(memory, size);
}

bool is_late(void) {
    return false;
}

/* The last MiB of a leaf and the first one of the next: blocks lie across the border, too. */
enum { BLOCKS = 4000, REGION = 2 << 20, ROUNDS = 200000 };
static const uintptr_t region = ((uintptr_t)0x7f12 << 24) + (3 << 20);

static struct {
    uintptr_t at;
    struct heap_block block;
} model[BLOCKS];
static bool is_taken[REGION / 8];
static size_t count;

static size_t steps_of(uint64_t size) {
    return size ? (size + 7) / 8 : 1;
}

static void mark(uintptr_t at, uint64_t size, bool value) {
    memset(&is_taken[(at - region) / 8], value, steps_of(size));
}

static bool has_room(uintptr_t at, uint64_t size) {
    size_t first = (at - region) / 8, steps = steps_of(size);
    return first + steps <= REGION / 8 && !memchr(&is_taken[first], true, steps);
}

/* Most are small, as in programs. Ids and levels up to their limits. */
static struct heap_block any_block(unsigned align) {
    static const uint32_t ids[] = {1, 70, 1 << 18, 1 << 22, STACK_ID_MAX};
    uint64_t size = (uint64_t)rand() % (rand() % 50 ? 150 : 70000);
    return (struct heap_block){
        .id = ids[rand() % 5], .level = rand() % 3 ? 0 : (uint32_t)rand() % 16, .size = align == 8 ? size | 1 : size};
}

static void expect_block(struct heap_block got, struct heap_block want) {
    assert_int_equal(got.id, want.id);
    assert_int_equal(got.level, want.level);
    assert_int_equal(got.size, want.size);
}

static void put_one(unsigned align) {
    struct heap_block block = any_block(align), stale;
    uintptr_t at = region + (uintptr_t)rand() % (REGION / align) * align;
    if (count == BLOCKS || !has_room(at, block.size)) return;
    assert_true(block_put(at, block, &stale));
    assert_int_equal(stale.id, 0);
    mark(at, block.size, true);
    model[count].at = at;
    model[count++].block = block;
}

static void take_one(void) {
    struct heap_block block;
    if (!count) return;
    size_t i = (size_t)rand() % count;
    assert_true(block_may_be_noted(model[i].at));
    assert_true(block_is_marked(model[i].at));
    assert_true(block_take(model[i].at, &block));
    expect_block(block, model[i].block);
    assert_false(block_take(model[i].at, &block));
    if (rand() % 2) block_unmark(model[i].at);
    mark(model[i].at, block.size, false);
    model[i] = model[--count];
}

/* Blocks of the side table are not looked for. */
static void find_one(void) {
    struct heap_block block;
    uint64_t offset;
    if (!count) return;
    size_t i = (size_t)rand() % count;
    uint64_t size = model[i].block.size, into = size ? (uint64_t)rand() % size : 0;
    if (!size || !block_look(model[i].at).id) return;
    expect_block(block_look(model[i].at), model[i].block);
    assert_true(block_around(model[i].at + into, &block, &offset));
    expect_block(block, model[i].block);
    assert_int_equal(offset, into);
}

static void visit(void *context, uintptr_t address, struct heap_block block) {
    size_t *seen = context, i = 0;
    while (i < count && model[i].at != address)
        i++;
    assert_true(i < count);
    expect_block(block, model[i].block);
    ++*seen;
}

static int begin(void **state) {
    (void)state;
    memset(&the_process, 0, sizeof the_process);
    the_process.segment = &the_segment;
    the_process.state = PROCESS_READY;
    memset(is_taken, 0, sizeof is_taken);
    count = 0;
    block_root = NULL;
    srand(7);
    return !blocks_start();
}

static void agrees(unsigned align) {
    size_t seen = 0;
    for (int i = 0; i < ROUNDS; i++) {
        int what = rand() % 8;
        if (what < 4)
            put_one(align);
        else if (what < 7)
            take_one();
        else
            find_one();
    }
    blocks_each(visit, &seen);
    assert_int_equal(seen, count);
    assert_true(count > 1000);
}

static void test_as_glibc_places_them(void **state) {
    (void)state;
    agrees(32);
}

static void test_as_others_place_them(void **state) {
    (void)state;
    agrees(8);
}

/* The block that lay there is told, and one beside it does no harm: what its slots are taken by goes to the side table. */
static void test_missed_frees(void **state) {
    (void)state;
    struct heap_block large = {.id = 5, .size = 100}, small = {.id = 6, .size = 10}, stale, got;
    assert_true(block_put(region, large, &stale));
    assert_true(block_put(region, small, &stale));
    expect_block(stale, large);
    assert_true(block_put(region, large, &stale));
    expect_block(stale, small);
    assert_true(block_put(region + 32, small, &stale));
    assert_int_equal(stale.id, 0);
    assert_true(block_put(region + 32, large, &stale));
    expect_block(stale, small);
    assert_true(block_take(region, &got));
    expect_block(got, large);
    assert_true(block_take(region + 32, &got));
    expect_block(got, large);
    assert_false(block_take(region + 32, &got));
}

static void test_largest(void **state) {
    (void)state;
    struct heap_block block = {.id = STACK_ID_MAX, .level = 15}, stale, got;
    for (int bits = 20; bits < 40; bits++)
        for (int less = 0; less < 2; less++) {
            block.size = (UINT64_C(1) << bits) - (uint64_t)less;
            assert_true(block_put(region, block, &stale));
            assert_int_equal(stale.id, 0);
            assert_true(block_take(region, &got));
            expect_block(got, block);
        }
}

static void put(uintptr_t at) {
    struct heap_block stale;
    assert_true(block_put(at, (struct heap_block){.id = 5, .size = 32}, &stale));
}

static void put_meanwhile(void) {
    uintptr_t at = comes_meanwhile;
    comes_meanwhile = 0;
    if (at) put(at);
}

/* A mark is of a grain of 32 bytes: blocks beside one that is noted are not asked for. It goes when the block has gone, and stays where something may be
 * in the side table. */
static void test_marks(void **state) {
    struct heap_block got;
    (void)state;
    assert_false(block_is_marked(region));
    put(region), put(region + 96);
    assert_true(block_is_marked(region + 31) && !block_is_marked(region + 32) && !block_is_marked(region - 32));
    assert_true(block_is_marked(region + 96) && !block_is_marked(region + 64) && !block_is_marked(region + 128));
    block_unmark(region);
    assert_true(block_is_marked(region));
    block_take(region, &got);
    assert_true(block_is_marked(region));
    block_unmark(region);
    assert_true(!block_is_marked(region) && block_is_marked(region + 96));
    block_take(region + 96, &got);
    block_unmark(region + 96);
    assert_false(block_is_marked(region + 96));
    put(region), put(region + 8); /* one of them fits no slot */
    block_take(region, &got);
    block_unmark(region);
    assert_true(block_is_marked(region + 8));
    assert_true(
        block_put(region + 4096 + 1, (struct heap_block){.id = 5, .size = 32}, &got)); /* no place in the tree */
    assert_true(block_is_marked(region + 4096 + 1));
}

static void test_early_blocks_are_marked(void **state) {
    (void)state;
    for (size_t at = 0; at < EARLY_POOL_SIZE; at += 16)
        assert_true(block_is_marked((uintptr_t)early_pool + at));
    memset(block_root, 0, BLOCK_ROOT_ENTRIES * sizeof *block_root); /* as in a forked child */
    assert_true(block_is_marked((uintptr_t)early_pool + 16));
    assert_false(block_is_marked(region));
}

/* Between a look at the slot and the change of the marks another thread puts a block into the grain. */
static void test_a_block_that_comes_meanwhile(void **state) {
    struct heap_block got;
    (void)state;
    put(region);
    block_take(region, &got);
    comes_meanwhile = region + 8;
    block_unmark(region);
    assert_int_equal(comes_meanwhile, 0);
    assert_true(block_is_marked(region));
    assert_true(block_take(region + 8, &got));
    block_unmark(region);
    assert_false(block_is_marked(region));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_as_glibc_places_them, begin),
        cmocka_unit_test_setup(test_as_others_place_them, begin),
        cmocka_unit_test_setup(test_missed_frees, begin),
        cmocka_unit_test_setup(test_largest, begin),
        cmocka_unit_test_setup(test_marks, begin),
        cmocka_unit_test_setup(test_early_blocks_are_marked, begin),
        cmocka_unit_test_setup(test_a_block_that_comes_meanwhile, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
