#include "export/model.h"

#include <stdlib.h>
#include <string.h>

#include "base/hex.h"
#include "base/path.h"
#include "base/units.h"

const char *model_text(const struct model *model, int64_t index) {
    return index >= 0 && (size_t)index < model->profile->n_string_table ? model->profile->string_table[index] : "";
}

const char *model_type_name(const struct model *model, size_t type) {
    return model_text(model, model->profile->sample_type[type]->type);
}

const char *model_type_unit(const struct model *model, size_t type) {
    return model_text(model, model->profile->sample_type[type]->unit);
}

struct units_text model_value_text(const struct model *model, int64_t value) {
    const char *unit = model_type_unit(model, model->type);
    if (strcmp(unit, "bytes") == 0) return units_bytes(value);
    if (strcmp(unit, "nanoseconds") == 0) return units_ns(value);
    return units_count(value);
}

/* ---- frames ---- */

/* Ids are 1, 2, 3 ... in the order of the file for all but mappings: export/pprof.c writes them so. */
static const Perftools__Profiles__Mapping *find_mapping(const struct model *model, uint64_t id) {
    for (size_t i = 0; i < model->profile->n_mapping; i++)
        if (model->profile->mapping[i]->id == id) return model->profile->mapping[i];
    return NULL;
}

static const char *name_address(struct model *model, const Perftools__Profiles__Location *location,
                                const Perftools__Profiles__Mapping *mapping) {
    const char *module = mapping ? model_text(model, mapping->filename) : "";
    char *name = *module ? xasprintf("%s+%s", path_base(module),
                                     hex_address(location->address - mapping->memory_start + mapping->file_offset).text)
                         : xstrdup(hex_address(location->address).text);
    const char *kept = arena_text(&model->texts, name, strlen(name));
    free(name);
    return kept;
}

static void add_frame(struct model *model, struct model_frame frame) {
    bool added;
    struct map_entry *entry = map_put(&model->names, frame.name, strlen(frame.name), &added);
    if (added) entry->value = (int64_t)model->names.count - 1;
    frame.name_id = (uint32_t)entry->value;
    model->frames[model->frame_count++] = frame;
}

static void add_location(struct model *model, const Perftools__Profiles__Location *location) {
    const Perftools__Profiles__Mapping *mapping = find_mapping(model, location->mapping_id);
    struct model_frame frame = {
        .file = "", .module = mapping ? model_text(model, mapping->filename) : "", .address = location->address};
    model->first_frames[location->id] = model->frame_count;
    for (size_t i = 0; i < location->n_line; i++) {
        const Perftools__Profiles__Line *line = location->line[i];
        const Perftools__Profiles__Function *function = model->profile->function[line->function_id - 1];
        frame.name = model_text(model, function->name);
        if (!*frame.name) frame.name = name_address(model, location, mapping);
        frame.file = model_text(model, function->filename);
        frame.line = line->line;
        frame.inlined = i + 1 < location->n_line;
        add_frame(model, frame);
    }
    if (location->n_line) return;
    frame.name = name_address(model, location, mapping);
    add_frame(model, frame);
}

static void add_locations(struct model *model) {
    const Perftools__Profiles__Profile *profile = model->profile;
    size_t count = 0;
    for (size_t i = 0; i < profile->n_location; i++)
        count += profile->location[i]->n_line ? profile->location[i]->n_line : 1;
    model->frames = xcalloc(count + 1, sizeof *model->frames);
    model->first_frames = xcalloc(profile->n_location + 2, sizeof *model->first_frames);
    for (size_t i = 0; i < profile->n_location; i++)
        add_location(model, profile->location[i]);
    model->first_frames[profile->n_location + 1] = model->frame_count;
}

/* ---- samples ---- */

size_t model_stack(const struct model *model, const model_sample *sample, struct buffer *stack) {
    buffer_clear(stack);
    for (size_t i = 0; i < sample->n_location_id; i++) {
        size_t id = sample->location_id[i];
        for (size_t frame = model->first_frames[id]; frame < model->first_frames[id + 1]; frame++) {
            uint32_t index = (uint32_t)frame;
            buffer_add(stack, &index, sizeof index);
        }
    }
    return stack->size / sizeof(uint32_t);
}

bool model_is_base(const struct model *model, const model_sample *sample) {
    for (size_t i = 0; i < sample->n_label; i++)
        if (strcmp(model_text(model, sample->label[i]->key), "pprof::base") == 0) return true;
    return false;
}

/* ---- which value ---- */

static bool names_type(const struct model *model, size_t type, const char *wanted) {
    const char *name = model_type_name(model, type), *unit = model_type_unit(model, type);
    size_t size = strlen(name);
    if (strcmp(name, wanted) == 0) return true;
    return strncmp(wanted, name, size) == 0 && wanted[size] == '/' && strcmp(wanted + size + 1, unit) == 0;
}

static int choose_type(struct model *model, const char *wanted, struct error *err) {
    const Perftools__Profiles__Profile *profile = model->profile;
    model->type = profile->n_sample_type - 1;
    const char *name = wanted ? wanted : model_text(model, profile->default_sample_type);
    if (!*name) return 0;
    for (size_t i = 0; i < profile->n_sample_type; i++)
        if (names_type(model, i, name)) {
            model->type = i;
            return 0;
        }
    if (!wanted) return 0;
    struct buffer known = {0};
    for (size_t i = 0; i < profile->n_sample_type; i++)
        buffer_printf(&known, "%s%s", i ? ", " : "", model_type_name(model, i));
    error_usage(err, "--type %s: the profile has %s", wanted, buffer_text(&known));
    buffer_free(&known);
    return -1;
}

int model_open(struct model *model, const struct buffer *bytes, const char *type, struct error *err) {
    *model = (struct model){0};
    model->profile = perftools__profiles__profile__unpack(NULL, bytes->size, (const uint8_t *)bytes->data);
    if (!model->profile) return error_fail(err, "not enough memory for a profile of %zu bytes", bytes->size);
    add_locations(model);
    for (size_t i = 0; i < model->profile->n_sample && !model->has_base; i++)
        model->has_base = model_is_base(model, model->profile->sample[i]);
    return choose_type(model, type, err);
}

void model_free(struct model *model) {
    if (model->profile) perftools__profiles__profile__free_unpacked(model->profile, NULL);
    free(model->frames);
    free(model->first_frames);
    map_free(&model->names);
    arena_free(&model->texts);
    *model = (struct model){0};
}
