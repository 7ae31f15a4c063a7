/* event_profiles.c: the reader of perf.data. The sums of a recording become profiles, one for each event. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/escape.h"
#include "ingest/read/perf/frame_names.h"
#include "ingest/read/perf/recording.h"
#include "ingest/read/readers.h"
#include "schema/kinds.h"

/* ---- labels ---- */

enum { THREAD_LABELS = 3 };

static const char *mode_name(uint32_t mode) {
    switch (mode) {
    case PERF_MODE_KERNEL:
    case PERF_MODE_GUEST_KERNEL: return "kernel";
    case PERF_MODE_USER:
    case PERF_MODE_GUEST_USER: return "user";
    case PERF_MODE_HYPERVISOR: return "hypervisor";
    default: return NULL;
    }
}

/* Writes up to THREAD_LABELS labels and returns their number: mode (user or kernel, where the event says), thread (its name, if it has one) and
 * tid. `comm`: its number in recording->comms. Free *name when the labels are no longer needed. */
static size_t thread_labels(const struct perf_recording *recording, uint32_t comm, uint32_t tid, uint32_t mode,
                            struct writer_label *labels, char **name) {
    const struct map_entry *entry = &recording->comms.entries[comm];
    size_t count = 0;
    *name = xmalloc(entry->size + 1);
    memcpy(*name, entry->key, entry->size);
    (*name)[entry->size] = '\0';
    if (mode_name(mode)) labels[count++] = (struct writer_label){.key = "mode", .text = mode_name(mode)};
    if (entry->size) labels[count++] = (struct writer_label){.key = "thread", .text = *name};
    if (tid != UINT32_MAX) labels[count++] = (struct writer_label){.key = "tid", .number = tid};
    return count;
}

/* ---- cache lines ---- */

/* The profile of kind c2c ("cache to cache", as in perf c2c): the accesses to lines that threads take from each other.
 *
 * Values: accesses (samples), hitm (samples of loads that had to fetch the line from another core) and latency (cycles of the loads).
 * Labels: access (load or store), address and line ("0x404088" and "0x404080"), variable (the global variable there, if one is), pid,
 * tid, thread and mode. */

static int64_t access_labels(struct ingest *ingest, struct perf_names *names, const struct perf_access *access,
                             struct error *err) {
    struct writer_label labels[THREAD_LABELS + 5];
    char address[24], line[24], *thread;
    size_t count = thread_labels(names->recording, access->comm, access->tid, access->mode, labels, &thread);
    const char *variable = perf_names_variable(names, &access->place);
    snprintf(address, sizeof address, "0x%" PRIx64, access->address);
    snprintf(line, sizeof line, "0x%" PRIx64, access->address / CACHE_LINE * CACHE_LINE);
    labels[count++] = (struct writer_label){.key = "access", .text = access->is_store ? "store" : "load"};
    labels[count++] = (struct writer_label){.key = "address", .text = address};
    labels[count++] = (struct writer_label){.key = "line", .text = line};
    labels[count++] = (struct writer_label){.key = "pid", .number = access->pid};
    if (variable) labels[count++] = (struct writer_label){.key = "variable", .text = variable};
    int64_t id = writer_label_set(&ingest->writer, labels, count, err);
    free(thread);
    return id;
}

static int begin(struct ingest *ingest, struct perf_names *names, int64_t duration_ns, struct error *err) {
    static const struct ingest_type types[] = {{"accesses", "count"}, {"hitm", "count"}, {"latency", "cycles"}};
    static const char *const comments[] = {
        "accesses to the cache lines that a core had to fetch from another one, which had changed them (HITM)"};
    const struct perf_lines *lines = &names->recording->lines;
    int64_t *mappings;
    struct ingest_profile profile = {.kind = "c2c",
                                     .duration_ns = duration_ns,
                                     .period = 1,
                                     .period_type = types[0].type,
                                     .period_unit = types[0].unit,
                                     .types = types,
                                     .type_count = sizeof types / sizeof *types,
                                     .default_type = types[1].type,
                                     .comments = comments,
                                     .comment_count = 1,
                                     .mapping_count = perf_names_mappings(names, (uint32_t)lines->event, &mappings),
                                     .dropped = (int64_t)names->recording->facts.events[lines->event]->lost};
    profile.mapping_ids = mappings;
    int code = ingest_begin_profile(ingest, &profile, err);
    free(mappings);
    return code;
}

static int add_access(struct ingest *ingest, struct perf_names *names, const struct perf_access *access,
                      struct error *err) {
    int64_t values[] = {(int64_t)access->samples, (int64_t)access->hitm, (int64_t)access->latency};
    int64_t trace = perf_names_trace(names, access->stack, err);
    int64_t labels = trace < 0 ? -1 : access_labels(ingest, names, access, err);
    return labels < 0 ? -1 : ingest_sample(ingest, trace, labels, values, err);
}

/* Adds it to the open run; no profile where no sample had a HITM. `duration_ns`: of the run. */
static int perf_line_profile(struct ingest *ingest, struct perf_names *names, int64_t duration_ns, struct error *err) {
    const struct perf_lines *lines = &names->recording->lines;
    if (!lines->modified.count) return 0;
    if (begin(ingest, names, duration_ns, err)) return -1;
    for (size_t i = 0; i < lines->count; i++)
        if (perf_lines_has(lines, &lines->items[i]) && add_access(ingest, names, &lines->items[i], err)) return -1;
    return 0;
}

static bool recognise(const struct input *input) {
    return !input->is_directory && perf_data_recognise(input->data, input->size);
}

/* cpu-clock and task-clock: their periods are nanoseconds. */
static bool is_clock(const struct perf_event *event) {
    return event->type == 1 && event->config <= 1;
}

/* "cycles:u" is of kind "cycles"; a tracepoint's name has a colon of its own. */
static char *kind_of(const struct perf_event *event) {
    if (is_clock(event)) return xstrdup(kinds[KIND_CPU].name);
    char *kind = xstrdup(event->name);
    if (event->type != 2) kind[strcspn(kind, ":")] = '\0';
    if (*kind && !kind_is_taken(kind)) return kind;
    char *longer = xasprintf("event %s", kind);
    free(kind);
    return longer;
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

/* The command line, quoted for a shell. */
static void add_command(struct buffer *command, const struct perf_data_facts *facts) {
    for (size_t i = 0; i < facts->argument_count; i++) {
        if (i) buffer_add_char(command, ' ');
        escape_shell(command, facts->arguments[i]);
    }
}

static int64_t duration_of(const struct perf_data_facts *facts) {
    uint64_t duration = facts->last_time - facts->first_time;
    return duration <= INT64_MAX ? (int64_t)duration : 0;
}

/* The recording's clock is not the real-time clock. Only `perf record -k` stores both at one moment; without it, the
 * time of the file is taken as the end of the recording. */
static int64_t started_of(const struct perf_data_facts *facts, const struct input *input) {
    if (facts->has_clock && facts->first_time)
        return (int64_t)(facts->clock_wall + (facts->first_time - facts->clock_time));
    return input->modified_ns > duration_of(facts) ? input->modified_ns - duration_of(facts) : 0;
}

static int begin_run(struct ingest *ingest, const struct input *input, const struct perf_data_facts *facts,
                     struct error *err) {
    struct buffer command = {0};
    add_command(&command, facts);
    struct ingest_run run = {.started_ns = started_of(facts, input),
                             .duration_ns = duration_of(facts),
                             .command = buffer_text(&command),
                             .host = facts->hostname};
    int code = ingest_begin_run(ingest, &run, err);
    buffer_free(&command);
    return code;
}

/* ---- a profile --------------------------------------------------------------------------------------------------- */

static int begin_profile(struct ingest *ingest, struct perf_names *names, const struct perf_event *event,
                         struct error *err) {
    const struct perf_data_facts *facts = &names->recording->facts;
    char *kind = kind_of(event);
    const struct ingest_type types[] = {{"samples", "count"},
                                        {is_clock(event) ? "cpu" : kind, is_clock(event) ? "nanoseconds" : "count"}};
    char event_text[300], frequency_text[80];
    snprintf(event_text, sizeof event_text, "perf event %s", event->name);
    snprintf(frequency_text, sizeof frequency_text, "%" PRIu64 " samples per second asked for", event->frequency);
    const char *comments[4] = {event_text};
    size_t comment_count = 1;
    if (event->frequency) comments[comment_count++] = frequency_text;
    if (facts->is_unfinished)
        comments[comment_count++] = "perf record did not end in order: its last buffers are missing";
    uint64_t period = event->period;
    if (is_clock(event) && event->frequency) period = UINT64_C(1000000000) / event->frequency;
    uint64_t truncated =
        event->index < names->recording->truncated_count ? names->recording->truncated[event->index] : 0;
    int64_t *mappings;
    struct ingest_profile profile = {.kind = kind,
                                     .duration_ns = duration_of(facts),
                                     .period = period <= INT64_MAX ? (int64_t)period : 0,
                                     .period_type = types[1].type,
                                     .period_unit = types[1].unit,
                                     .types = types,
                                     .type_count = 2,
                                     .default_type = types[1].type,
                                     .comments = comments,
                                     .comment_count = comment_count,
                                     .mapping_count = perf_names_mappings(names, (uint32_t)event->index, &mappings),
                                     .dropped = (int64_t)event->lost,
                                     .truncated = (int64_t)truncated};
    profile.mapping_ids = mappings;
    int code = ingest_begin_profile(ingest, &profile, err);
    free(mappings);
    free(kind);
    return code;
}

static int64_t new_labels(struct ingest *ingest, const struct perf_recording *recording, const struct perf_row *row,
                          struct error *err) {
    struct writer_label labels[THREAD_LABELS];
    char *name;
    size_t count = thread_labels(recording, row->comm, row->tid, row->mode, labels, &name);
    int64_t id = writer_label_set(&ingest->writer, labels, count, err);
    free(name);
    return id;
}

/* Made once of each thread, not of each of its stacks. */
static int64_t labels_of(struct ingest *ingest, struct perf_names *names, const struct perf_row *row,
                         struct error *err) {
    const uint32_t key[] = {row->comm, row->tid, row->mode};
    bool is_new;
    struct map_entry *entry = map_put(&names->label_sets, key, sizeof key, &is_new);
    if (is_new) entry->value = new_labels(ingest, names->recording, row, err);
    return entry->value;
}

static int add_row(struct ingest *ingest, struct perf_names *names, const struct perf_row *row, bool clock,
                   struct error *err) {
    int64_t trace = perf_names_trace(names, row->stack, err);
    if (trace < 0) return -1;
    int64_t labels = labels_of(ingest, names, row, err);
    if (labels < 0) return -1;
    int64_t values[] = {(int64_t)row->samples, (int64_t)row->value};
    return clock ? ingest_cpu(ingest, trace, labels, values[0], values[1], err)
                 : ingest_sample(ingest, trace, labels, values, err);
}

/* ---- times off the processor ---- */

static bool has_away(const struct perf_recording *recording, const struct perf_event *event) {
    for (size_t i = 0; event->has_switches && i < recording->row_count; i++)
        if (recording->rows[i].event == event->index && recording->rows[i].away) return true;
    return false;
}

static int begin_away(struct ingest *ingest, struct perf_names *names, const struct perf_event *event,
                      struct error *err) {
    const struct kind *kind = &kinds[KIND_OFF_CPU];
    const struct ingest_type types[] = {{kind->types[0].type, kind->types[0].unit},
                                        {kind->types[1].type, kind->types[1].unit}};
    static const char *const comments[] = {
        "perf event context-switches: from each one until the thread ran again; those that never stopped or never ran "
        "have no samples"};
    int64_t *mappings;
    struct ingest_profile profile = {.kind = kind->name,
                                     .duration_ns = duration_of(&names->recording->facts),
                                     .period_type = kind->period_type,
                                     .period_unit = kind->period_unit,
                                     .types = types,
                                     .type_count = 2,
                                     .default_type = kind->default_type,
                                     .comments = comments,
                                     .comment_count = 1,
                                     .mapping_count = perf_names_mappings(names, (uint32_t)event->index, &mappings),
                                     .dropped = (int64_t)event->lost};
    profile.mapping_ids = mappings;
    int code = ingest_begin_profile(ingest, &profile, err);
    free(mappings);
    return code;
}

static int add_away(struct ingest *ingest, struct perf_names *names, const struct perf_event *event,
                    struct error *err) {
    const struct perf_recording *recording = names->recording;
    if (!has_away(recording, event)) return 0;
    if (begin_away(ingest, names, event, err)) return -1;
    for (size_t i = 0; i < recording->row_count; i++) {
        struct perf_row row = recording->rows[i];
        row.value = row.away;
        if (row.event == event->index && row.away && add_row(ingest, names, &row, false, err)) return -1;
    }
    return 0;
}

static int add_event(struct ingest *ingest, struct perf_names *names, const struct perf_event *event,
                     struct error *err) {
    const struct perf_recording *recording = names->recording;
    if (begin_profile(ingest, names, event, err)) return -1;
    for (size_t i = 0; i < recording->row_count; i++)
        if (recording->rows[i].event == event->index &&
            add_row(ingest, names, &recording->rows[i], is_clock(event), err))
            return -1;
    return add_away(ingest, names, event, err);
}

static int add_events(struct ingest *ingest, struct perf_names *names, struct error *err) {
    const struct perf_recording *recording = names->recording;
    for (size_t i = 0; i < recording->row_count; i++) /* names first: a profile begins with its mappings */
        if (perf_names_trace(names, recording->rows[i].stack, err) < 0) return -1;
    for (size_t i = 0; i < recording->facts.event_count; i++) {
        const struct perf_event *event = recording->facts.events[i];
        if ((event->samples || event->lost) && add_event(ingest, names, event, err)) return -1;
    }
    return perf_line_profile(ingest, names, duration_of(&recording->facts), err);
}

/* perf record --threads writes a directory: `data` has the events of processes, and data.0 and so on have the samples
 * of one CPU each. */
static int refuse_threads(const struct input *input, struct error *err) {
    char *first = xasprintf("%s.0", input->path);
    bool is_there = access(first, F_OK) == 0;
    free(first);
    if (!is_there) return 0;
    return error_fail(err,
                      "%s: recorded with --threads, the samples are in the files beside it (data.0, ...): let `perf"
                      " inject -i DIRECTORY -o NAME` make one of them, NAME/data",
                      input->path);
}

static int read_perf_data(struct ingest *ingest, const struct input *input, struct error *err) {
    struct perf_recording recording = {.facts.is_lenient = ingest->options.lenient};
    if (perf_recording_read(&recording, input->data, input->size, err)) {
        perf_recording_free(&recording);
        return error_prefix(err, "%s: ", input->path);
    }
    if (recording.facts.sample_count == 0 && refuse_threads(input, err) != 0) {
        perf_recording_free(&recording);
        return -1;
    }
    ingest->rows_skipped += recording.facts.skipped;
    struct perf_names names;
    perf_names_open(&names, &recording, ingest);
    int code = begin_run(ingest, input, &recording.facts, err);
    if (!code) code = writer_expect(&ingest->writer, recording.stacks.count, err);
    if (!code) code = add_events(ingest, &names, err);
    if (!code) code = perf_names_store_sources(&names, ingest, err);
    perf_names_close(&names);
    perf_recording_free(&recording);
    return code;
}

const struct format format_perf_data = {
    .name = "perf.data",
    .help = "recordings of Linux' perf record (file and pipe mode)",
    .recognise = recognise,
    .read = read_perf_data,
};
