/* lock_work OPERATIONS WORK: takes a mutex and gives it back, with so many additions to a variable in memory between two of them. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static volatile long counter;
    long operations = argc > 1 ? atol(argv[1]) : 1000000, work = argc > 2 ? atol(argv[2]) : 0;
    for (long i = 0; i < operations; i++) {
        pthread_mutex_lock(&mutex);
        counter++;
        pthread_mutex_unlock(&mutex);
        for (long j = 0; j < work; j++)
            counter++;
    }
    printf("%ld\n", counter);
    return 0;
}
