/* replay READER FILE...: the files through one fuzzer's entry point, as libFuzzer would, with any compiler. Prints each file's
 * name before it is read, and last how many were read and how many of them the reader took. A crash or a report of a sanitizer
 * ends it; so does a file that takes more than LIMIT_S seconds of CPU time, which a busy machine does not change. Exit 1 for
 * such a file or one that cannot be opened, 2 for an unknown reader or no file at all. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "fuzz/replay.h"

#ifndef LIMIT_S
#define LIMIT_S 20
#endif

/* READERS is READER(name) for each fuzz/fuzz_NAME.c, whose entry point is compiled as replay_NAME. */
#define READER(name) int replay_##name(const uint8_t *data, size_t size);
READERS
#undef READER

struct reader {
    const char *name;
    int (*read)(const uint8_t *data, size_t size);
};

#define READER(name) {#name, replay_##name},
static const struct reader readers[] = {READERS{NULL, NULL}};

static const struct reader *reader_named(const char *name) {
    for (const struct reader *reader = readers; reader->name; reader++)
        if (strcmp(reader->name, name) == 0) return reader;
    return NULL;
}

static void too_long(int signal_number) {
    static const char text[] = "replay: too much CPU time on the file named last\n";
    (void)signal_number;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(1);
}

/* The bytes of a file, exactly as many as were allocated so that a sanitizer sees any access behind them; NULL if it cannot be
 * read. To be freed. */
static uint8_t *bytes_of(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    long end = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    uint8_t *bytes = end >= 0 ? malloc(end > 0 ? (size_t)end : 1) : NULL;
    *size = end > 0 ? (size_t)end : 0;
    if (bytes) rewind(file);
    if (bytes && fread(bytes, 1, *size, file) != *size) {
        free(bytes);
        bytes = NULL;
    }
    if (file) fclose(file);
    return bytes;
}

static int replay(const struct reader *reader, const char *path) {
    const struct itimerval limit = {.it_value.tv_sec = LIMIT_S}, none = {.it_value.tv_sec = 0};
    size_t size;
    uint8_t *bytes = bytes_of(path, &size);
    if (!bytes) {
        perror(path);
        return -1;
    }
    printf("%s: %s\n", reader->name, path);
    fflush(stdout);
    setitimer(ITIMER_PROF, &limit, NULL);
    reader->read(bytes, size);
    setitimer(ITIMER_PROF, &none, NULL);
    free(bytes);
    return 0;
}

int main(int argc, char **argv) {
    const struct reader *reader = argc > 1 ? reader_named(argv[1]) : NULL;
    if (!reader || argc < 3) {
        fprintf(stderr, "replay: %s\n", reader ? "no file to read" : "no such reader");
        return 2;
    }
    signal(SIGPROF, too_long);
    replay_is_whole = true;
    for (int i = 2; i < argc; i++)
        if (replay(reader, argv[i]) != 0) return 1;
    printf("%s: %d files read, %u taken\n", reader->name, argc - 2, replay_taken);
    return 0;
}
