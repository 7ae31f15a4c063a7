#include "export/gzip_file.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <zlib.h>

#include "export/file.h"

enum {
    BATCH = 256 * 1024,    /* bytes that are handed to the thread at once */
    CHUNK = 64 * 1024,     /* the size of what is written at once */
    GZIP_WINDOW = 15 + 16, /* zlib's way to say: the largest window, in a gzip wrapper */
    GZIP_MEMORY = 8,       /* zlib's default */
    GZIP_SYSTEM = 255,     /* "unknown", so that the bytes do not tell where they were made */
};

/* What the two threads share. */
struct deflater {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct buffer batch; /* the thread's while it is busy, else the caller's */
    bool runs, busy, ends;
};

struct gzip_file {
    struct file file;
    struct error error; /* the first failure; the thread's while it is busy */
    bool failed;        /* the caller's copy of whether there was one */
    struct deflater deflater;
    z_stream zip;
    gz_header header;      /* zlib reads it when it writes the first bytes */
    struct buffer pending; /* not handed over yet */
    unsigned char chunk[CHUNK];
};

struct gzip_file *gzip_file_open(const struct file *file, int level) {
    struct gzip_file *gzip = xcalloc(1, sizeof *gzip);
    gzip->file = *file;
    if (deflateInit2(&gzip->zip, level, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
        out_of_memory(0);
    gzip->header.os = GZIP_SYSTEM;
    deflateSetHeader(&gzip->zip, &gzip->header);
    return gzip;
}

struct buffer *gzip_file_bytes(struct gzip_file *gzip) {
    return &gzip->pending;
}

/* Deflates a buffer and empties it. In the thread, and in the caller while that is idle. */
static void deflate_buffer(struct gzip_file *gzip, struct buffer *bytes, int flush) {
    z_stream *zip = &gzip->zip;
    zip->next_in = (unsigned char *)bytes->data;
    zip->avail_in = (unsigned)bytes->size;
    int status = Z_OK;
    while (gzip->error.status == ERROR_NONE && (zip->avail_in || flush == Z_FINISH) && status != Z_STREAM_END) {
        zip->next_out = gzip->chunk;
        zip->avail_out = sizeof gzip->chunk;
        status = deflate(zip, flush);
        if (status == Z_STREAM_ERROR) bug("deflate: the stream is broken");
        file_write(&gzip->file, gzip->chunk, sizeof gzip->chunk - zip->avail_out, &gzip->error);
    }
    buffer_clear(bytes);
}

static void *run_deflater(void *context) {
    struct gzip_file *gzip = context;
    struct deflater *deflater = &gzip->deflater;
    pthread_mutex_lock(&deflater->lock);
    for (;;) {
        while (!deflater->busy && !deflater->ends)
            pthread_cond_wait(&deflater->changed, &deflater->lock);
        if (!deflater->busy) break;
        pthread_mutex_unlock(&deflater->lock);
        deflate_buffer(gzip, &deflater->batch, Z_NO_FLUSH);
        pthread_mutex_lock(&deflater->lock);
        deflater->busy = false;
        pthread_cond_signal(&deflater->changed);
    }
    pthread_mutex_unlock(&deflater->lock);
    return NULL;
}

/* Signals are for the thread that was there first. */
static bool start_deflater(struct gzip_file *gzip) {
    struct deflater *deflater = &gzip->deflater;
    sigset_t all, old;
    sigfillset(&all);
    pthread_mutex_init(&deflater->lock, NULL);
    pthread_cond_init(&deflater->changed, NULL);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    deflater->runs = pthread_create(&deflater->thread, NULL, run_deflater, gzip) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return deflater->runs;
}

static void stop_deflater(struct gzip_file *gzip) {
    struct deflater *deflater = &gzip->deflater;
    if (!deflater->runs) return;
    pthread_mutex_lock(&deflater->lock);
    deflater->ends = true;
    pthread_cond_signal(&deflater->changed);
    pthread_mutex_unlock(&deflater->lock);
    pthread_join(deflater->thread, NULL); /* after its last batch */
    pthread_mutex_destroy(&deflater->lock);
    pthread_cond_destroy(&deflater->changed);
    deflater->runs = false;
}

/* Waits until the batch before is done. */
static void hand_over(struct gzip_file *gzip) {
    struct deflater *deflater = &gzip->deflater;
    pthread_mutex_lock(&deflater->lock);
    while (deflater->busy)
        pthread_cond_wait(&deflater->changed, &deflater->lock);
    struct buffer empty = deflater->batch;
    deflater->batch = gzip->pending;
    gzip->pending = empty;
    gzip->failed = gzip->error.status != ERROR_NONE;
    deflater->busy = true;
    pthread_cond_signal(&deflater->changed);
    pthread_mutex_unlock(&deflater->lock);
}

void gzip_file_pass(struct gzip_file *gzip) {
    if (gzip->pending.size < BATCH) return;
    if (gzip->deflater.runs || (!gzip->failed && start_deflater(gzip)))
        hand_over(gzip);
    else /* no thread to be had, or it was stopped for a failure: then this drops the bytes */
        deflate_buffer(gzip, &gzip->pending, Z_NO_FLUSH);
}

int gzip_file_check(struct gzip_file *gzip, struct error *err) {
    if (!gzip->failed) return 0;
    stop_deflater(gzip); /* the message is its own until it has ended */
    return error_fail(err, "%s", gzip->error.message);
}

static void release(struct gzip_file *gzip) {
    buffer_free(&gzip->deflater.batch);
    buffer_free(&gzip->pending);
    deflateEnd(&gzip->zip);
    free(gzip);
}

int gzip_file_close(struct gzip_file *gzip, struct error *err) {
    stop_deflater(gzip);
    deflate_buffer(gzip, &gzip->pending, Z_FINISH);
    int code = gzip->error.status == ERROR_NONE ? 0 : error_fail(err, "%s", gzip->error.message);
    if (code == 0)
        code = file_publish(&gzip->file, err);
    else
        file_abandon(&gzip->file);
    release(gzip);
    return code;
}

void gzip_file_abandon(struct gzip_file *gzip) {
    if (!gzip) return;
    stop_deflater(gzip);
    file_abandon(&gzip->file);
    release(gzip);
}
