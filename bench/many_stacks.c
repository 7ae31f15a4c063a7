/* many_stacks SECONDS: uses CPU in stacks that hardly ever repeat. Each round makes 24 nested calls, and at each level
 * a random bit chooses the function: 2^24 stacks, so nearly every sample has one of its own. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LEVELS = 24, WORK = 4000 };

static volatile uint32_t sink;

static void walk_left(uint32_t path, int level);
static void walk_right(uint32_t path, int level);

/* The empty asm keeps each call a call: a tail call leaves no frame behind. */
static void __attribute__((noinline)) descend(uint32_t path, int level) {
    if (level == LEVELS) {
        for (uint32_t i = 0; i < WORK; i++)
            sink = sink * 31 + i;
        return;
    }
    if (path >> level & 1)
        walk_left(path, level + 1);
    else
        walk_right(path, level + 1);
    __asm__ volatile("" ::: "memory");
}

static void __attribute__((noinline)) walk_left(uint32_t path, int level) {
    descend(path, level);
    __asm__ volatile("" ::: "memory");
}

static void __attribute__((noinline)) walk_right(uint32_t path, int level) {
    descend(path, level);
    __asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv) {
    int seconds = argc > 1 ? atoi(argv[1]) : 1;
    uint64_t random = 88172645463325252ull, turns = 0;
    for (time_t end = time(NULL) + seconds; time(NULL) < end; turns++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        descend((uint32_t)random, 0);
    }
    printf("%llu stacks\n", (unsigned long long)turns);
    return 0;
}
