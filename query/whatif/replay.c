#include "query/whatif/replay.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"

#define NOBODY SIZE_MAX

enum state { WAITING_FOR_START, READY, WORKING, SLEEPING, QUEUED, JOINING, ENDED };

struct player {
    enum state state;
    size_t step;
    double left;     /* of the work or the sleep */
    size_t object;   /* QUEUED: the lock; JOINING: the thread */
    uint64_t ticket; /* QUEUED: since when */
    size_t held;     /* how many times it has the changed lock */
    size_t shard;    /* which part of it */
};

struct lock {
    size_t owner, depth;
};

struct play {
    const struct replay_thread *threads;
    size_t count;
    const struct replay_options *options;
    struct player *players;
    struct lock *locks; /* those of the steps, then the shards */
    size_t first_shard;
    uint64_t tickets, random;
    double now;
};

/* xorshift64* */
static size_t draw(struct play *play, size_t below) {
    play->random ^= play->random >> 12;
    play->random ^= play->random << 25;
    play->random ^= play->random >> 27;
    return (size_t)((play->random * UINT64_C(2685821657736338717)) >> 33) % below;
}

static bool is_changed(const struct play *play, const struct replay_step *step, enum replay_change change) {
    return play->options->change == change && step->object == play->options->lock;
}

/* The lock that a step means: of a sharded one the part that the thread took, or takes now. */
static size_t lock_of(struct play *play, struct player *player, const struct replay_step *step) {
    if (!is_changed(play, step, REPLAY_SHARDS)) return step->object;
    if (step->what == REPLAY_TAKE && !player->held) player->shard = draw(play, play->options->shards);
    return play->first_shard + player->shard;
}

static void take(struct play *play, size_t thread, const struct replay_step *step) {
    struct player *player = &play->players[thread];
    size_t number = lock_of(play, player, step);
    struct lock *lock = &play->locks[number];
    if (step->object == play->options->lock) player->held++;
    if (is_changed(play, step, REPLAY_FREE)) return;
    if (lock->owner == NOBODY || lock->owner == thread) {
        lock->owner = thread;
        lock->depth++;
        return;
    }
    player->state = QUEUED;
    player->object = number;
    player->ticket = play->tickets++;
}

/* Who has waited longest for the lock; NOBODY if nobody has. */
static size_t first_in_queue(const struct play *play, size_t number) {
    size_t first = NOBODY;
    for (size_t i = 0; i < play->count; i++) {
        const struct player *player = &play->players[i];
        if (player->state != QUEUED || player->object != number) continue;
        if (first == NOBODY || player->ticket < play->players[first].ticket) first = i;
    }
    return first;
}

static void give(struct play *play, size_t thread, const struct replay_step *step) {
    struct player *player = &play->players[thread];
    size_t number = lock_of(play, player, step);
    struct lock *lock = &play->locks[number];
    if (step->object == play->options->lock && player->held) player->held--;
    if (lock->owner != thread || --lock->depth) return;
    lock->owner = first_in_queue(play, number);
    if (lock->owner == NOBODY) return;
    lock->depth = 1;
    play->players[lock->owner].state = READY;
}

static void end(struct play *play, size_t thread) {
    play->players[thread].state = ENDED;
    for (size_t i = 0; i < play->count; i++)
        if (play->players[i].state == JOINING && play->players[i].object == thread) play->players[i].state = READY;
}

static void do_step(struct play *play, size_t thread, const struct replay_step *step) {
    struct player *player = &play->players[thread];
    switch (step->what) {
    case REPLAY_WORK:
        player->state = WORKING;
        player->left = (double)step->ns;
        if (player->held && play->options->change == REPLAY_HALF) player->left /= 2;
        break;
    case REPLAY_SLEEP:
        player->state = SLEEPING;
        player->left = (double)step->ns;
        break;
    case REPLAY_TAKE: take(play, thread, step); break;
    case REPLAY_GIVE: give(play, thread, step); break;
    case REPLAY_START:
        if (play->players[step->object].state == WAITING_FOR_START) play->players[step->object].state = READY;
        break;
    case REPLAY_JOIN:
        if (play->players[step->object].state == ENDED) break;
        player->state = JOINING;
        player->object = step->object;
        break;
    }
}

/* Steps that take no time, until each thread works, sleeps, waits or has ended. */
static void settle(struct play *play) {
    for (bool any = true; any;) {
        any = false;
        for (size_t i = 0; i < play->count; i++)
            while (play->players[i].state == READY) {
                any = true;
                if (play->players[i].step == play->threads[i].count)
                    end(play, i);
                else
                    do_step(play, i, &play->threads[i].steps[play->players[i].step++]);
            }
    }
}

/* How fast work goes on: 1, or less where it wants more processors than there are. */
static double rate_of(const struct play *play) {
    double wanted = 0;
    for (size_t i = 0; i < play->count; i++)
        if (play->players[i].state == WORKING) wanted += play->options->cpu_share;
    return wanted > play->options->processors ? play->options->processors / wanted : 1;
}

/* Goes on to the next moment at which somebody is done; false if nobody will be. */
static bool advance(struct play *play) {
    double rate = rate_of(play), step = INFINITY;
    for (size_t i = 0; i < play->count; i++) {
        const struct player *player = &play->players[i];
        if (player->state == WORKING) step = fmin(step, player->left / rate);
        if (player->state == SLEEPING) step = fmin(step, player->left);
    }
    if (isinf(step)) return false;
    play->now += step;
    for (size_t i = 0; i < play->count; i++) {
        struct player *player = &play->players[i];
        if (player->state != WORKING && player->state != SLEEPING) continue;
        player->left -= player->state == WORKING ? step * rate : step;
        if (player->left < 0.5) player->state = READY; /* half a nanosecond */
    }
    return true;
}

/* A thread that no step starts sleeps until its start; thread 0 starts at once. */
static void begin(struct play *play, size_t locks) {
    for (size_t i = 0; i < play->count; i++) {
        struct player *player = &play->players[i];
        player->state = play->threads[i].is_started ? WAITING_FOR_START : SLEEPING;
        player->left = (double)play->threads[i].start_ns;
    }
    for (size_t i = 0; i < locks; i++)
        play->locks[i].owner = NOBODY;
}

int64_t replay_run(const struct replay_thread *threads, size_t count, size_t locks,
                   const struct replay_options *options) {
    size_t all = locks + (options->change == REPLAY_SHARDS ? options->shards : 0);
    struct play play = {.threads = threads,
                        .count = count,
                        .options = options,
                        .players = xcalloc(count + 1, sizeof *play.players),
                        .locks = xcalloc(all + 1, sizeof *play.locks),
                        .first_shard = locks,
                        .random = options->seed * UINT64_C(0x9e3779b97f4a7c15) | 1};
    begin(&play, all);
    settle(&play);
    bool goes_on = true;
    while (goes_on && play.players[0].state != ENDED && (goes_on = advance(&play)))
        settle(&play);
    int64_t ended = goes_on ? llround(play.now) : -1;
    free(play.players);
    free(play.locks);
    return ended;
}
