#include "cli/record/kept_program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/owner.h"
#include "export/file.h"

/* Nothing of the name, or a program: then it is what an earlier build left, or the user's own of the same source. */
static int check_replaced(const char *path, struct error *err) {
    char start[SELFMAG] = "", *target = owner_resolve(path, err);
    if (!target) return -1;
    int file = open(target, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    free(target);
    if (file < 0) return errno == ENOENT ? 0 : error_fail(err, "%s: %s", path, strerror(errno));
    ssize_t size = read(file, start, sizeof start);
    close(file);
    if (size == SELFMAG && memcmp(start, ELFMAG, SELFMAG) == 0) return 0;
    return error_fail(err, "%s is there and is no program", path);
}

static int copy(int from, struct file *to, struct error *err) {
    static char block[1 << 16];
    ssize_t size;
    while ((size = read(from, block, sizeof block)) > 0)
        if (file_write(to, block, (size_t)size, err)) return -1;
    return size < 0 ? error_fail(err, "%s: %s", to->path, strerror(errno)) : 0;
}

static int leave(const char *program, const char *path, struct error *err) {
    struct file file;
    struct stat about;
    if (check_replaced(path, err) || file_open(&file, path, true, err)) return -1;
    int from = open(program, O_RDONLY | O_CLOEXEC), code = 0;
    if (from < 0 || fstat(from, &about) < 0)
        code = error_fail(err, "%s: %s", program, strerror(errno));
    else if (copy(from, &file, err))
        code = -1;
    else if (fchmod(file.descriptor, about.st_mode & 0777) < 0) /* as its compiler made it */
        code = error_fail(err, "%s: %s", path, strerror(errno));
    if (from >= 0) close(from);
    if (code == 0) return file_publish(&file, err);
    file_abandon(&file);
    return -1;
}

void kept_program_leave(const struct profile_target *target, bool is_quiet) {
    struct error err = {0};
    const struct build *build = &target->build;
    if (!build->program || !toolchain_needs_rule(strrchr(build->source, '.'))) return;
    char *path = xasprintf("./%s", build->name);
    if (leave(build->program, path, &err))
        error_print("the program of %s is not kept: %s", build->source, err.message);
    else if (!is_quiet)
        error_print("the program of %s is %s", build->source, path);
    free(path);
}
