/* callgrind.c: for kcachegrind and callgrind_annotate. Every sample type is an event; with a base the chosen type is two, before
 * and after, because the format has no negative numbers. A function is known by name and file; costs are by line; a call
 * is counted once a sample, so that recursion does not count twice. */
#include <stdlib.h>
#include <string.h>

#include "export/format.h"

enum { NO_CALLEE = 0xffffffff };

struct function {
    const char *name, *file;
};

/* What costs are summed by. No padding: it is a key of a map. */
struct place {
    uint32_t function, callee; /* callee NO_CALLEE: the function itself */
    int64_t line, callee_line;
};

struct callgrind {
    const struct model *model;
    struct buffer *out;
    struct map function_ids; /* (name, file) -> id */
    struct function *functions;
    struct map places; /* -> index into costs / events */
    int64_t *costs;
    size_t events, capacity;
    struct map named; /* functions and files that were written before and need their number only */
};

static uint32_t function_id(struct callgrind *writer, const struct model_frame *frame) {
    struct {
        uint64_t name, file; /* texts of the model are stored once, so their places tell them apart */
    } key = {frame->name_id, (uint64_t)(uintptr_t)frame->file};
    bool added;
    struct map_entry *entry = map_put(&writer->function_ids, &key, sizeof key, &added);
    if (added) {
        size_t count = writer->function_ids.count;
        writer->functions = xrealloc(writer->functions, count * sizeof *writer->functions);
        writer->functions[count - 1] = (struct function){frame->name, frame->file};
        entry->value = (int64_t)count - 1;
    }
    return (uint32_t)entry->value;
}

static int64_t event_of(const struct callgrind *writer, const model_sample *sample, size_t event) {
    const struct model *model = writer->model;
    if (!model->has_base) return sample->value[event];
    bool base = model_is_base(model, sample);
    if (base != (event == 0)) return 0;
    return base ? -sample->value[model->type] : sample->value[model->type];
}

static int add_cost(struct callgrind *writer, const model_sample *sample, const struct place *place,
                    struct error *err) {
    bool added;
    struct map_entry *entry = map_put(&writer->places, place, sizeof *place, &added);
    if (added) {
        entry->value = (int64_t)writer->places.count - 1;
        if (writer->places.count > writer->capacity) {
            writer->capacity = writer->capacity ? writer->capacity * 2 : 256;
            writer->costs = xrealloc(writer->costs, writer->capacity * writer->events * sizeof *writer->costs);
        }
        memset(writer->costs + (size_t)entry->value * writer->events, 0, writer->events * sizeof *writer->costs);
    }
    int64_t *costs = writer->costs + (size_t)entry->value * writer->events;
    for (size_t i = 0; i < writer->events; i++)
        if (__builtin_add_overflow(costs[i], event_of(writer, sample, i), &costs[i]))
            return error_fail(err, "the values sum up to more than 2^63 - 1");
    return 0;
}

static bool came_before(const struct place *calls, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (memcmp(&calls[i], &calls[count], sizeof *calls) == 0) return true;
    return false;
}

static int add_sample(struct callgrind *writer, const model_sample *sample, struct buffer *frames, struct buffer *calls,
                      struct error *err) {
    size_t count = model_stack(writer->model, sample, frames), known = 0;
    if (count == 0) return 0;
    const uint32_t *stack = (const uint32_t *)(void *)frames->data;
    const struct model_frame *leaf = &writer->model->frames[stack[0]];
    struct place self = {function_id(writer, leaf), NO_CALLEE, leaf->line, 0};
    buffer_clear(calls);
    buffer_reserve(calls, count * sizeof(struct place));
    struct place *list = (struct place *)(void *)calls->data;
    if (add_cost(writer, sample, &self, err) < 0) return -1;
    for (size_t i = 1; i < count; i++) {
        const struct model_frame *caller = &writer->model->frames[stack[i]];
        const struct model_frame *callee = &writer->model->frames[stack[i - 1]];
        list[known] =
            (struct place){function_id(writer, caller), function_id(writer, callee), caller->line, callee->line};
        if (came_before(list, known)) continue;
        if (add_cost(writer, sample, &list[known++], err) < 0) return -1;
    }
    return 0;
}

/* ---- writing ---- */

static const struct callgrind *sorting; /* qsort has no context */

static int compare_functions(uint32_t left, uint32_t right) {
    const struct function *a = &sorting->functions[left], *b = &sorting->functions[right];
    int order = strcmp(a->name, b->name);
    return order ? order : strcmp(a->file, b->file);
}

static int compare_places(const void *left, const void *right) {
    const struct place *a = (*(const struct map_entry *const *)left)->key;
    const struct place *b = (*(const struct map_entry *const *)right)->key;
    int order = compare_functions(a->function, b->function);
    if (order) return order;
    if ((a->callee == NO_CALLEE) != (b->callee == NO_CALLEE)) return a->callee == NO_CALLEE ? -1 : 1;
    if (a->line != b->line) return a->line < b->line ? -1 : 1;
    if (a->callee != b->callee) return compare_functions(a->callee, b->callee);
    return a->callee_line < b->callee_line ? -1 : a->callee_line > b->callee_line;
}

/* "fn=(3) name" the first time, "fn=(3)" after that. A line is a record: no newlines in names. */
static void add_name(struct callgrind *writer, const char *tag, char space, const char *name) {
    struct buffer key = {0};
    bool added;
    buffer_add_char(&key, space);
    buffer_add_text(&key, name);
    struct map_entry *entry = map_put(&writer->named, key.data, key.size, &added);
    if (added) entry->value = (int64_t)writer->named.count;
    buffer_printf(writer->out, "%s=(%lld)", tag, (long long)entry->value);
    if (added) buffer_add_char(writer->out, ' ');
    for (; added && *name; name++)
        buffer_add_char(writer->out, *name == '\n' || *name == '\r' ? ' ' : *name);
    buffer_add_char(writer->out, '\n');
    buffer_free(&key);
}

static const char *file_of(const struct function *function) {
    return *function->file ? function->file : "???"; /* callgrind's own word for unknown */
}

static void add_place(struct callgrind *writer, const struct place *place, size_t index) {
    if (place->callee != NO_CALLEE) {
        const struct function *callee = &writer->functions[place->callee];
        add_name(writer, "cfi", 'f', file_of(callee));
        add_name(writer, "cfn", 'n', callee->name);
        buffer_printf(writer->out, "calls=1 %lld\n", (long long)place->callee_line);
    }
    buffer_printf(writer->out, "%lld", (long long)place->line);
    for (size_t i = 0; i < writer->events; i++)
        buffer_printf(writer->out, " %lld", (long long)writer->costs[index * writer->events + i]);
    buffer_add_char(writer->out, '\n');
}

static void add_places(struct callgrind *writer) {
    const struct map *places = &writer->places;
    const struct map_entry **order = xcalloc(places->count + 1, sizeof(const struct map_entry *));
    for (size_t i = 0; i < places->count; i++)
        order[i] = &places->entries[i];
    sorting = writer;
    qsort(order, places->count, sizeof *order, compare_places);
    uint32_t last = NO_CALLEE;
    for (size_t i = 0; i < places->count; i++) {
        const struct place *place = order[i]->key;
        if (place->function != last) {
            buffer_add_char(writer->out, '\n');
            add_name(writer, "fl", 'f', file_of(&writer->functions[place->function]));
            add_name(writer, "fn", 'n', writer->functions[place->function].name);
            last = place->function;
        }
        add_place(writer, place, (size_t)order[i]->value);
    }
    free(order);
}

/* An event's name is one word. */
static void add_event(struct buffer *out, const char *name, const char *end) {
    buffer_add_char(out, ' ');
    for (; *name; name++)
        buffer_add_char(out, *name == ' ' || *name == ':' || *name == '\n' ? '_' : *name);
    buffer_add_text(out, end);
}

static void add_header(struct callgrind *writer, const char *title) {
    const struct model *model = writer->model;
    buffer_printf(writer->out, "# callgrind format\nversion: 1\ncreator: clear " CLEAR_VERSION "\ncmd: ");
    for (; *title; title++)
        buffer_add_char(writer->out, *title == '\n' ? ' ' : *title);
    buffer_add_text(writer->out, "\npositions: line\nevents:");
    if (model->has_base) {
        add_event(writer->out, model_type_name(model, model->type), "_before");
        add_event(writer->out, model_type_name(model, model->type), "_after");
    }
    for (size_t i = 0; i < writer->events && !model->has_base; i++)
        add_event(writer->out, model_type_name(model, i), "");
    buffer_add_char(writer->out, '\n');
}

static void add_totals(struct callgrind *writer) {
    buffer_add_text(writer->out, "summary:");
    for (size_t event = 0; event < writer->events; event++) {
        int64_t sum = 0;
        for (size_t i = 0; i < writer->places.count; i++) {
            const struct map_entry *entry = &writer->places.entries[i];
            if (((const struct place *)entry->key)->callee == NO_CALLEE)
                sum += writer->costs[(size_t)entry->value * writer->events + event];
        }
        buffer_printf(writer->out, " %lld", (long long)sum);
    }
    buffer_add_char(writer->out, '\n');
}

static int check_signs(const struct callgrind *writer, const model_sample *sample, struct error *err) {
    for (size_t i = 0; i < writer->events; i++)
        if (event_of(writer, sample, i) < 0)
            return error_fail(err, "callgrind's format has no negative values: choose another format");
    return 0;
}

int callgrind_render(const struct drawing *drawing, struct error *err) {
    const struct model *model = drawing->model;
    struct callgrind writer = {.model = model, .out = drawing->out};
    struct buffer frames = {0}, calls = {0};
    writer.events = model->has_base ? 2 : model->profile->n_sample_type;
    int code = 0;
    for (size_t i = 0; code == 0 && i < model->profile->n_sample; i++) {
        code = check_signs(&writer, model->profile->sample[i], err);
        if (code == 0) code = add_sample(&writer, model->profile->sample[i], &frames, &calls, err);
    }
    if (code == 0) {
        add_header(&writer, drawing->title);
        add_totals(&writer);
        add_places(&writer);
    }
    buffer_free(&frames);
    buffer_free(&calls);
    map_free(&writer.function_ids);
    map_free(&writer.places);
    map_free(&writer.named);
    free(writer.functions);
    free(writer.costs);
    return code;
}
