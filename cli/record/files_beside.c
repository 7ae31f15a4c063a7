#include "cli/record/files_beside.h"

#include <signal.h>

#include "export/export.h"

static void *write_files(void *context) {
    struct files_beside *files = context;
    struct db db;
    struct error ignored = {0};
    if (db_open_beside(&db, files->writer, &ignored)) return NULL;
    files->is_written = export_directory(&db, files->run_id, files->directory, &ignored) == 0;
    db_close(&db, &ignored);
    return NULL;
}

/* Signals are for the thread that was there first. */
void files_beside_start(struct files_beside *files, const struct db *writer, int64_t run_id, const char *directory) {
    sigset_t all, old;
    if (files->is_there) return;
    *files = (struct files_beside){.writer = writer, .run_id = run_id, .directory = directory};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    files->is_there = pthread_create(&files->thread, NULL, write_files, files) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

bool files_beside_end(struct files_beside *files) {
    if (files->is_there) pthread_join(files->thread, NULL);
    files->is_there = false;
    return files->is_written;
}
