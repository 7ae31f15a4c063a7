#include "ingest/shim/core/control.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ingest/shim/core/service.h"
#include "ingest/shim/core/slots.h"

/* These stay true across a fork. */
static char directory[CONTROL_DIRECTORY_SIZE];
static struct control *control;

const char *control_directory(void) {
    return directory;
}

/* The control file, if it is a private file of this user and of our version; else NULL. */
static struct control *map_control(void) {
    char path[sizeof directory + 16];
    struct stat status;
    size_t length = strlen(directory);
    memcpy(path, directory, length);
    memcpy(path + length, "/control", sizeof "/control");
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return NULL;
    void *mapped = MAP_FAILED;
    bool is_private = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
                      (status.st_mode & 077) == 0 && (size_t)status.st_size >= sizeof(struct control);
    if (is_private) mapped = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (mapped == MAP_FAILED) return NULL;
    struct control *found = mapped;
    bool is_ours = found->magic == SEGMENT_MAGIC && found->version == SEGMENT_VERSION && found->size == sizeof *found &&
                   found->depth >= 1 && found->depth <= SEGMENT_DEPTH_MAX;
    if (is_ours) return found;
    munmap(mapped, sizeof(struct control));
    return NULL;
}

static void use_control(struct control *found) {
    control = found;
    paused = (uint32_t *)&control->is_paused;
    shared_sample_level = (uint32_t *)&control->sample_level;
    shared_lock_level = (uint32_t *)&control->lock_level;
}

static bool is_left;
static int32_t attached_pid;

int32_t control_attached_pid(void) {
    return attached_pid;
}

bool control_attach(const char *named) {
    if (*named != '/' || strlen(named) >= sizeof directory) return false;
    strcpy(directory, named);
    struct control *found = map_control();
    if (!found) return false;
    use_control(found); /* the one before stays mapped: a hook may be at it */
    is_left = false;
    attached_pid = getpid();
    return true;
}

void control_leave(void) {
    is_left = true;
}

static bool is_of_service;

static bool take_control(void) {
    struct control *found = map_control();
    if (!found) return false;
    use_control(found);
    return true;
}

/* The directory of the program that executed us, else a new one. */
static bool find_service(void) {
    is_of_service = (service_join(directory) && take_control()) || (service_make(directory) && take_control());
    return is_of_service;
}

bool control_find(void) {
    if (is_left) return false;
    if (control) return true;
    if (is_late()) return false;
    const char *named = secure_getenv(CLEAR_RT_DIR_VARIABLE);
    if (!named) return find_service();
    if (*named != '/' || strlen(named) >= sizeof directory) return false;
    strcpy(directory, named);
    return take_control();
}

bool control_is_of_service(void) {
    return is_of_service;
}

bool control_renew(void) {
    return is_of_service && !service_is_writable(directory) && service_make(directory) && take_control();
}

void control_unmake(void) {
    if (is_of_service) service_unmake(directory);
}

struct control *shared_control(void) {
    return control;
}

/* --- files of a program that dumps by itself ------------------------------------------------------------------- */

static void write_digits(char *at, size_t size, uint64_t number) {
    while (size--) {
        at[size] = (char)('0' + number % 10);
        number /= 10;
    }
}

/* The ID in a value that begins with "DIRECTORY/ID."; NULL where it does not, because the user has set it. */
static char *dump_id(char *value) {
    size_t length = strlen(directory);
    if (strncmp(value, directory, length) != 0 || value[length] != '/') return NULL;
    char *id = value + length + 1;
    size_t digits = strspn(id, "0123456789");
    if (digits != SEGMENT_DUMP_PID || id[digits] != '-') return NULL;
    return strspn(id + digits + 1, "0123456789") == SEGMENT_DUMP_ID - SEGMENT_DUMP_PID - 1 && id[SEGMENT_DUMP_ID] == '.'
               ? id
               : NULL;
}

/* Writes this process's ID into the variables that name its dumps (SEGMENT_NO_DUMP_ID). It runs before main or in a
 * forked child, so in one thread. The lengths of the values stay, so nothing is allocated. */
void control_name_dumps(uint64_t now) {
    for (char **variable = environ; *variable; variable++) {
        if (strncmp(*variable, "CLEAR_", strlen("CLEAR_")) != 0) continue;
        char *value = strchr(*variable, '='), *id = value ? dump_id(value + 1) : NULL;
        if (!id) continue;
        write_digits(id, SEGMENT_DUMP_PID, (uint64_t)getpid());
        write_digits(id + SEGMENT_DUMP_PID + 1, SEGMENT_DUMP_ID - SEGMENT_DUMP_PID - 1, now);
    }
}
