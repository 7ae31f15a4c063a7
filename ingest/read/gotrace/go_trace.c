/* go_trace.c: Go's execution traces: the header, the batches, and what is written of them. */
#include "ingest/read/gotrace/go_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/read/input.h"
#include "ingest/read/readers.h"
#include "schema/kinds.h"

enum { HEADER_SIZE = 16, FIRST_VERSION = 22, SAMPLE_NS = 10000000 /* runtime/pprof takes 100 a second */ };

/* ---- one generation ---- */

static void add_batch(struct go_generation *generation, const struct go_batch *batch) {
    size_t count = generation->batch_count;
    if ((count & (count - 1)) == 0)
        generation->batches = xrealloc(generation->batches, (count ? 2 * count : 1) * sizeof *generation->batches);
    generation->batches[generation->batch_count++] = *batch;
}

static void find_epoch(struct go_reader *reader, struct error *err) {
    const struct go_generation *generation = &reader->generation;
    if (!generation->clock_seconds || reader->epoch_ns || generation->clock_seconds > INT64_MAX / 2000000000) return;
    int64_t ns = go_time(reader, generation->clock_ticks, err);
    if (ns >= 0)
        reader->epoch_ns = (int64_t)(generation->clock_seconds * 1000000000 + generation->clock_ns % 1000000000) - ns;
}

static int end_generation(struct go_reader *reader, struct error *err) {
    struct go_generation *generation = &reader->generation;
    int code = 0;
    if (generation->number && !generation->frequency)
        code = error_fail(err, "%s: generation %llu of the trace has no frequency of its clock: it is cut off",
                          reader->input->path, (unsigned long long)generation->number);
    if (generation->number && code == 0) {
        find_epoch(reader, err);
        code = err->status != ERROR_NONE || go_read_events(reader, err) || go_take_samples(reader, err) ? -1 : 0;
    }
    go_generation_free(generation);
    return code;
}

/* ---- batches ---- */

struct batch_head {
    uint64_t generation, m, ticks, size;
    bool is_experimental;
};

/* 1, 0: there is no further batch, -1. */
static int read_head(struct go_reader *reader, struct wire *wire, struct batch_head *head, struct error *err) {
    while (wire->at < wire->end && *wire->at == GO_END_OF_GENERATION)
        wire->at++;
    if (wire->at == wire->end) return 0;
    uint64_t at = (uint64_t)(wire->at - reader->input->data);
    uint8_t type = *wire->at++;
    *head = (struct batch_head){.is_experimental = type == GO_EXPERIMENTAL_BATCH};
    if (type != GO_EVENT_BATCH && type != GO_EXPERIMENTAL_BATCH)
        return input_fail_byte(err, reader->input, at, "expected a batch of events, found event %d", type);
    if (head->is_experimental && wire->at < wire->end) wire->at++; /* which experiment */
    if (wire_varint(wire, &head->generation) != WIRE_OK || wire_varint(wire, &head->m) != WIRE_OK ||
        wire_varint(wire, &head->ticks) != WIRE_OK || wire_varint(wire, &head->size) != WIRE_OK ||
        head->size > wire_size(*wire))
        return input_fail_byte(err, reader->input, at, "the trace ends in the middle of a batch");
    if (!head->generation || head->generation < reader->generation.number)
        return input_fail_byte(err, reader->input, at, "generation %llu after generation %llu",
                               (unsigned long long)head->generation, (unsigned long long)reader->generation.number);
    return 1;
}

static int read_batch(struct go_reader *reader, struct wire *wire, struct error *err) {
    struct batch_head head;
    int more = read_head(reader, wire, &head, err);
    if (more <= 0) return more;
    if (head.generation != reader->generation.number) {
        if (end_generation(reader, err)) return -1;
        reader->generation.number = head.generation;
    }
    const struct go_batch batch = {head.m, head.ticks, {wire->at, wire->at + head.size}};
    wire->at += head.size;
    int is_table = head.is_experimental ? 1 : go_read_table(reader, &batch, err);
    if (is_table == 0) add_batch(&reader->generation, &batch);
    return is_table < 0 ? -1 : 1;
}

/* With --lenient the generations before a broken one stay. */
static int read_batches(struct go_reader *reader, struct error *err) {
    struct wire wire = {reader->input->data + HEADER_SIZE, reader->input->data + reader->input->size};
    int more;
    while ((more = read_batch(reader, &wire, err)) > 0)
        ;
    if (more == 0) more = end_generation(reader, err);
    return more < 0 ? ingest_broken(reader->ingest, err) : 0;
}

/* ---- the format ---- */

/* "go 1.22 trace" and zeros; 0: it is no such text. */
static int version_of(const struct input *input) {
    int version = 0, size = 0;
    char text[HEADER_SIZE + 1] = "";
    if (input->size < HEADER_SIZE) return 0;
    memcpy(text, input->data, HEADER_SIZE);
    return sscanf(text, "go 1.%3d trace%n", &version, &size) == 1 && size && !text[size] && version > 0 ? version : 0;
}

static int write_cpu(struct go_reader *reader, struct error *err) {
    static const struct ingest_type types[] = {{"samples", "count"}, {"cpu", "nanoseconds"}};
    const struct ingest_profile profile = {.kind = "cpu",
                                           .duration_ns = reader->last_ns - reader->first_ns,
                                           .period = SAMPLE_NS,
                                           .period_type = types[1].type,
                                           .period_unit = types[1].unit,
                                           .types = types,
                                           .type_count = 2,
                                           .default_type = types[1].type};
    if (!reader->cpu_index.count) return 0;
    if (ingest_begin_profile(reader->ingest, &profile, err)) return -1;
    for (size_t i = 0; i < reader->cpu_index.count; i++)
        if (ingest_cpu(reader->ingest, reader->cpu[i].stack, 0, reader->cpu[i].count, reader->cpu[i].count * SAMPLE_NS,
                       err))
            return -1;
    return 0;
}

static int add_wait(struct go_reader *reader, const struct trace_slice *slice, struct error *err) {
    const int64_t values[] = {1, slice->duration_ns};
    const struct writer_label state = {.key = "state", .text = slice->kind};
    int64_t labels = writer_label_set(&reader->ingest->writer, &state, 1, err);
    return labels < 0 ? -1 : ingest_sample(reader->ingest, slice->stack, labels, values, err);
}

/* The waits and calls once more, by stack, as a profile that any viewer takes. */
static int write_waits(struct go_reader *reader, struct error *err) {
    const struct kind *kind = &kinds[KIND_OFF_CPU];
    const struct ingest_type types[] = {{kind->types[0].type, kind->types[0].unit},
                                        {kind->types[1].type, kind->types[1].unit}};
    const struct ingest_profile profile = {.kind = kind->name,
                                           .duration_ns = reader->last_ns - reader->first_ns,
                                           .period_type = kind->period_type,
                                           .period_unit = kind->period_unit,
                                           .types = types,
                                           .type_count = 2,
                                           .default_type = kind->default_type};
    if (ingest_begin_profile(reader->ingest, &profile, err)) return -1;
    for (size_t i = 0; i < reader->rows.slice_count; i++) {
        const struct trace_slice *slice = &reader->rows.slices[i];
        if (slice->stack && slice->duration_ns && strcmp(slice->kind, "region") != 0 && add_wait(reader, slice, err))
            return -1;
    }
    return 0;
}

static void reader_free(struct go_reader *reader) {
    go_generation_free(&reader->generation);
    map_free(&reader->goroutine_index);
    map_free(&reader->m_index);
    map_free(&reader->task_index);
    map_free(&reader->lane_index);
    map_free(&reader->cpu_index);
    free(reader->goroutines);
    free(reader->ms);
    free(reader->tasks);
    free(reader->lanes);
    free(reader->cpu);
    open_slices_free(&reader->open);
    trace_rows_free(&reader->rows);
}

static int read_go_trace(struct ingest *ingest, const struct input *input, struct error *err) {
    struct go_reader reader = {.ingest = ingest, .input = input, .version = version_of(input)};
    if (reader.version < FIRST_VERSION)
        return error_fail(err,
                          "%s: an execution trace in the format of go 1.%d: clear reads those of go 1.%d and later",
                          input->path, reader.version, FIRST_VERSION);
    trace_rows_open(&reader.rows, ingest);
    reader.open.rows = &reader.rows;
    int code = read_batches(&reader, err);
    if (code == 0) {
        go_finish(&reader);
        code =
            trace_rows_write(&reader.rows, reader.epoch_ns, err) || write_cpu(&reader, err) || write_waits(&reader, err)
                ? -1
                : 0;
    }
    reader_free(&reader);
    return code;
}

static bool recognise_go_trace(const struct input *input) {
    return version_of(input) != 0;
}

const struct format format_go_trace = {
    .name = "go-trace",
    .help = "an execution trace of Go (runtime/trace, go test -trace), go 1.22 and later",
    .recognise = recognise_go_trace,
    .read = read_go_trace,
};
