#include "cli/history/bisect_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char heading[] = "clear bisect 1"; /* the form of the file; its texts end in NULs */
enum { FIELDS = 6 };
#define STATE_MAX ((size_t)64 << 20)

void bisect_state_free(struct bisect_state *state) {
    free(state->id);
    free(state->place);
    free(state->here);
    free(state->good);
    free(state->bad);
    for (int i = 0; i < state->count; i++)
        free(state->words[i]);
    free(state->words);
    *state = (struct bisect_state){0};
}

/* ---- the directory ---- */

int bisect_store_open(struct bisect_store *store, const char *common, struct error *err) {
    *store = (struct bisect_store){.directory = xasprintf("%s/clear-bisect", common), .lock = -1};
    if (mkdir(store->directory, 0700) && errno != EEXIST)
        return error_fail(err, "%s: %s", store->directory, strerror(errno));
    char *path = xasprintf("%s/lock", store->directory);
    store->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    int code = store->lock < 0 ? error_fail(err, "%s: %s", path, strerror(errno)) : 0;
    if (code == 0 && flock(store->lock, LOCK_EX | LOCK_NB))
        code = error_fail(err, "another clear bisect searches this repository now");
    free(path);
    return code;
}

/* Leaves nothing behind where there is no state. */
void bisect_store_close(struct bisect_store *store) {
    if (store->lock >= 0) {
        char *path = xasprintf("%s/lock", store->directory);
        if (!bisect_store_has(store)) (void)unlink(path);
        close(store->lock);
        (void)rmdir(store->directory);
        free(path);
    }
    free(store->directory);
    *store = (struct bisect_store){.lock = -1};
}

static char *state_file(const struct bisect_store *store) {
    return xasprintf("%s/state", store->directory);
}

char *bisect_store_log(const struct bisect_store *store) {
    return xasprintf("%s/log", store->directory);
}

bool bisect_store_has(const struct bisect_store *store) {
    char *path = state_file(store);
    bool has = access(path, F_OK) == 0;
    free(path);
    return has;
}

void bisect_store_remove(const struct bisect_store *store) {
    char *state = state_file(store), *log = bisect_store_log(store);
    (void)unlink(log);
    (void)unlink(state);
    free(state);
    free(log);
}

/* ---- writing ---- */

/* The file has the old content or the new one, whatever happens. */
static int write_file(const char *path, const struct buffer *text, struct error *err) {
    char *next = xasprintf("%s.new", path);
    FILE *file = fopen(next, "we");
    bool is_written =
        file && fwrite(text->data, 1, text->size, file) == text->size && fflush(file) == 0 && fsync(fileno(file)) == 0;
    if (file && fclose(file)) is_written = false;
    int code = is_written && rename(next, path) == 0 ? 0 : error_fail(err, "%s: %s", path, strerror(errno));
    if (code) (void)unlink(next);
    free(next);
    return code;
}

static void add(struct buffer *text, const char *field) {
    buffer_add(text, field, strlen(field) + 1);
}

int bisect_store_write(const struct bisect_store *store, const struct bisect_state *state, struct error *err) {
    const char *const fields[FIELDS] = {heading, state->id, state->place, state->here, state->good, state->bad};
    struct buffer text = {0};
    for (size_t i = 0; i < FIELDS; i++)
        add(&text, fields[i]);
    for (int i = 0; i < state->count; i++)
        add(&text, state->words[i]);
    char *path = state_file(store);
    int code = write_file(path, &text, err);
    buffer_free(&text);
    free(path);
    return code;
}

int bisect_store_write_log(const struct bisect_store *store, const struct buffer *log, struct error *err) {
    char *path = bisect_store_log(store);
    int code = write_file(path, log, err);
    free(path);
    return code;
}

/* ---- reading ---- */

static int read_file(const char *path, struct buffer *text, struct error *err) {
    char piece[4096];
    size_t size;
    FILE *file = fopen(path, "re");
    if (!file) return error_fail(err, "%s: %s", path, strerror(errno));
    while (text->size < STATE_MAX && (size = fread(piece, 1, sizeof piece, file)) > 0)
        buffer_add(text, piece, size);
    fclose(file);
    return 0;
}

/* The texts of the file one after the other; NULL after the last. */
static const char *next(const struct buffer *text, size_t *at) {
    if (*at >= text->size) return NULL;
    const char *field = text->data + *at;
    *at += strlen(field) + 1; /* the buffer ends in a NUL in any case */
    return field;
}

static int take_fields(struct bisect_state *state, const struct buffer *text) {
    char **const fields[FIELDS] = {NULL, &state->id, &state->place, &state->here, &state->good, &state->bad};
    size_t at = 0;
    const char *field = next(text, &at);
    if (!field || strcmp(field, heading) != 0) return -1;
    for (size_t i = 1; i < FIELDS; i++) {
        if (!(field = next(text, &at))) return -1;
        *fields[i] = xstrdup(field);
    }
    while ((field = next(text, &at))) {
        state->words = xrealloc(state->words, ((size_t)state->count + 2) * sizeof *state->words);
        state->words[state->count++] = xstrdup(field);
        state->words[state->count] = NULL;
    }
    return state->count ? 0 : -1;
}

int bisect_store_read(const struct bisect_store *store, struct bisect_state *state, struct error *err) {
    struct buffer text = {0};
    char *path = state_file(store);
    int code = read_file(path, &text, err);
    if (code == 0 && take_fields(state, &text))
        code = error_fail(err, "%s: damaged, or of another clear: remove it with clear bisect --abort", path);
    buffer_free(&text);
    free(path);
    return code;
}
