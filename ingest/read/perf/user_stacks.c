#include "ingest/read/perf/user_stacks.h"

#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/elf_file.h"
#include "ingest/read/perf/bytes.h"

enum { FRAMES_MAX = 1024 }; /* a copy of a stack has at most 64 KiB */
enum { SPACES_MAX = 64 };   /* whose files are held open; then all are closed and begin anew */

struct perf_unwinder {
    struct perf_recording *recording;
    struct map known; /* version of a space -> Dwfl * with the files that walks came to in it */
    struct map elves; /* image -> struct elf_code * */
    /* The walk under way: */
    Dwfl *dwfl;
    const struct perf_space *space;
    const struct perf_data_sample *sample;
    uint64_t stack_start, program_counter;
    size_t frames;
    bool is_cut;
};

/* ---- registers --------------------------------------------------------------------------------------------------- */

/* The number in perf of each DWARF register (arch/ARCH/include/uapi/asm/perf_regs.h). */
static const unsigned char x86_64_registers[] = {0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8};
enum { X86_64_STACK = 7, X86_64_COUNTER = 8 };
enum {
    ARM64_REGISTERS = 32,
    ARM64_LINK = 30,
    ARM64_STACK = 31,
    ARM64_COUNTER = 32
}; /* x0 … x30 and sp, as DWARF numbers them */

/* Reads register `number` of perf; false where the event did not record it. */
static bool perf_register(const struct perf_data_sample *sample, unsigned number, uint64_t *value) {
    uint64_t mask = sample->regs_mask;
    if (!(mask >> number & 1)) return false;
    *value = words_at(sample->regs, (size_t)__builtin_popcountll(mask & ((UINT64_C(1) << number) - 1)));
    return true;
}

static bool is_arm(const struct perf_unwinder *unwinder) {
    return strcmp(unwinder->recording->facts.architecture, "aarch64") == 0;
}

static bool set_registers(Dwfl_Thread *thread, void *context) {
    struct perf_unwinder *unwinder = context;
    Dwarf_Word words[ARM64_REGISTERS];
    if (is_arm(unwinder)) {
        for (unsigned i = 0; i < ARM64_REGISTERS; i++)
            if (!perf_register(unwinder->sample, i, &words[i])) words[i] = 0;
        dwfl_thread_state_register_pc(thread, unwinder->program_counter);
        return dwfl_thread_state_registers(thread, 0, ARM64_REGISTERS, words);
    }
    for (unsigned i = 0; i < sizeof x86_64_registers; i++)
        if (!perf_register(unwinder->sample, x86_64_registers[i], &words[i])) words[i] = 0;
    return dwfl_thread_state_registers(thread, 0, sizeof x86_64_registers, words);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* The segments of the file of an image, read once. */
static const struct elf_code *elf_of(struct perf_unwinder *unwinder, uint32_t image) {
    bool added;
    struct map_entry *entry = map_put(&unwinder->elves, &image, sizeof image, &added);
    if (added) {
        const struct perf_spaces *spaces = &unwinder->recording->spaces;
        struct elf_code *elf = xmalloc(sizeof *elf);
        *elf = elf_code_read(spaces->images[image].path, perf_image_build_id(spaces, image));
        entry->value = (intptr_t)elf;
    }
    return (const struct elf_code *)(intptr_t)entry->value;
}

/* Reports the file around an address to libdw, when a walk first comes to it. A file with another build id is left out,
 * because its frame information would be wrong. */
static void report_file(struct perf_unwinder *unwinder, uint64_t address) {
    const struct perf_area *area = perf_space_find(unwinder->space, address);
    if (!area || dwfl_addrmodule(unwinder->dwfl, address)) return;
    const struct perf_spaces *spaces = &unwinder->recording->spaces;
    const struct perf_image *image = &spaces->images[area->image];
    if (image->kind != PERF_IMAGE_FILE || image->pid) return;
    const struct elf_code *elf = elf_of(unwinder, area->image);
    int file = elf->is_there ? elf_file_open(image->path) : -1;
    uint64_t bias = area->start - elf_code_address(elf, area->file_offset);
    if (file >= 0 && !dwfl_report_elf(unwinder->dwfl, image->path, image->path, file, bias, true)) close(file);
}

/* The same for what may be a return address. libdw looks for the file of a frame before it shows the frame (0.192 does), and
 * without a file it guesses by the frame pointer. */
static void report_caller(struct perf_unwinder *unwinder, uint64_t address) {
    bool is_in_stack = address - unwinder->stack_start < unwinder->sample->stack_size;
    if (address && !is_in_stack) report_file(unwinder, address - 1);
}

/* ---- memory and threads ------------------------------------------------------------------------------------------ */

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *word, void *context) {
    struct perf_unwinder *unwinder = context;
    (void)dwfl;
    uint64_t offset = address - unwinder->stack_start;
    size_t size = unwinder->sample->stack_size;
    if (address < unwinder->stack_start || size < 8 || offset > size - 8) {
        unwinder->is_cut = true; /* for libdw a return address that it cannot read is the end of the stack */
        return false;
    }
    memcpy(word, unwinder->sample->stack + offset, sizeof *word);
    report_caller(unwinder, *word);
    return true;
}

static pid_t next_thread(Dwfl *dwfl, void *context, void **thread_context) {
    (void)dwfl;
    if (*thread_context) return 0;
    *thread_context = context;
    return 1;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *context, void **thread_context) {
    (void)dwfl;
    (void)tid;
    *thread_context = context;
    return true;
}

/* ---- the files of a space ---------------------------------------------------------------------------------------- */

static void forget_files(struct perf_unwinder *unwinder) {
    for (size_t i = 0; i < unwinder->known.count; i++)
        dwfl_end((Dwfl *)(intptr_t)unwinder->known.entries[i].value);
    map_free(&unwinder->known);
    unwinder->known = (struct map){0};
}

/* The files of a space, which are looked up again when it changes. NULL where libdw cannot start, because the file of
 * the instruction is missing. */
static Dwfl *files_of(struct perf_unwinder *unwinder) {
    static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_build_id_find_elf,
                                             .find_debuginfo = dwfl_standard_find_debuginfo,
                                             .section_address = dwfl_offline_section_address};
    static const Dwfl_Thread_Callbacks threads = {.next_thread = next_thread,
                                                  .get_thread = get_thread,
                                                  .memory_read = read_memory,
                                                  .set_initial_registers = set_registers};
    if (unwinder->known.count >= SPACES_MAX) forget_files(unwinder);
    uint64_t version = unwinder->space->version;
    const struct map_entry *known = map_find(&unwinder->known, &version, sizeof version);
    if (known) return unwinder->dwfl = (Dwfl *)(intptr_t)known->value;
    if (!(unwinder->dwfl = dwfl_begin(&callbacks))) return NULL;
    report_file(unwinder, unwinder->program_counter);
    if (!dwfl_attach_state(unwinder->dwfl, NULL, 1, &threads, unwinder)) {
        dwfl_end(unwinder->dwfl);
        return unwinder->dwfl = NULL;
    }
    map_put(&unwinder->known, &version, sizeof version, NULL)->value = (intptr_t)unwinder->dwfl;
    return unwinder->dwfl;
}

/* ---- the walk ---------------------------------------------------------------------------------------------------- */

static int take_frame(Dwfl_Frame *frame, void *context) {
    struct perf_unwinder *unwinder = context;
    Dwarf_Addr pc;
    bool is_activation;
    if (!dwfl_frame_pc(frame, &pc, &is_activation)) return DWARF_CB_ABORT;
    perf_recording_push(unwinder->recording, unwinder->space, PERF_MODE_USER, pc, !is_activation);
    return ++unwinder->frames < FRAMES_MAX ? DWARF_CB_OK : DWARF_CB_ABORT;
}

/* The files of the addresses that libdw takes from registers. */
static void report_registers(struct perf_unwinder *unwinder, bool arm) {
    uint64_t link;
    report_file(unwinder, unwinder->program_counter);
    if (arm && perf_register(unwinder->sample, ARM64_LINK, &link)) report_caller(unwinder, link);
}

bool perf_unwind(struct perf_unwinder *unwinder, const struct perf_space *space,
                 const struct perf_data_sample *sample) {
    unwinder->space = space;
    unwinder->sample = sample;
    unwinder->frames = 0;
    unwinder->is_cut = false;
    bool arm = is_arm(unwinder);
    if (!perf_register(sample, arm ? ARM64_STACK : X86_64_STACK, &unwinder->stack_start) ||
        !perf_register(sample, arm ? ARM64_COUNTER : X86_64_COUNTER, &unwinder->program_counter))
        return false;
    bool has_files = files_of(unwinder) != NULL;
    if (has_files) report_registers(unwinder, arm);
    bool is_whole = has_files && dwfl_getthread_frames(unwinder->dwfl, 1, take_frame, unwinder) == 0;
    if (!unwinder->frames)
        perf_recording_push(unwinder->recording, space, PERF_MODE_USER, unwinder->program_counter, false);
    return is_whole && !unwinder->is_cut;
}

struct perf_unwinder *perf_unwinder_open(struct perf_recording *recording) {
    struct perf_unwinder *unwinder = xcalloc(1, sizeof *unwinder);
    unwinder->recording = recording;
    return unwinder;
}

void perf_unwinder_close(struct perf_unwinder *unwinder) {
    if (!unwinder) return;
    forget_files(unwinder);
    for (size_t i = 0; i < unwinder->elves.count; i++) {
        struct elf_code *elf = (struct elf_code *)(intptr_t)unwinder->elves.entries[i].value;
        elf_code_free(elf);
        free(elf);
    }
    map_free(&unwinder->elves);
    free(unwinder);
}
