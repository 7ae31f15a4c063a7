/* idle_service: a service that has little to do: three threads that each allocate, lock and free some blocks every 100 ms, until it is ended. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 3, BLOCKS = 50, PAUSE_US = 100000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char *volatile last;

static void *work(void *context) {
    (void)context;
    for (size_t round = 0;; round++) {
        for (size_t i = 0; i < BLOCKS; i++) {
            char *block = malloc(16 + (round * 31 + i * 97) % 2000);
            if (!block) continue;
            memset(block, 1, 16);
            pthread_mutex_lock(&mutex);
            char *old = last;
            last = block;
            pthread_mutex_unlock(&mutex);
            free(old);
        }
        usleep(PAUSE_US);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS - 1];
    for (size_t i = 0; i < THREADS - 1; i++)
        if (pthread_create(&threads[i], NULL, work, NULL)) return 1;
    work(NULL);
}
