#include "ingest/outside/perf_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

/* perf's own: tools/perf/Documentation/perf.data-file-format.txt. */
enum { RECORD_FINISHED_ROUND = 68, RECORD_FEATURE = 80 };
enum { FEATURE_HOSTNAME = 3, FEATURE_RELEASE = 4, FEATURE_ARCHITECTURE = 6, FEATURE_CLOCK_DATA = 29 };
enum { TEXT_ALIGNMENT = 64 };

struct file_section {
    uint64_t offset, size;
};

struct file_header {
    char magic[8];
    uint64_t size, attr_size;
    struct file_section attrs, data, event_types;
    uint64_t features[4];
};

/* What each record of the kernel ends with that is no sample (sample_id_all); without a time it keeps its place. */
struct trailer {
    uint32_t pid, tid;
    uint64_t time, id;
};

static int write_all(int file, const void *bytes, size_t size, struct error *err) {
    const char *at = bytes;
    while (size > 0) {
        ssize_t wrote = write(file, at, size);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) return error_fail(err, "what the kernel tells cannot be written: %s", strerror(errno));
        at += wrote;
        size -= (size_t)wrote;
    }
    return 0;
}

static void add_record(struct buffer *records, uint32_t type, uint16_t misc, const struct buffer *body) {
    struct perf_event_header header = {type, misc, (uint16_t)(sizeof header + body->size)};
    buffer_add(records, &header, sizeof header);
    buffer_add(records, buffer_text(body), body->size);
}

/* A text, ended and padded to whole words. */
static void add_text(struct buffer *body, const char *text) {
    static const char zeros[8];
    size_t size = strlen(text) + 1;
    buffer_add(body, text, size);
    buffer_add(body, zeros, -size % sizeof zeros);
}

static void add_trailer(struct buffer *body, uint32_t pid, uint32_t tid, uint64_t id) {
    const struct trailer trailer = {pid, tid, 0, id};
    buffer_add(body, &trailer, sizeof trailer);
}

/* ---- the machine ------------------------------------------------------------------------------------------------- */

static void add_feature(struct buffer *records, uint64_t feature, const void *data, size_t size) {
    struct buffer body = {0};
    buffer_add(&body, &feature, sizeof feature);
    buffer_add(&body, data, size);
    add_record(records, RECORD_FEATURE, 0, &body);
    buffer_free(&body);
}

static void add_text_feature(struct buffer *records, uint64_t feature, const char *text) {
    static const char zeros[TEXT_ALIGNMENT];
    struct buffer body = {0};
    uint32_t size = (uint32_t)((strlen(text) + TEXT_ALIGNMENT) / TEXT_ALIGNMENT * TEXT_ALIGNMENT);
    buffer_add(&body, &size, sizeof size);
    buffer_add_text(&body, text);
    buffer_add(&body, zeros, size - strlen(text));
    add_feature(records, feature, body.data, body.size);
    buffer_free(&body);
}

static void add_machine(struct buffer *records) {
    struct utsname here;
    struct {
        uint32_t version, clock;
        uint64_t wall, time;
    } clock = {1, CLOCK_MONOTONIC, (uint64_t)clock_realtime_ns(), (uint64_t)clock_monotonic_ns()};
    if (uname(&here) == 0) {
        add_text_feature(records, FEATURE_HOSTNAME, here.nodename);
        add_text_feature(records, FEATURE_RELEASE, here.release);
        add_text_feature(records, FEATURE_ARCHITECTURE, here.machine);
    }
    add_feature(records, FEATURE_CLOCK_DATA, &clock, sizeof clock);
}

/* ---- what is mapped ---------------------------------------------------------------------------------------------- */

/* Where the kernel's code is, by which its names are found; where it is hidden, nothing. */
static void add_kernel(struct buffer *records, uint64_t id) {
    char line[512], name[256], type;
    uint64_t address, start = 0, end = 0;
    FILE *file = fopen("/proc/kallsyms", "re");
    while (file && !(start && end) && fgets(line, sizeof line, file)) {
        if (sscanf(line, "%" SCNx64 " %c %255s", &address, &type, name) != 3) continue;
        if (strcmp(name, "_text") == 0) start = address;
        if (strcmp(name, "_etext") == 0) end = address;
    }
    if (file) fclose(file);
    if (!start || end <= start) return;
    const struct {
        uint32_t pid, tid;
        uint64_t start, size, offset;
    } mapping = {UINT32_MAX, 0, start, end - start, start};
    struct buffer body = {0};
    buffer_add(&body, &mapping, sizeof mapping);
    add_text(&body, "[kernel.kallsyms]_text");
    add_trailer(&body, UINT32_MAX, 0, id);
    add_record(records, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL, &body);
    buffer_free(&body);
}

static void add_mapping(struct buffer *records, pid_t pid, const char *line, uint64_t id) {
    struct {
        uint32_t pid, tid;
        uint64_t start, size, offset;
        uint32_t major, minor;
        uint64_t inode, generation;
        uint32_t protection, flags;
    } mapping = {.pid = (uint32_t)pid, .tid = (uint32_t)pid, .flags = MAP_PRIVATE, .protection = PROT_READ | PROT_EXEC};
    uint64_t end;
    char rights[8] = "", path[4097] = "";
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %" SCNx32 ":%" SCNx32 " %" SCNu64 " %4096[^\n]",
               &mapping.start, &end, rights, &mapping.offset, &mapping.major, &mapping.minor, &mapping.inode,
               path) < 7 ||
        rights[2] != 'x')
        return;
    mapping.size = end - mapping.start;
    if (!*path) mapping.offset = mapping.start; /* as the kernel says of memory without a file */
    struct buffer body = {0};
    buffer_add(&body, &mapping, sizeof mapping);
    add_text(&body, *path ? path : "//anon");
    add_trailer(&body, (uint32_t)pid, (uint32_t)pid, id);
    add_record(records, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, &body);
    buffer_free(&body);
}

/* Those of the program first, as when it was started, and then all others. */
static void add_mappings(struct buffer *records, pid_t pid, uint64_t id) {
    char path[64], program[PATH_MAX] = "", *line = NULL;
    size_t room = 0;
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    if (readlink(path, program, sizeof program - 1) < 0) program[0] = '\0';
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *file = fopen(path, "re");
    for (int is_other = 0; file && is_other < 2; is_other++) {
        rewind(file);
        while (getline(&line, &room, file) > 0)
            if ((*program && strstr(line, program)) == !is_other) add_mapping(records, pid, line, id);
    }
    free(line);
    if (file) fclose(file);
}

static void add_thread(struct buffer *records, pid_t pid, pid_t thread, uint64_t id) {
    char path[64], name[64] = "";
    const uint32_t numbers[2] = {(uint32_t)pid, (uint32_t)thread};
    struct buffer body = {0};
    snprintf(path, sizeof path, "/proc/%d/task/%d/comm", (int)pid, (int)thread);
    FILE *file = fopen(path, "re");
    if (!file) return;
    if (!fgets(name, sizeof name, file)) name[0] = '\0';
    fclose(file);
    name[strcspn(name, "\n")] = '\0';
    buffer_add(&body, numbers, sizeof numbers);
    add_text(&body, name);
    add_trailer(&body, numbers[0], numbers[1], id);
    /* The program's own mapping comes next, as after exec, by which it is known for that. */
    add_record(records, PERF_RECORD_COMM, thread == pid ? PERF_RECORD_MISC_COMM_EXEC : 0, &body);
    buffer_free(&body);
}

static void add_process(struct buffer *records, pid_t pid, uint64_t id) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        if (atoi(entry->d_name) > 0) add_thread(records, pid, (pid_t)atoi(entry->d_name), id);
    if (directory) closedir(directory);
    add_mappings(records, pid, id);
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

/* The header, the events with their ids behind each other, and the ids. */
static void add_header(struct buffer *text, const struct kernel_events *events) {
    struct file_header header = {.magic = "PERFILE2", .size = sizeof header};
    struct file_section ids = {sizeof header, 0};
    header.attr_size = sizeof(struct perf_event_attr) + sizeof ids;
    header.attrs = (struct file_section){sizeof header, events->kind_count * header.attr_size};
    ids.offset = header.attrs.offset + header.attrs.size;
    header.data.offset = ids.offset;
    for (size_t i = 0; i < events->kind_count; i++)
        header.data.offset += events->kinds[i].ids.size;
    buffer_add(text, &header, sizeof header);
    for (size_t i = 0; i < events->kind_count; i++) {
        ids.offset += ids.size;
        ids.size = events->kinds[i].ids.size;
        buffer_add(text, &events->kinds[i].attr, sizeof events->kinds[i].attr);
        buffer_add(text, &ids, sizeof ids);
    }
    for (size_t i = 0; i < events->kind_count; i++)
        buffer_add(text, buffer_text(&events->kinds[i].ids), events->kinds[i].ids.size);
}

int perf_file_open(struct perf_file *file, const char *path, const struct kernel_events *events,
                   const struct outside_request *request, struct error *err) {
    struct buffer text = {0};
    uint64_t id = 0;
    if (events->kinds[EVENT_CPU].ids.size >= sizeof id) memcpy(&id, events->kinds[EVENT_CPU].ids.data, sizeof id);
    *file = (struct perf_file){.file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
    if (file->file < 0) return error_fail(err, "%s: %s", path, strerror(errno));
    add_header(&text, events);
    file->data = text.size;
    add_machine(&text);
    add_kernel(&text, id);
    for (size_t i = 0; i < request->pid_count; i++)
        add_process(&text, request->pids[i], id);
    file->size = text.size;
    int code = write_all(file->file, text.data, text.size, err);
    buffer_free(&text);
    return code;
}

int perf_file_add(struct perf_file *file, const struct buffer *records, struct error *err) {
    static const struct perf_event_header round = {RECORD_FINISHED_ROUND, 0, sizeof round};
    if (!records->size) return 0;
    file->size += records->size + sizeof round;
    return write_all(file->file, records->data, records->size, err) || write_all(file->file, &round, sizeof round, err)
               ? -1
               : 0;
}

int perf_file_close(struct perf_file *file, struct error *err) {
    if (file->file < 0) return 0;
    uint64_t size = file->size - file->data;
    int code = 0;
    if (pwrite(file->file, &size, sizeof size, offsetof(struct file_header, data.size)) != (ssize_t)sizeof size)
        code = error_fail(err, "what the kernel tells cannot be written: %s", strerror(errno));
    if (close(file->file)) code = error_fail(err, "what the kernel tells cannot be written: %s", strerror(errno));
    file->file = -1;
    return code;
}
