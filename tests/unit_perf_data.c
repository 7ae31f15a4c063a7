/* unit_perf_data: perf.data records made here byte by byte are told as they were made; order of time, forks, exec, groups, zstd;
 * whatever is cut, flipped or lying is an error and never a crash. The truth about real files is in ingest_perf.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "ingest/read/perf/event_queue.h"
#include "ingest/read/perf/kernel.h"
#include "ingest/read/perf/perf_data.h"
#include "ingest/read/perf/recording.h"

enum {
    IP = 1,
    TID = 2,
    TIME = 4,
    ADDR = 8,
    READ = 16,
    CALLCHAIN = 32,
    ID = 64,
    CPU = 128,
    PERIOD = 256,
    STREAM = 512,
    RAW = 1024,
    BRANCH = 2048,
    REGS_USER = 4096,
    STACK_USER = 8192,
    WEIGHT = 1 << 14,
    DATA_SRC = 1 << 15,
    IDENTIFIER = 1 << 16,
    TRANSACTION = 1 << 17,
    REGS_INTR = 1 << 18,
    PHYS = 1 << 19,
    AUX = 1 << 20,
    CGROUP = 1 << 21,
    DATA_PAGE = 1 << 22,
    CODE_PAGE = 1 << 23
};
enum { MISC_KERNEL = 1, MISC_USER = 2, MISC_EXEC = 1 << 13 };
enum { SAMPLE_ID_ALL = 1 << 18 };

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static void put64(struct buffer *out, uint64_t value) {
    buffer_add(out, &value, 8);
}

static void put32(struct buffer *out, uint32_t value) {
    buffer_add(out, &value, 4);
}

static void put_pair(struct buffer *out, uint32_t a, uint32_t b) {
    put32(out, a);
    put32(out, b);
}

static void put_text(struct buffer *out, const char *text) { /* padded as the kernel does */
    buffer_add_text(out, text);
    do
        buffer_add_char(out, 0);
    while (out->size % 8);
}

/* A record's header; end_record fills in its size. */
static size_t begin_record(struct buffer *out, uint32_t type, uint16_t misc) {
    size_t at = out->size;
    put32(out, type);
    put32(out, misc);
    return at;
}

static void end_record(struct buffer *out, size_t at) {
    uint16_t size = (uint16_t)(out->size - at);
    memcpy(out->data + at + 6, &size, 2);
}

static void put_attr(struct buffer *out, uint64_t sample_type, uint64_t read_format, uint64_t flags) {
    size_t at = out->size;
    put_pair(out, 1, 112); /* software, size */
    put64(out, 0);         /* cpu-clock */
    put64(out, 1000);      /* period */
    put64(out, sample_type);
    put64(out, read_format);
    put64(out, flags);
    put_pair(out, 0, 0);
    put64(out, 0);
    put64(out, 0);
    put64(out, 1 << 17); /* branches: with the hardware's index */
    put64(out, 0x1c0);   /* user registers 6, 7, 8 */
    put_pair(out, 64, 0);
    put64(out, 3); /* registers at the interrupt: 2 */
    while (out->size < at + 112)
        buffer_add_char(out, 0);
}

static void begin_pipe(struct buffer *out) {
    buffer_add_text(out, "PERFILE2");
    put64(out, 16);
}

static void put_event(struct buffer *out, uint64_t sample_type, uint64_t read_format, uint64_t flags, uint64_t id) {
    size_t at = begin_record(out, 64, 0);
    put_attr(out, sample_type, read_format, flags);
    put64(out, id);
    end_record(out, at);
}

static void put_mmap(struct buffer *out, uint32_t pid, uint64_t start, uint64_t size, uint64_t offset, const char *path,
                     uint64_t time) {
    size_t at = begin_record(out, 1, MISC_USER);
    put_pair(out, pid, pid);
    put64(out, start);
    put64(out, size);
    put64(out, offset);
    put_text(out, path);
    if (time) { /* the sample id of TID | TIME */
        put_pair(out, pid, pid);
        put64(out, time);
    }
    end_record(out, at);
}

static void put_sample(struct buffer *out, uint32_t pid, uint64_t ip, uint64_t time) { /* IP | TID | TIME */
    size_t at = begin_record(out, 9, MISC_USER);
    put64(out, ip);
    put_pair(out, pid, pid);
    put64(out, time);
    end_record(out, at);
}

static void put_comm(struct buffer *out, uint32_t pid, const char *name, uint16_t misc, uint64_t time) {
    size_t at = begin_record(out, 3, misc);
    put_pair(out, pid, pid);
    put_text(out, name);
    put_pair(out, pid, pid);
    put64(out, time);
    end_record(out, at);
}

static void put_fork(struct buffer *out, uint32_t pid, uint32_t parent, uint64_t time) {
    size_t at = begin_record(out, 7, 0);
    put_pair(out, pid, parent);
    put_pair(out, pid, parent);
    put64(out, time);
    put_pair(out, pid, pid);
    put64(out, time);
    end_record(out, at);
}

/* ---- hearing ----------------------------------------------------------------------------------------------------- */

struct heard {
    struct perf_data_sample samples[16];
    uint64_t chain[16][8];
    size_t count;
};

static int hear_sample(void *context, const struct perf_data_sample *sample, struct error *err) {
    struct heard *heard = context;
    (void)err;
    assert_true(heard->count < 16);
    heard->samples[heard->count] = *sample;
    for (size_t i = 0; i < sample->chain_count && i < 8; i++)
        memcpy(&heard->chain[heard->count][i], sample->chain + i * 8, 8);
    heard->count++;
    return 0;
}

static const struct perf_data_visitor hearing = {.sample = hear_sample};

static void expect_ok(int code, const struct error *err) {
    if (code) fail_msg("%s", err->message);
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

static void all_fields_are_taken_in_the_kernels_order(void **state) {
    (void)state;
    uint64_t type = IP | TID | TIME | ADDR | READ | CALLCHAIN | ID | CPU | PERIOD | STREAM | RAW | BRANCH | REGS_USER |
                    STACK_USER | WEIGHT | DATA_SRC | IDENTIFIER | TRANSACTION | REGS_INTR | PHYS | AUX | CGROUP |
                    DATA_PAGE | CODE_PAGE;
    struct buffer file = {0};
    begin_pipe(&file);
    put_event(&file, type, 1 | 2 | 4 | 16, SAMPLE_ID_ALL, 77); /* read: both times, id, lost */
    size_t at = begin_record(&file, 9, MISC_USER);
    put64(&file, 77);       /* identifier */
    put64(&file, 0x401000); /* ip */
    put_pair(&file, 12, 13);
    put64(&file, 5000); /* time */
    put64(&file, 0xadd);
    put64(&file, 77);
    put64(&file, 1); /* stream */
    put_pair(&file, 3, 0);
    put64(&file, 250);                    /* period */
    uint64_t read[] = {900, 1, 2, 77, 0}; /* value, enabled, running, id, lost */
    buffer_add(&file, read, sizeof read);
    uint64_t chain[] = {3, (uint64_t)-512, 0x401000, 0x402000};
    buffer_add(&file, chain, sizeof chain);
    put_pair(&file, 4, 0xabcd);            /* raw: size and data */
    uint64_t branches[] = {1, 9, 1, 2, 3}; /* count, hardware index, from, to, flags */
    buffer_add(&file, branches, sizeof branches);
    uint64_t registers[] = {2, 66, 77, 88};
    buffer_add(&file, registers, sizeof registers);
    uint64_t stack[] = {16, 0x1111, 0x2222, 8}; /* size, bytes, how many of them are used */
    buffer_add(&file, stack, sizeof stack);
    uint64_t rest[] = {1, 2, 3, 2, 5, 6, 7, 8, 9, 10, 8, 0}; /* weight … interrupt registers with ABI, …, AUX of 8 */
    buffer_add(&file, rest, sizeof rest);
    end_record(&file, at);

    struct heard heard = {0};
    struct perf_data_facts facts = {0};
    struct error err = {0};
    expect_ok(perf_data_parse(file.data, file.size, &hearing, &heard, &facts, &err), &err);
    assert_int_equal(heard.count, 1);
    const struct perf_data_sample *sample = &heard.samples[0];
    assert_int_equal(sample->ip, 0x401000);
    assert_int_equal(sample->pid, 12);
    assert_int_equal(sample->tid, 13);
    assert_int_equal(sample->time, 5000);
    assert_int_equal(sample->cpu, 3);
    assert_int_equal(sample->period, 900); /* what was read, as in perf: the counter grew from 0 */
    assert_int_equal(sample->chain_count, 3);
    assert_int_equal(heard.chain[0][2], 0x402000);
    uint64_t value;
    memcpy(&value, sample->regs + 16, 8);
    assert_int_equal(value, 88);
    assert_int_equal(sample->stack_size, 8);
    memcpy(&value, sample->stack, 8);
    assert_int_equal(value, 0x1111);
    perf_data_facts_free(&facts);

    /* The last field says more bytes than there are: an error that names the place, or one record less. */
    uint64_t more = 16;
    memcpy(file.data + file.size - 16, &more, 8);
    assert_int_equal(perf_data_parse(file.data, file.size, &hearing, &heard, &facts, &err), -1);
    assert_non_null(strstr(err.message, "byte 144: a sample whose fields do not fit"));
    perf_data_facts_free(&facts);
    err = (struct error){0};
    facts.is_lenient = true;
    heard.count = 0;
    expect_ok(perf_data_parse(file.data, file.size, &hearing, &heard, &facts, &err), &err);
    assert_int_equal(heard.count, 0);
    assert_int_equal(facts.skipped, 1);
    perf_data_facts_free(&facts);
    buffer_free(&file);
}

static void a_group_is_a_sample_for_each_counter_that_grew(void **state) {
    (void)state;
    struct buffer file = {0};
    begin_pipe(&file);
    put_event(&file, IP | TID | TIME | READ | ID, 4 | 8, SAMPLE_ID_ALL, 1); /* read: id, group */
    put_event(&file, IP | TID | TIME | READ | ID, 4 | 8, SAMPLE_ID_ALL, 2);
    const uint64_t values[][2] = {{100, 7}, {150, 7}, {150, 9}};
    for (size_t i = 0; i < 3; i++) {
        size_t at = begin_record(&file, 9, MISC_USER);
        put64(&file, 0x1000 + i);
        put_pair(&file, 1, 1);
        put64(&file, i + 1);
        put64(&file, 1); /* the leader's id */
        uint64_t read[] = {2, values[i][0], 1, values[i][1], 2};
        buffer_add(&file, read, sizeof read);
        end_record(&file, at);
    }
    struct heard heard = {0};
    struct perf_data_facts facts = {0};
    struct error err = {0};
    expect_ok(perf_data_parse(file.data, file.size, &hearing, &heard, &facts, &err), &err);
    const uint64_t wanted[][3] = {{0x1000, 0, 100}, {0x1000, 1, 7}, {0x1001, 0, 50}, {0x1002, 1, 2}};
    assert_int_equal(heard.count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(heard.samples[i].ip, wanted[i][0]);
        assert_int_equal(heard.samples[i].event->index, wanted[i][1]);
        assert_int_equal(heard.samples[i].period, wanted[i][2]);
    }
    perf_data_facts_free(&facts);
    buffer_free(&file);
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

static void put_round(struct buffer *out) {
    end_record(out, begin_record(out, 68, 0));
}

static void records_come_in_the_order_of_time(void **state) {
    (void)state;
    struct buffer file = {0};
    begin_pipe(&file);
    put_event(&file, IP | TID | TIME, 0, SAMPLE_ID_ALL, 0);
    const uint64_t times[] = {10, 30, 50, 20, 40, 0, 60, 55, 0, 70, 65}; /* 0: the end of a round */
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        if (times[i])
            put_sample(&file, 1, times[i], times[i]);
        else
            put_round(&file);
    }
    struct heard heard = {0};
    struct perf_data_facts facts = {0};
    struct error err = {0};
    expect_ok(perf_data_parse(file.data, file.size, &hearing, &heard, &facts, &err), &err);
    const uint64_t wanted[] = {10, 20, 30, 40, 50, 55, 60, 65, 70};
    assert_int_equal(heard.count, 9);
    for (size_t i = 0; i < 9; i++)
        assert_int_equal(heard.samples[i].time, wanted[i]);
    assert_int_equal(facts.first_time, 10);
    assert_int_equal(facts.last_time, 70);
    perf_data_facts_free(&facts);
    buffer_free(&file);
}

/* The event context-switches, with records of switches. */
static void put_switches(struct buffer *out) {
    const uint64_t config = 3;
    size_t at = out->size + 8;
    put_event(out, IP | TID | TIME, 0, SAMPLE_ID_ALL | 1 << 26, 0);
    memcpy(out->data + at + 8, &config, sizeof config);
}

static void put_switch(struct buffer *out, uint32_t tid, bool is_out, uint64_t time) {
    size_t at = begin_record(out, 14, is_out ? 1 << 13 : 0);
    put_pair(out, tid, tid);
    put64(out, time);
    end_record(out, at);
}

/* Of two processors, one after the other; a sample stands for the 1,000 switches of the event's period. Thread 3 does not come back. */
static void a_switch_lasts_until_the_thread_runs_again(void **state) {
    (void)state;
    struct buffer file = {0};
    begin_pipe(&file);
    put_switches(&file);
    put_switch(&file, 1, false, 5);
    put_switch(&file, 1, false, 30);
    put_sample(&file, 2, 0x2000, 40);
    put_switch(&file, 2, true, 41);
    put_sample(&file, 1, 0x1000, 10);
    put_switch(&file, 1, true, 11);
    put_switch(&file, 2, false, 70);
    put_switch(&file, 2, false, 80);
    put_sample(&file, 3, 0x3000, 90);
    put_sample(&file, 1, 0x1000, 100);
    struct perf_recording recording = {0};
    struct error err = {0};
    expect_ok(perf_recording_read(&recording, file.data, file.size, &err), &err);
    const uint64_t wanted[][3] = {{1, 2, 20000}, {2, 1, 30000}, {3, 1, 10000}};
    assert_int_equal(recording.row_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(recording.rows[i].tid, wanted[i][0]);
        assert_int_equal(recording.rows[i].samples, wanted[i][1]);
        assert_int_equal(recording.rows[i].away, wanted[i][2]);
    }
    perf_recording_free(&recording);
    buffer_free(&file);
}

static void a_queue_keeps_the_order_of_equal_times(void **state) {
    (void)state;
    struct queue queue = {0};
    srand(1);
    for (size_t i = 0; i < 5000; i++)
        queue_add(&queue, (struct queue_entry){(uint64_t)rand() % 100, NULL, i});
    assert_int_equal(queue_all(&queue), 5000);
    for (size_t i = 1; i < 5000; i++) {
        const struct queue_entry *a = &queue.entries[i - 1], *b = &queue.entries[i];
        assert_true(a->time < b->time || (a->time == b->time && a->block < b->block));
    }
    queue_drop(&queue, 4999);
    assert_int_equal(queue_all(&queue), 1);
    queue_free(&queue);
}

/* ---- processes --------------------------------------------------------------------------------------------------- */

/* "FILE+OFFSET COMM/TID count" of each row, in the order in which they were met. */
static char *rows_of(struct buffer *file) {
    struct perf_recording recording = {0};
    struct error err = {0};
    struct buffer text = {0};
    expect_ok(perf_recording_read(&recording, file->data, file->size, &err), &err);
    for (size_t i = 0; i < recording.row_count; i++) {
        const struct perf_row *row = &recording.rows[i];
        const uint32_t *frames = recording.stacks.entries[row->stack].key;
        size_t depth = recording.stacks.entries[row->stack].size / sizeof *frames;
        for (size_t f = 0; f < depth; f++) {
            const struct perf_frame *frame = perf_recording_frame(&recording, frames[f]);
            buffer_printf(&text, "%s+%llx ", recording.spaces.images[frame->image].path,
                          (unsigned long long)frame->address);
        }
        const struct map_entry *comm = &recording.comms.entries[row->comm];
        buffer_printf(&text, "%.*s/%u%s %llu\n", (int)comm->size, (const char *)comm->key, row->tid,
                      row->mode == PERF_MODE_KERNEL ? "k" : "", (unsigned long long)row->samples);
    }
    perf_recording_free(&recording);
    return buffer_take(&text);
}

static void addresses_are_of_the_file_that_stood_there_then(void **state) {
    (void)state;
    struct buffer file = {0};
    begin_pipe(&file);
    put_event(&file, IP | TID | TIME, 0, SAMPLE_ID_ALL, 0);
    put_comm(&file, 5, "shell", 0, 1);
    put_mmap(&file, 5, 0x1000, 0x3000, 0x100, "/a", 2);
    put_sample(&file, 5, 0x1010, 3);
    put_mmap(&file, 5, 0x2000, 0x1000, 0, "/b", 10); /* into the middle of /a */
    put_sample(&file, 5, 0x1fff, 11);
    put_sample(&file, 5, 0x2001, 12);
    put_sample(&file, 5, 0x3001, 13);
    put_sample(&file, 5, 0x1010, 14);
    put_fork(&file, 6, 5, 20); /* the child has the parent's files and name */
    put_sample(&file, 6, 0x2002, 21);
    put_comm(&file, 6, "child", MISC_EXEC, 30); /* it becomes another program, but is in execve still */
    put_sample(&file, 6, 0x2002, 31);
    put_mmap(&file, 6, 0x1000, 0x1000, 0, "/c", 32);
    put_sample(&file, 6, 0x1001, 33);
    put_sample(&file, 5, 0x2002, 34); /* the parent stays what it was */
    char *rows = rows_of(&file);
    assert_string_equal(rows, "/a+110 shell/5 2\n/a+10ff shell/5 1\n/b+1 shell/5 1\n/a+2101 shell/5 1\n/b+2 shell/6 1\n"
                              "/b+2 child/6 1\n/c+1 child/6 1\n/b+2 shell/5 1\n");
    free(rows);
    buffer_free(&file);
}

static void a_chain_has_the_calls_and_not_the_returns(void **state) {
    (void)state;
    struct buffer file = {0};
    begin_pipe(&file);
    put_event(&file, IP | TID | TIME | CALLCHAIN, 0, SAMPLE_ID_ALL, 0);
    put_mmap(&file, 5, 0x1000, 0x1000, 0, "/a", 1);
    put_mmap(&file, 5, 0x2000, 0x1000, 0, "/b", 1);
    size_t at = begin_record(&file, 9, MISC_KERNEL);
    put64(&file, 0xffffffff81000010);
    put_pair(&file, 5, 5);
    put64(&file, 9);
    /* The fault is at the first byte of /b, which was called by the last instruction of /a. 0x7 is nobody's. */
    uint64_t chain[] = {7, (uint64_t)-128, 0xffffffff81000010, 0xffffffff81000020, (uint64_t)-512, 0x2000, 0x2000, 7};
    buffer_add(&file, chain, sizeof chain);
    end_record(&file, at);
    char *rows = rows_of(&file);
    assert_string_equal(rows,
                        "[kernel.kallsyms]+ffffffff81000010 [kernel.kallsyms]+ffffffff8100001f /b+0 /a+fff +7 /5k 1\n");
    free(rows);
    buffer_free(&file);
}

/* Frame pointers that were led astray met the word -128 on a user's stack, which says that the kernel's addresses follow. */
static void no_address_of_the_lower_half_is_the_kernels(void **state) {
    (void)state;
    const uint64_t text = 0xffffffff81000000;
    struct buffer file = {0};
    begin_pipe(&file);
    put_event(&file, IP | TID | TIME | CALLCHAIN, 0, SAMPLE_ID_ALL, 0);
    put_mmap(&file, UINT32_MAX, text, 0x1000000, text, "[kernel.kallsyms]_text", 1);
    put_mmap(&file, 5, 0x2000, 0x1000, 0, "/b", 1);
    size_t at = begin_record(&file, 9, MISC_KERNEL);
    put64(&file, text + 0x10);
    put_pair(&file, 5, 5);
    put64(&file, 9);
    uint64_t chain[] = {6, (uint64_t)-128, text + 0x10, (uint64_t)-512, 0x2000, (uint64_t)-128, 0x62696c2f766e6579};
    buffer_add(&file, chain, sizeof chain);
    end_record(&file, at);
    char *rows = rows_of(&file);
    assert_string_equal(rows, "[kernel.kallsyms]+10 /b+0 +62696c2f766e6579 /5k 1\n");
    free(rows);
    buffer_free(&file);
}

/* ---- compressed records ------------------------------------------------------------------------------------------ */

static void put_compressed(struct buffer *out, ZSTD_CStream *stream, const char *bytes, size_t size) {
    char room[4096];
    ZSTD_inBuffer in = {bytes, size, 0};
    ZSTD_outBuffer compressed = {room, sizeof room, 0};
    assert_false(ZSTD_isError(ZSTD_compressStream(stream, &compressed, &in)));
    assert_int_equal(ZSTD_flushStream(stream, &compressed), 0);
    size_t at = begin_record(out, 81, 0);
    buffer_add(out, room, compressed.pos);
    end_record(out, at);
}

static void compressed_records_go_on_in_the_next_block(void **state) {
    (void)state;
    struct buffer file = {0}, inner = {0};
    begin_pipe(&file);
    put_event(&file, IP | TID | TIME, 0, SAMPLE_ID_ALL, 0);
    put_mmap(&inner, 5, 0x1000, 0x3000, 0, "/a", 1);
    for (uint64_t i = 0; i < 10; i++)
        put_sample(&inner, 5, 0x1000 + i % 2, 10 - i);        /* backwards in time: all of them wait */
    for (size_t block = 1; block < inner.size; block += 13) { /* every kind of cut, a few bytes each */
        struct buffer cut = {0};
        buffer_add(&cut, file.data, file.size);
        ZSTD_CStream *stream = ZSTD_createCStream();
        for (size_t at = 0; at < inner.size; at += block)
            put_compressed(&cut, stream, inner.data + at, at + block < inner.size ? block : inner.size - at);
        ZSTD_freeCStream(stream);
        char *rows = rows_of(&cut);
        assert_string_equal(rows, "/a+1 /5 5\n/a+0 /5 5\n");
        free(rows);
        buffer_free(&cut);
    }
    buffer_free(&inner);
    buffer_free(&file);
}

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

static void expect_refusal(const char *bytes, size_t size, const char *why) {
    struct perf_data_facts facts = {0};
    struct error err = {0};
    static const struct perf_data_visitor deaf = {0};
    assert_int_equal(perf_data_parse(bytes, size, &deaf, NULL, &facts, &err), -1);
    if (!strstr(err.message, why)) fail_msg("\"%s\" does not say \"%s\"", err.message, why);
    perf_data_facts_free(&facts);
}

static void what_is_not_read_says_why(void **state) {
    (void)state;
    expect_refusal("2ELIFREP\0\0\0\0\0\0\0\x10", 16, "big-endian");
    expect_refusal("PERFFILE\0\0\0\0\0\0\0\0", 16, "version 1");
    expect_refusal("PERFILE2", 8, "truncated");
    expect_refusal("something else", 14, "not a perf.data");
    assert_true(perf_data_recognise("PERFILE2", 8));
    assert_false(perf_data_recognise("PERFILE2", 7));
}

static int refuse_sample(void *context, const struct perf_data_sample *sample, struct error *err) {
    (void)context;
    return error_fail(err, "no sample of process %u", sample->pid);
}

/* What the one who listens refuses is said with the place of the record. */
static void a_refused_record_has_a_place(void **state) {
    (void)state;
    static const struct perf_data_visitor visitor = {.sample = refuse_sample};
    struct perf_data_facts facts = {0};
    struct error err = {0};
    struct buffer file = {0};
    char want[80];
    begin_pipe(&file);
    put_event(&file, IP | TID | TIME, 0, SAMPLE_ID_ALL, 1);
    put_comm(&file, 5, "before", 0, 10);
    snprintf(want, sizeof want, "byte %zu: no sample of process 5", file.size);
    put_sample(&file, 5, 0x1000, 20);
    assert_int_equal(perf_data_parse(file.data, file.size, &visitor, NULL, &facts, &err), -1);
    assert_string_equal(err.message, want);
    perf_data_facts_free(&facts);
    buffer_free(&file);
}

/* A reader of hostile bytes may fail or not; it must come back, and the sanitizers must have nothing to say. Returns how many
 * were read. */
static int try_bytes(const char *bytes, size_t size) {
    char *copy = malloc(size ? size : 1); /* exactly as many bytes, so that one more is seen */
    memcpy(copy, bytes, size);
    struct perf_recording recording = {0};
    struct error err = {0};
    int code = perf_recording_read(&recording, copy, size, &err);
    assert_true(code == 0 || (code == -1 && *err.message));
    perf_recording_free(&recording);
    free(copy);
    return code == 0;
}

static void read_file(const char *name, struct buffer *bytes) {
    const char *root = getenv("ROOT");
    char path[1000], part[4096];
    snprintf(path, sizeof path, "%s/fixtures/corpus/perf/%s", root ? root : ".", name);
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("%s is not there", path);
    for (size_t size; (size = fread(part, 1, sizeof part, file)) > 0;)
        buffer_add(bytes, part, size);
    fclose(file);
}

static const char *const small_files[] = {"perf.data.piped.no_attr_ids-4.14", "perf.data.group_desc-4.14"};

static void a_file_may_be_cut_anywhere(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof small_files / sizeof *small_files; i++) {
        struct buffer file = {0};
        read_file(small_files[i], &file);
        size_t whole = 0;
        for (size_t size = 0; size < file.size; size++)
            whole += (size_t)try_bytes(file.data, size);
        assert_true(try_bytes(file.data, file.size));
        assert_true(whole < file.size / 8); /* a pipe may end after any record; a record has eight bytes at least */
        buffer_free(&file);
    }
}

static void any_bit_may_be_flipped(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof small_files / sizeof *small_files; i++) {
        struct buffer file = {0};
        read_file(small_files[i], &file);
        for (size_t bit = i; bit < file.size * 8; bit += 3) { /* a third of them, other ones in each file */
            file.data[bit / 8] = (char)(file.data[bit / 8] ^ 1 << bit % 8);
            try_bytes(file.data, file.size);
            file.data[bit / 8] = (char)(file.data[bit / 8] ^ 1 << bit % 8);
        }
        buffer_free(&file);
    }
}

/* A few bytes that inflate to 1 GiB of zeros: refused, and not by filling the memory. */
static void a_bomb_is_refused(void **state) {
    (void)state;
    struct buffer file = {0}, zeros = {0};
    begin_pipe(&file);
    put_event(&file, IP | TID | TIME, 0, SAMPLE_ID_ALL, 0);
    buffer_reserve(&zeros, 70 << 20);
    memset(zeros.data, 0, 70 << 20);
    ZSTD_CStream *stream = ZSTD_createCStream();
    put_compressed(&file, stream, zeros.data, 70 << 20);
    ZSTD_freeCStream(stream);
    expect_refusal(file.data, file.size, "more than 64 MiB");
    buffer_free(&zeros);
    buffer_free(&file);
}

/* The same in small pieces, none of which is large: samples that say the same again and again. */
static void a_bomb_in_pieces_is_refused(void **state) {
    (void)state;
    enum { PIECES = 300, SAMPLES = 8000 }; /* of 32 bytes: 73 MiB */
    struct buffer file = {0}, samples = {0};
    begin_pipe(&file);
    put_event(&file, IP | TID | TIME, 0, SAMPLE_ID_ALL, 0);
    for (int i = 0; i < SAMPLES; i++)
        put_sample(&samples, 5, 0x1000, 1);
    ZSTD_CStream *stream = ZSTD_createCStream();
    for (int i = 0; i < PIECES; i++)
        put_compressed(&file, stream, samples.data, samples.size);
    ZSTD_freeCStream(stream);
    assert_true(samples.size * PIECES > 64 << 20 && file.size < 64 << 10);
    expect_refusal(file.data, file.size, "inflates to more than 64 MiB in all; --limit 4G allows it");
    buffer_free(&samples);
    buffer_free(&file);
}

/* ---- the kernel's names ------------------------------------------------------------------------------------------ */

static void kernel_names_move_with_the_kernel(void **state) {
    (void)state;
    char text[] = "0000000000001000 T _text\n0000000000001100 t helper\n0000000000001100 W weak_helper\n"
                  "0000000000001200 T __do_thing\n0000000000001200 T do_thing\nnonsense\n0000000000001300 d data\n"
                  "0000000000009000 t in_module\t[mod]\n";
    struct perf_kernel kernel = {0};
    perf_kernel_parse(&kernel, text, "_text", 0x51000); /* at the recording it was 0x50000 higher */
    assert_string_equal(perf_kernel_name(&kernel, 0x51000), "_text");
    assert_string_equal(perf_kernel_name(&kernel, 0x511ff), "helper");
    assert_string_equal(perf_kernel_name(&kernel, 0x51305), "do_thing");
    assert_string_equal(perf_kernel_name(&kernel, 0x59000), "in_module");
    assert_null(perf_kernel_name(&kernel, 0x50fff));
    perf_kernel_free(&kernel);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_fields_are_taken_in_the_kernels_order),
        cmocka_unit_test(a_group_is_a_sample_for_each_counter_that_grew),
        cmocka_unit_test(records_come_in_the_order_of_time),
        cmocka_unit_test(a_switch_lasts_until_the_thread_runs_again),
        cmocka_unit_test(a_queue_keeps_the_order_of_equal_times),
        cmocka_unit_test(addresses_are_of_the_file_that_stood_there_then),
        cmocka_unit_test(a_chain_has_the_calls_and_not_the_returns),
        cmocka_unit_test(no_address_of_the_lower_half_is_the_kernels),
        cmocka_unit_test(compressed_records_go_on_in_the_next_block),
        cmocka_unit_test(what_is_not_read_says_why),
        cmocka_unit_test(a_refused_record_has_a_place),
        cmocka_unit_test(a_file_may_be_cut_anywhere),
        cmocka_unit_test(any_bit_may_be_flipped),
        cmocka_unit_test(a_bomb_is_refused),
        cmocka_unit_test(a_bomb_in_pieces_is_refused),
        cmocka_unit_test(kernel_names_move_with_the_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
