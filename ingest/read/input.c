#include "ingest/read/input.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/hex.h"
#include "base/limit.h"

enum { HASH_STEP = 16 << 20 }; /* a multiple of every page size */

/* ---- content hash ------------------------------------------------------------------------------------------------ */

static void hash_end(struct sha256_ctx *sha, char hex[INPUT_HASH_SIZE]) {
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_digest(sha, sizeof digest, digest);
    hex_bytes(hex, digest, sizeof digest);
}

/* Releases pages of a mapped file that were hashed; else a file of a gigabyte would use a gigabyte of memory. */
static void hash_bytes_of(const struct input *input, struct sha256_ctx *sha) {
    for (size_t offset = 0; offset < input->file_size;) {
        size_t left = input->file_size - offset, size = left < HASH_STEP ? left : HASH_STEP;
        sha256_update(sha, size, input->file + offset);
        if (input->is_mapped && left > HASH_STEP)
            (void)madvise((void *)(uintptr_t)(input->file + offset), size, MADV_DONTNEED);
        offset += size;
    }
}

static void hash_file(struct input *input) {
    struct sha256_ctx sha;
    sha256_init(&sha);
    hash_bytes_of(input, &sha);
    hash_end(&sha, input->content_hash);
}

/* ---- gzip -------------------------------------------------------------------------------------------------------- */

static bool is_gzip(const uint8_t *data, size_t size) {
    return size >= 2 && data[0] == 0x1f && data[1] == 0x8b;
}

/* The inflated size by the trailer of the last member, if it is possible: deflate inflates at most 1032 times. */
static size_t inflated_guess(const struct input *input) {
    if (input->file_size < 18) return INPUT_HEAD;
    const uint8_t *at = input->file + input->file_size - 4;
    uint64_t said = at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 | (uint64_t)at[3] << 24;
    uint64_t possible = (uint64_t)input->file_size * 1032;
    if (said > possible) said = possible;
    return said > INPUT_SIZE_MAX ? INPUT_SIZE_MAX : said < INPUT_HEAD ? INPUT_HEAD : (size_t)said;
}

static uint32_t at_most_4g(size_t size) {
    return size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
}

/* After a member: 1 another one follows, 0 the file ends, -1 something else follows. */
static int next_member(struct input *input, z_stream *stream, size_t offset, struct error *err) {
    if (offset == input->file_size) return 0;
    if (!is_gzip(input->file + offset, input->file_size - offset))
        return input_fail_byte(err, input, offset, "expected another gzip member or the end of the file");
    inflateReset(stream);
    return 1;
}

static int inflate_step(struct input *input, z_stream *stream, size_t *offset, struct error *err) {
    stream->next_in = (uint8_t *)(uintptr_t)(input->file + *offset);
    uint32_t given = at_most_4g(input->file_size - *offset);
    stream->avail_in = given;
    uint32_t room = stream->avail_out;
    int code = inflate(stream, Z_NO_FLUSH);
    *offset += given - stream->avail_in;
    input->size += room - stream->avail_out;
    if (code == Z_STREAM_END) return next_member(input, stream, *offset, err);
    if (code == Z_OK && (*offset < input->file_size || stream->avail_out == 0)) return 1;
    if (code == Z_MEM_ERROR) out_of_memory(0);
    if (code == Z_OK || code == Z_BUF_ERROR)
        return input_fail_byte(err, input, *offset, "the gzip stream is truncated");
    return input_fail_byte(err, input, *offset, "broken gzip: %s", stream->msg ? stream->msg : "bad data");
}

/* Inflates up to `limit` bytes. 1: there is more, 0: that was all, -1 with the error set. */
static int inflate_some(struct input *input, size_t limit, struct error *err) {
    z_stream stream = {0};
    size_t offset = 0, capacity = limit == INPUT_HEAD ? INPUT_HEAD : inflated_guess(input);
    if (capacity > limit) capacity = limit;
    if (inflateInit2(&stream, 15 + 16) != Z_OK) out_of_memory(0);
    free(input->owned);
    input->owned = xmalloc(capacity);
    input->size = 0;
    int code = 1;
    while (code == 1) {
        if (input->size == limit) break;
        if (input->size == capacity) {
            capacity = capacity * 2 > limit ? limit : capacity * 2;
            input->owned = xrealloc(input->owned, capacity);
        }
        stream.next_out = (uint8_t *)input->owned + input->size;
        stream.avail_out = at_most_4g(capacity - input->size);
        code = inflate_step(input, &stream, &offset, err);
    }
    inflateEnd(&stream);
    input->data = input->owned;
    return code;
}

/* Inflates the start of gzip; plain bytes are used as they are. */
static int open_bytes(struct input *input, struct error *err) {
    input->data = input->file;
    input->size = input->file_size;
    if (!is_gzip(input->file, input->file_size)) return 0;
    int code = inflate_some(input, INPUT_HEAD, err);
    input->is_partial = code == 1;
    return code < 0 ? -1 : 0;
}

int input_complete(struct input *input, struct error *err) {
    if (!*input->content_hash) hash_file(input); /* that of a directory is set already */
    if (!input->is_partial) return 0;
    input->is_partial = false;
    uint64_t most = limit_inflated(input->file_size);
    int code = inflate_some(input, most < INPUT_SIZE_MAX ? (size_t)most : INPUT_SIZE_MAX, err);
    if (code == 1 && most < INPUT_SIZE_MAX) return limit_inflated_fail(input->path, input->file_size, err);
    if (code == 1)
        return error_fail(err, "%s: more than %" PRIu64 " MiB after inflating, which is the limit", input->path,
                          (uint64_t)INPUT_SIZE_MAX >> 20);
    return code;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static int read_stream(struct input *input, int file, struct error *err) {
    struct buffer bytes = {0};
    for (;;) {
        buffer_reserve(&bytes, INPUT_HEAD);
        ssize_t got = read(file, bytes.data + bytes.size, INPUT_HEAD);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0 || bytes.size + (size_t)got > INPUT_SIZE_MAX) {
            int why = errno;
            input->file_size = bytes.size;
            input->file = (uint8_t *)buffer_take(&bytes);
            if (got == 0) return 0;
            if (got < 0) return error_fail(err, "%s: %s", input->path, strerror(why));
            return error_fail(err, "%s: more than %" PRIu64 " MiB", input->path, (uint64_t)INPUT_SIZE_MAX >> 20);
        }
        bytes.size += (size_t)got;
    }
}

static int map_file(struct input *input, int file, size_t size, struct error *err) {
    if (size == 0) return 0;
    void *map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (map == MAP_FAILED) return error_fail(err, "%s: %s", input->path, strerror(errno));
    madvise(map, size, MADV_SEQUENTIAL);
    input->file = map;
    input->file_size = size;
    input->is_mapped = true;
    return 0;
}

static int is_plain_file(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

/* Hashes the names first, so that a renamed file changes the hash. */
static int hash_directory(struct input *input, struct error *err) {
    struct dirent **names = NULL;
    int count = scandir(input->path, &names, is_plain_file, alphasort);
    if (count < 0) return error_fail(err, "%s: %s", input->path, strerror(errno));
    struct sha256_ctx sha;
    sha256_init(&sha);
    for (int i = 0; i < count; i++) {
        char *path = xasprintf("%s/%s", input->path, names[i]->d_name);
        struct stat about;
        /* A link could bring any file of the reader's into the warehouse. */
        if (lstat(path, &about) == 0 && S_ISREG(about.st_mode)) {
            struct input one = {.path = path};
            int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
            if (file >= 0 && map_file(&one, file, (size_t)about.st_size, err) == 0) {
                uint64_t size = one.file_size;
                sha256_update(&sha, strlen(names[i]->d_name) + 1, (const uint8_t *)names[i]->d_name);
                sha256_update(&sha, sizeof size, (const uint8_t *)&size);
                hash_bytes_of(&one, &sha);
            } else {
                error_fail(err, "%s: %s", path, strerror(errno));
            }
            if (file >= 0) close(file);
            input_close(&one);
        }
        free(path);
        free(names[i]);
    }
    free(names);
    hash_end(&sha, input->content_hash);
    return err->status == ERROR_NONE ? 0 : -1;
}

static int open_descriptor(struct input *input, int file, struct error *err) {
    struct stat about;
    if (fstat(file, &about) != 0) return error_fail(err, "%s: %s", input->path, strerror(errno));
    input->modified_ns = about.st_mtim.tv_sec * INT64_C(1000000000) + about.st_mtim.tv_nsec;
    input->is_directory = S_ISDIR(about.st_mode);
    if (input->is_directory) return hash_directory(input, err);
    if (!S_ISREG(about.st_mode)) input->modified_ns = clock_realtime_ns();
    int code =
        S_ISREG(about.st_mode) ? map_file(input, file, (size_t)about.st_size, err) : read_stream(input, file, err);
    return code == 0 ? open_bytes(input, err) : -1;
}

int input_open(struct input *input, const char *path, struct error *err) {
    bool is_stdin = strcmp(path, "-") == 0;
    *input = (struct input){.path = is_stdin ? "standard input" : path};
    int file = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return error_fail(err, "%s: %s", path, strerror(errno));
    int code = open_descriptor(input, file, err);
    if (!is_stdin) close(file);
    if (code != 0) input_close(input);
    return code;
}

int input_open_memory(struct input *input, const char *name, const uint8_t *data, size_t size, struct error *err) {
    *input = (struct input){.path = name, .file = data, .file_size = size, .is_borrowed = true};
    input->modified_ns = clock_realtime_ns();
    int code = open_bytes(input, err);
    if (code == 0) code = input_complete(input, err);
    if (code != 0) input_close(input);
    return code;
}

void input_free_bytes(struct input *input) {
    free(input->owned);
    if (input->is_mapped)
        munmap((void *)(uintptr_t)input->file, input->file_size);
    else if (!input->is_borrowed)
        free((void *)(uintptr_t)input->file);
    input->owned = NULL;
    input->data = input->file = NULL;
    input->size = input->file_size = 0;
    input->is_mapped = false;
}

void input_close(struct input *input) {
    input_free_bytes(input);
    *input = (struct input){0};
}

/* ---- looking at it ----------------------------------------------------------------------------------------------- */

bool input_starts_with(const struct input *input, const char *text) {
    size_t size = strlen(text);
    return input->size >= size && memcmp(input->data, text, size) == 0;
}

bool input_next_line(struct input_lines *lines) {
    if (lines->offset >= lines->input->size) return false;
    const char *start = (const char *)lines->input->data + lines->offset;
    size_t left = lines->input->size - lines->offset;
    const char *end = memchr(start, '\n', left);
    size_t size = end ? (size_t)(end - start) : left;
    lines->offset += size + (end != NULL);
    if (size && start[size - 1] == '\r') size--;
    lines->line = start;
    lines->size = size;
    lines->number++;
    return true;
}

int input_fail_line(struct error *err, const struct input_lines *lines, size_t column, const char *format, ...) {
    va_list args;
    va_start(args, format);
    error_vset(err, ERROR_FAILURE, format, args);
    va_end(args);
    if (column) return error_prefix(err, "%s:%zu:%zu: ", lines->input->path, lines->number, column);
    return error_prefix(err, "%s:%zu: ", lines->input->path, lines->number);
}

int input_fail_byte(struct error *err, const struct input *input, uint64_t offset, const char *format, ...) {
    va_list args;
    va_start(args, format);
    error_vset(err, ERROR_FAILURE, format, args);
    va_end(args);
    return error_prefix(err, "%s: byte %" PRIu64 ": ", input->path, offset);
}
