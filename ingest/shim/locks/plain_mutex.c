#include "ingest/shim/locks/plain_mutex.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "ingest/shim/core/real.h"

HOT_WORD uint32_t plain_kinds;

static bool is_of_libc(const void *function) {
    struct dl_find_object found;
    if (_dl_find_object((void *)(uintptr_t)function, &found)) return false;
    const char *name = found.dlfo_link_map->l_name, *slash = strrchr(name, '/');
    return !strcmp(slash ? slash + 1 : name, "libc.so.6");
}

/* Whether both leave the same in a mutex, and have the same result. */
static bool is_same_taken(pthread_mutex_t *theirs, pthread_mutex_t *ours, bool is_alone) {
    return real.pthread_mutex_lock(theirs) == 0 && plain_mutex_take_as(ours, plain_kind_of(ours), is_alone) &&
           !memcmp(theirs, ours, sizeof *ours);
}

static bool is_same_given(pthread_mutex_t *theirs, pthread_mutex_t *ours, bool is_alone) {
    return real.pthread_mutex_unlock(theirs) == 0 && plain_mutex_give_as(ours, plain_kind_of(ours), is_alone) &&
           !memcmp(theirs, ours, sizeof *ours);
}

/* Taken `depth` times and given back as often, each way. */
static bool is_same_kind(const pthread_mutex_t *fresh, uint32_t depth) {
    pthread_mutex_t theirs = *fresh, ours = *fresh;
    for (int is_alone = 0; is_alone < 2; is_alone++) {
        for (uint32_t taken = 0; taken < depth; taken++)
            if (!is_same_taken(&theirs, &ours, is_alone)) return false;
        for (uint32_t given = 0; given < depth; given++)
            if (!is_same_given(&theirs, &ours, is_alone)) return false;
    }
    return true;
}

void plain_mutexes_try(void) {
    static const pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    enum { KINDS = PTHREAD_MUTEX_RECURSIVE_NP + 1 };
    _Static_assert(PTHREAD_MUTEX_TIMED_NP == 0 && PTHREAD_MUTEX_RECURSIVE_NP == 1, "the two kinds come first");
    real_resolve();
    bool is_libc = is_of_libc((void *)real.pthread_mutex_lock) && is_of_libc((void *)real.pthread_mutex_unlock);
    bool is_known = is_libc && is_same_kind(&plain, 1) && is_same_kind(&recursive, 3);
    store_relaxed(&plain_kinds, is_known ? KINDS : 0);
}
