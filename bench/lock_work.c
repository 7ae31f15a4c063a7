/* lock_work OPERATIONS WORK: takes a mutex and gives it back, with so many multiplications between two of them, each of which waits for the one before: 4
 * cycles on any processor. Additions to a variable in memory take 1 to 5 cycles on some, by what else the loop has. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static volatile long counter;
    unsigned long value = 1;
    long operations = argc > 1 ? atol(argv[1]) : 1000000, work = argc > 2 ? atol(argv[2]) : 0;
    for (long i = 0; i < operations; i++) {
        pthread_mutex_lock(&mutex);
        counter++;
        pthread_mutex_unlock(&mutex);
        for (long j = 0; j < work; j++) {
            value = value * 6364136223846793005u + 1;
            __asm__ volatile("" : "+r"(value));
        }
    }
    printf("%ld\n", counter);
    return 0;
}
