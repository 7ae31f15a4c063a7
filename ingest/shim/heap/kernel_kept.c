#include "ingest/shim/heap/kernel_kept.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ingest/shim/core/proc_lines.h"
#include "ingest/shim/core/runtime.h"

struct visitor {
    void (*visit)(void *context, uintptr_t word);
    void *context;
    char *text;
};

/* "tfd:        5 events:       19 data:     55d0c5b2a2a0  pos:0 ino:1a sdev:f" */
static void take_watch(void *context, const char *line) {
    const struct visitor *visitor = context;
    const char *data = strncmp(line, "tfd:", 4) == 0 ? strstr(line, "data:") : NULL;
    if (!data) return;
    data += strlen("data:");
    data += strspn(data, " ");
    visitor->visit(visitor->context, proc_hex(&data));
}

/* What the descriptor of this name watches, if it is one of epoll. */
static void visit_descriptor(const struct visitor *visitor, int directory, const char *name) {
    static const char epoll[] = "anon_inode:[eventpoll]", prefix[] = "/proc/self/fdinfo/";
    char target[sizeof epoll], path[sizeof prefix + 16];
    size_t length = strlen(name);
    ssize_t size = readlinkat(directory, name, target, sizeof target);
    if (size != sizeof epoll - 1 || memcmp(target, epoll, sizeof epoll - 1) != 0 || length > 16) return;
    memcpy(path, prefix, sizeof prefix - 1);
    memcpy(path + sizeof prefix - 1, name, length + 1);
    proc_lines_each(path, visitor->text, take_watch, (void *)visitor);
}

/* opendir allocates. */
static void visit_descriptors(const struct visitor *visitor) {
    _Alignas(struct dirent64) char entries[1024];
    int directory = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return;
    for (long got; (got = syscall(SYS_getdents64, directory, entries, sizeof entries)) > 0;)
        for (long at = 0; at < got; at += ((struct dirent64 *)(entries + at))->d_reclen)
            visit_descriptor(visitor, directory, ((struct dirent64 *)(entries + at))->d_name);
    close(directory);
}

void kernel_kept_each(char *text, void (*visit)(void *context, uintptr_t word), void *context) {
    struct visitor visitor = {visit, context, text};
    for (const struct thread *thread = load_acquire(&process->all); thread; thread = thread->next_of_all)
        visit(context, load_relaxed(&thread->signal_stack));
    visit_descriptors(&visitor);
}
