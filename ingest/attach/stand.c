#include "ingest/attach/stand.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/path.h"
#include "base/split.h"

enum {
    MODULE_MOST = 256 << 20,
    FRAMES_MOST = 4096,
    ENTRY_SIZE = 64, /* bytes of _start */
    COPY_SIZE = 16 << 10,
};

struct stand {
    const struct running *running;
    Dwfl *dwfl;
    uint64_t libc;      /* the lowest address of its module, in which frames are told apart by name */
    uint64_t entry;     /* where the program's first thread began */
    bool has_allocator; /* the executable is its own */
    const struct user_regs_struct *registers;
    pid_t thread;
    /* Of one walk. */
    const char *why;
    const char *
        outermost; /* the function of the C library that the frames so far began in; NULL: they are of others, or nameless */
    bool is_in_libc, is_at_top, has_root;
    size_t frames;
    /* Of the stack of a thread that runs on, from copied_from on. Each read of its memory takes the lock of the process's memory, and who reads may
     * lose its processor meanwhile. */
    uint8_t copy[COPY_SIZE];
    uint64_t copied_from;
    size_t copied;
};

/* ---- names ------------------------------------------------------------------------------------------------------- */

static bool is_one_of(const char *name, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}
#define IS_ONE_OF(name, names) is_one_of(name, names, sizeof names / sizeof *(names))

/* Symbols are "read", "__read", "__GI___read" or "__libc_read". */
static const char *plain_name(const char *name) {
    static const char internal[] = "__GI_", libc[] = "libc_";
    if (strncmp(name, internal, sizeof internal - 1) == 0) name += sizeof internal - 1;
    name += strspn(name, "_");
    return strncmp(name, libc, sizeof libc - 1) == 0 ? name + sizeof libc - 1 : name;
}

/* Of one function: "pread64" is another name of "pread" on x86-64. */
bool stand_is_same(const char *name, const char *other) {
    const char *one = plain_name(name), *two = plain_name(other);
    size_t size = strlen(one), size_of_two = strlen(two);
    if (size > 2 && strcmp(one + size - 2, "64") == 0) size -= 2;
    if (size_of_two > 2 && strcmp(two + size_of_two - 2, "64") == 0) size_of_two -= 2;
    return size == size_of_two && memcmp(one, two, size) == 0;
}

/* They do one system call, and wait in it at most. */
static const char plain_calls[] =
    " accept accept4 clock_gettime clock_nanosleep close connect copy_file_range epoll_ctl epoll_pwait epoll_pwait2"
    " epoll_wait fcntl fcntl64 fdatasync flock fstat fstat64 fsync getpid getrusage getsockopt gettid"
    " ioctl kill llseek lseek lseek64 lstat"
    " lstat64 nanosleep open open64 openat openat64 pause poll poll_chk ppoll ppoll_chk pread pread64"
    " preadv preadv64 preadv2 preadv64v2 pselect pthread_clockjoin_np pthread_cond_clockwait pthread_cond_timedwait"
    " pthread_cond_wait pthread_join pthread_mutex_clocklock pthread_mutex_lock pthread_mutex_timedlock"
    " pthread_rwlock_rdlock pthread_rwlock_wrlock pthread_timedjoin_np pwrite pwrite64 pwritev pwritev64 pwritev2"
    " pwritev64v2"
    " read read_chk readlink readv recv recv_chk recvfrom recvfrom_chk recvmmsg recvmsg sched_yield"
    " select sem_clockwait sigtimedwait sigwait sigwaitinfo pthread_barrier_wait sem_timedwait sem_wait send sendfile"
    " sendfile64 sendmmsg sendmsg sendto setsockopt shutdown sleep splice"
    " stat stat64 syscall tgkill times usleep wait wait3 wait4 waitid waitpid write writev"
    " ";

bool stand_is_plain(const char *function) {
    return split_has(plain_calls, plain_name(function));
}

/* Frames of the C library deeper in the stack: they call back, and hold nothing meanwhile; or the thread began there. */
static bool is_plain_caller(const char *function) {
    static const char *const names[] = {"qsort",           "qsort_r",      "bsearch", "start_main", "start_main_impl",
                                        "start_call_main", "start_thread", "clone",   "clone3",     "pthread_once"};
    return IS_ONE_OF(plain_name(function), names);
}

bool stand_is_call(long number) {
    static const long numbers[] = {
        SYS_read,       SYS_write,      SYS_close,       SYS_fstat,     SYS_lseek,         SYS_ioctl,
        SYS_pread64,    SYS_pwrite64,   SYS_readv,       SYS_writev,    SYS_select,        SYS_poll,
        SYS_pselect6,   SYS_ppoll,      SYS_sched_yield, SYS_pause,     SYS_nanosleep,     SYS_clock_nanosleep,
        SYS_getpid,     SYS_connect,    SYS_accept,      SYS_accept4,   SYS_sendto,        SYS_recvfrom,
        SYS_sendmsg,    SYS_recvmsg,    SYS_recvmmsg,    SYS_sendmmsg,  SYS_shutdown,      SYS_setsockopt,
        SYS_getsockopt, SYS_wait4,      SYS_waitid,      SYS_kill,      SYS_tgkill,        SYS_fcntl,
        SYS_flock,      SYS_fsync,      SYS_fdatasync,   SYS_getrusage, SYS_times,         SYS_gettid,
        SYS_futex,      SYS_epoll_wait, SYS_epoll_pwait, SYS_epoll_ctl, SYS_epoll_pwait2,  SYS_restart_syscall,
        SYS_newfstatat, SYS_readlink,   SYS_preadv,      SYS_pwritev,   SYS_clock_gettime, SYS_rt_sigtimedwait,
        SYS_openat,     SYS_open,       SYS_preadv2,     SYS_pwritev2,  SYS_sendfile,      SYS_copy_file_range,
        SYS_splice,
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i] == number) return true;
    return false;
}

/* ---- modules ----------------------------------------------------------------------------------------------------- */

/* The file as it was mapped, without what is not mapped: the tables of sections. Of a file that is gone, or was one in memory. */
static int copy_from_memory(const struct running *running, const char *name) {
    int fd = memfd_create("module", MFD_CLOEXEC);
    for (size_t i = 0; i < running->mapping_count && fd >= 0; i++) {
        const struct running_mapping *mapping = &running->mappings[i];
        size_t size = mapping->high - mapping->low;
        if (strcmp(mapping->path, name) != 0 || !mapping->is_readable || mapping->is_writable || size > MODULE_MOST)
            continue;
        uint8_t *bytes = xmalloc(size);
        if (running_read(running, mapping->low, bytes, size)) {
            Elf64_Ehdr *header = (void *)bytes;
            if (mapping->offset == 0 && size >= sizeof *header)
                header->e_shoff = header->e_shnum = header->e_shstrndx = 0;
            if (pwrite(fd, bytes, size, (off_t)mapping->offset) != (ssize_t)size) size = 0;
        }
        free(bytes);
    }
    return fd;
}

/* As the process sees the file: it may have another root. */
static int find_elf(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base, char **file_name,
                    Elf **elf) {
    const struct running *running = *userdata;
    if (name[0] != '/') return dwfl_linux_proc_find_elf(module, userdata, name, base, file_name, elf);
    char *path = xasprintf("/proc/%d/root%s", (int)running->pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    free(path);
    if (fd < 0) fd = copy_from_memory(running, name);
    *file_name = fd < 0 ? NULL : xstrdup(name);
    return fd;
}

/* Debug information tells nothing that is needed here, and to look for it takes long. */ /* layers-ok: as libdwfl calls it */
static int find_nothing(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base, const char *file,
                        const char *link, GElf_Word crc, char **found) {
    (void)module, (void)userdata, (void)name, (void)base, (void)file, (void)link, (void)crc, (void)found;
    return -1;
}

static pid_t next_thread(Dwfl *dwfl, void *context, void **thread_context) {
    struct stand *stand = context;
    (void)dwfl;
    if (*thread_context) return 0;
    *thread_context = context;
    return stand->thread;
}

static bool read_word(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *word, void *context) {
    const struct stand *stand = context;
    uint64_t at = address - stand->copied_from;
    (void)dwfl;
    if (stand->copied < sizeof *word || at > stand->copied - sizeof *word)
        return running_read(stand->running, address, word, sizeof *word);
    memcpy(word, stand->copy + at, sizeof *word);
    return true;
}

/* In the order of DWARF. */
static bool set_registers(Dwfl_Thread *thread, void *context) {
    const struct user_regs_struct *from = ((struct stand *)context)->registers;
    const Dwarf_Word words[] = {from->rax, from->rdx, from->rcx, from->rbx, from->rsi, from->rdi,
                                from->rbp, from->rsp, from->r8,  from->r9,  from->r10, from->r11,
                                from->r12, from->r13, from->r14, from->r15, from->rip};
    return dwfl_thread_state_registers(thread, 0, sizeof words / sizeof *words, words);
}

/* The name of the function that is known to be around the address; NULL: none is. */
static const char *function_at(Dwfl_Module *module, uint64_t pc) {
    GElf_Off offset;
    GElf_Sym symbol;
    const char *name = dwfl_module_addrinfo(module, pc, &offset, &symbol, NULL, NULL, NULL);
    return name && offset < symbol.st_size ? name : NULL;
}

/* What is read of a file is read when it is first asked for. */
static int prepare_module(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base, void *context) {
    Dwarf_Addr bias;
    (void)name, (void)userdata;
    dwfl_module_eh_cfi(module, &bias);
    if (base == ((const struct stand *)context)->libc) function_at(module, base + 1);
    return DWARF_CB_OK;
}

/* The files are looked for when they are first asked for. */
static int name_process(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base, void *context) {
    (void)module, (void)name, (void)base;
    *userdata = (void *)(uintptr_t)((const struct stand *)context)->running;
    return DWARF_CB_OK;
}

static uint64_t read_entry(pid_t pid) {
    Elf64_auxv_t vector = {0};
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/auxv", (int)pid);
    FILE *file = fopen(path, "re");
    while (file && fread(&vector, sizeof vector, 1, file) == 1 && vector.a_type != AT_ENTRY)
        continue;
    if (file) fclose(file);
    return vector.a_type == AT_ENTRY ? vector.a_un.a_val : 0;
}

struct stand *stand_open(const struct running *running, struct error *err) {
    static const Dwfl_Callbacks callbacks = {.find_elf = find_elf, .find_debuginfo = find_nothing};
    static const Dwfl_Thread_Callbacks threads = {
        .next_thread = next_thread, .memory_read = read_word, .set_initial_registers = set_registers};
    struct stand *stand = xcalloc(1, sizeof *stand);
    const struct running_mapping *libc = running_module(running, "libc.so.6");
    if (!libc) libc = running_module(running, "libc-2.");
    stand->running = running;
    stand->libc = libc ? libc->low : 0;
    stand->thread = running->pid;
    stand->entry = read_entry(running->pid);
    stand->has_allocator = running->mapping_count && running_function(running, running->mappings[0].low, "malloc");
    stand->dwfl = dwfl_begin(&callbacks);
    if (stand->dwfl && dwfl_linux_proc_report(stand->dwfl, running->pid) == 0 &&
        dwfl_report_end(stand->dwfl, NULL, NULL) == 0) {
        dwfl_getmodules(stand->dwfl, name_process, stand, 0);
        dwfl_getmodules(stand->dwfl, prepare_module, stand, 0);
        if (dwfl_attach_state(stand->dwfl, NULL, running->pid, &threads, stand)) return stand;
    }
    const char *why = dwfl_errmsg(-1);
    error_fail(err, "process %d: its stacks cannot be read: %s", (int)running->pid, why ? why : "no memory");
    stand_close(stand);
    return NULL;
}

void stand_close(struct stand *stand) {
    if (!stand) return;
    if (stand->dwfl) dwfl_end(stand->dwfl);
    free(stand);
}

/* ---- a walk ------------------------------------------------------------------------------------------------------ */

static int refuse(struct stand *stand, const char *why) {
    stand->why = why;
    return DWARF_CB_ABORT;
}

/* mov $15, %rax; syscall: what the kernel lets a handler return to. */
static bool is_handlers_return(const struct stand *stand, uint64_t pc) {
    static const uint8_t code[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
    uint8_t found[sizeof code];
    return running_read(stand->running, pc, found, sizeof found) && memcmp(found, code, sizeof code) == 0;
}

static bool exports_allocator(const struct stand *stand, uint64_t base) {
    return base != stand->libc && running_function(stand->running, base, "malloc") != 0;
}

/* The frames of the C library end here, since its function `outermost` was called from elsewhere. */
static bool is_libc_left_well(struct stand *stand) {
    bool was_at_top = stand->is_at_top;
    const char *function = stand->outermost;
    stand->is_in_libc = stand->is_at_top = false;
    return function && (was_at_top ? stand_is_plain(function) : is_plain_caller(function));
}

static int look_in_libc(struct stand *stand, Dwfl_Module *module, uint64_t pc) {
    const char *function = function_at(module, pc);
    if (!stand->is_in_libc) stand->outermost = NULL;
    stand->is_in_libc = true;
    stand->outermost = function;
    if (function && !stand_is_plain(function) && !is_plain_caller(function))
        return refuse(stand, "in a function of the C library that may hold a lock");
    return DWARF_CB_OK;
}

static bool is_runtime(const char *module) {
    static const char file[] = "/memfd:" RUNTIME_FILE;
    return strncmp(module, file, sizeof file - 1) == 0;
}

/* A hook that calls what it stands for holds nothing; what the runtime calls for itself may be made while it does. */
static int look_in_hook(struct stand *stand, Dwfl_Module *module, uint64_t pc) {
    const char *function = function_at(module, pc), *called = stand->outermost;
    bool is_direct = stand->is_in_libc && stand->is_at_top;
    stand->is_in_libc = stand->is_at_top = false;
    if (!is_direct || !function || !called || !stand_is_same(function, called)) return refuse(stand, "in the runtime");
    return DWARF_CB_OK;
}

static int look_at_frame(Dwfl_Frame *frame, void *context) {
    struct stand *stand = context;
    Dwarf_Addr pc, low = 0;
    bool is_activation;
    if (!dwfl_frame_pc(frame, &pc, &is_activation) || ++stand->frames > FRAMES_MOST)
        return refuse(stand, "in a stack that cannot be walked");
    if (stand->frames > 1 && is_handlers_return(stand, pc)) return refuse(stand, "in a signal handler");
    Dwarf_Addr in = is_activation ? pc : pc - 1;
    Dwfl_Module *module = dwfl_addrmodule(stand->dwfl, in);
    const char *name = module ? dwfl_module_info(module, NULL, &low, NULL, NULL, NULL, NULL, NULL) : NULL;
    if (!name) return refuse(stand, "in code that no file describes");
    if (strncmp(path_base(name), "ld-linux", strlen("ld-linux")) == 0) return refuse(stand, "in the loader");
    if (low == stand->libc) return look_in_libc(stand, module, in);
    if (stand->frames == 1) return refuse(stand, "in a system call that is not the C library's");
    if (is_runtime(name)) return look_in_hook(stand, module, in);
    if (exports_allocator(stand, low) && low != stand->running->mappings[0].low)
        return refuse(stand, "in its allocator");
    if (stand->is_in_libc && !is_libc_left_well(stand)) return refuse(stand, "in the C library");
    stand->has_root = in >= stand->entry && in < stand->entry + ENTRY_SIZE;
    return DWARF_CB_OK;
}

static bool may_be_lock(uint64_t number) {
    return number == SYS_futex || number == SYS_sched_yield || number == SYS_nanosleep ||
           number == SYS_clock_nanosleep || number == SYS_restart_syscall;
}

/* The C library's own functions, at the end of the stack; where its symbols are stripped they are nameless. */
static bool is_thread_root(const struct stand *stand) {
    static const char *const names[] = {"start_thread", "clone", "clone3"};
    if (!stand->is_in_libc || stand->is_at_top) return false;
    return !stand->outermost || IS_ONE_OF(plain_name(stand->outermost), names);
}

bool stand_is_safe(struct stand *stand, pid_t thread, const struct user_regs_struct *registers, const char **why) {
    stand->thread = thread;
    stand->registers = registers;
    stand->why = NULL;
    stand->outermost = NULL;
    stand->is_in_libc = stand->has_root = false;
    stand->is_at_top = true;
    stand->frames = 0;
    if (stand->has_allocator && may_be_lock(registers->orig_rax)) {
        *why = "in a system call that its own allocator may wait by";
        return false;
    }
    int code = dwfl_getthread_frames(stand->dwfl, thread, look_at_frame, stand);
    if (!stand->why && (code != 0 || !(stand->has_root || is_thread_root(stand))))
        stand->why = "in a stack that cannot be walked to its end";
    *why = stand->why;
    return !stand->why;
}

/* ---- a walk of a thread that runs on ----------------------------------------------------------------------------- */

struct seen {
    struct stand *stand;
    bool (*seen)(void *context, const struct stand_frame *frame);
    void *context;
    size_t frames;
};

const char *stand_function(const struct stand *stand, uint64_t address) {
    Dwfl_Module *module = dwfl_addrmodule(stand->dwfl, address);
    Dwarf_Addr low = 0;
    if (module) dwfl_module_info(module, NULL, &low, NULL, NULL, NULL, NULL, NULL);
    const char *function = module && low == stand->libc ? function_at(module, address) : NULL;
    return function ? plain_name(function) : NULL;
}

static int see_frame(Dwfl_Frame *at, void *context) {
    struct seen *seen = context;
    struct stand_frame frame = {0};
    bool is_activation;
    Dwarf_Addr low = 0;
    if (!dwfl_frame_pc(at, &frame.pc, &is_activation) || ++seen->frames > FRAMES_MOST) return DWARF_CB_ABORT;
    Dwarf_Addr in = is_activation ? frame.pc : frame.pc - 1;
    Dwfl_Module *module = dwfl_addrmodule(seen->stand->dwfl, in);
    const char *name = module ? dwfl_module_info(module, NULL, &low, NULL, NULL, NULL, NULL, NULL) : NULL;
    if (!name) return DWARF_CB_ABORT;
    frame.is_libc = low == seen->stand->libc;
    frame.is_runtime = is_runtime(name);
    const char *function = frame.is_libc || frame.is_runtime ? function_at(module, in) : NULL;
    frame.function = function ? plain_name(function) : NULL;
    return seen->seen(seen->context, &frame) ? DWARF_CB_OK : DWARF_CB_ABORT;
}

void stand_walk(struct stand *stand, pid_t thread, const struct user_regs_struct *registers,
                bool (*seen)(void *context, const struct stand_frame *frame), void *context) {
    const struct running_mapping *stack = running_mapping_at(stand->running, registers->rsp);
    uint64_t size = stack ? stack->high - registers->rsp : 0;
    if (size > COPY_SIZE) size = COPY_SIZE;
    stand->thread = thread;
    stand->registers = registers;
    stand->copied_from = registers->rsp;
    stand->copied = size && running_read(stand->running, registers->rsp, stand->copy, size) ? size : 0;
    dwfl_getthread_frames(stand->dwfl, thread, see_frame, &(struct seen){stand, seen, context, 0});
    stand->copied = 0;
}
