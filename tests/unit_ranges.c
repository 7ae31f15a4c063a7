/* ingest/symbols/ranges.h: the innermost range around an address, against a look at all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "ingest/symbols/ranges.h"

enum { SETS = 300, RANGES = 12, ADDRESSES = 24, DEEP = 1 << 20, ENDS_WITHIN_S = 60 };

static unsigned next(unsigned most) {
    static uint64_t state = 88172645463325252u;
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (unsigned)(state >> 33) % most;
}

/* By the rule of the header. */
static const struct range *innermost(const struct ranges *ranges, uint64_t address) {
    const struct range *found = NULL;
    for (size_t i = 0; i < ranges->count; i++) {
        const struct range *each = &ranges->items[i];
        if (address < each->low || address >= each->high) continue;
        if (!found || each->low > found->low || (each->low == found->low && each->high < found->high) ||
            (each->low == found->low && each->high == found->high && each->index > found->index))
            found = each;
    }
    return found;
}

static void the_innermost_range_is_found(void **state) {
    (void)state;
    for (int set = 0; set < SETS; set++) {
        struct ranges ranges = {0};
        for (size_t i = 0; i < RANGES; i++) {
            uint64_t low = next(ADDRESSES);
            ranges_add(&ranges, low, low + next(ADDRESSES), i);
        }
        ranges_add(&ranges, UINT64_MAX - next(3), UINT64_MAX, RANGES);
        ranges_sort(&ranges);
        for (uint64_t address = 0; address < 2 * ADDRESSES + 2; address++)
            assert_ptr_equal(ranges_find(&ranges, address), innermost(&ranges, address));
        for (uint64_t address = UINT64_MAX; address > UINT64_MAX - 4; address--)
            assert_ptr_equal(ranges_find(&ranges, address), innermost(&ranges, address));
        ranges_free(&ranges);
    }
    assert_null(ranges_find(&(struct ranges){0}, 0));
}

/* A million in one another, or a million beside each other in one: none is passed to find another. */
static void look_ups_do_not_pass_what_nests(void **state) {
    (void)state;
    struct ranges nested = {0}, beside = {0};
    ranges_add(&beside, 0, 4 * (uint64_t)DEEP, DEEP);
    for (uint64_t i = 0; i < DEEP; i++) {
        ranges_add(&nested, i, 4 * (uint64_t)DEEP - i, i);
        ranges_add(&beside, 2 * i, 2 * i + 1, i);
    }
    ranges_sort(&nested);
    ranges_sort(&beside);
    for (uint64_t i = 0; i < DEEP; i++) {
        assert_int_equal(ranges_find(&nested, 4 * (uint64_t)DEEP - i - 1)->index, i);
        assert_int_equal(ranges_find(&beside, 2 * i + 1)->index, DEEP);
    }
    ranges_free(&nested);
    ranges_free(&beside);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_innermost_range_is_found),
        cmocka_unit_test(look_ups_do_not_pass_what_nests),
    };
    alarm(ENDS_WITHIN_S);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
