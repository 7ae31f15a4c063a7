#include "query/report/line_addresses.h"

#include <stdlib.h>
#include <string.h>

#include "query/code/machine_code.h"

enum match { UNKNOWN, YES, NO };

struct spotting {
    const struct profile *profile;
    struct pattern *pattern;
    uint64_t address; /* the pattern as a number */
    bool is_address;
    struct spots *spots;
    struct map places;                   /* file and address -> index + 1 */
    size_t *spot_of;                     /* [location]: index + 1 */
    unsigned char *functions, *mappings; /* enum match */
    uint32_t *files;                     /* [mapping]: the first of that file */
    uint64_t next_synthetic;
    struct map *interest, *readable;
};

static bool matches(struct spotting *spotting, unsigned char *known, const char *const *texts, size_t count) {
    if (*known == UNKNOWN) {
        *known = NO;
        for (size_t i = 0; i < count; i++)
            if (pattern_matches(spotting->pattern, texts[i])) *known = YES;
    }
    return *known == YES;
}

static bool function_matches(struct spotting *spotting, uint32_t index) {
    const struct profile_function *function = &spotting->profile->functions[index];
    const char *const texts[] = {function->name, function->system_name, function->file};
    return matches(spotting, &spotting->functions[index], texts, 3);
}

static bool mapping_matches(struct spotting *spotting, uint32_t index) {
    return index != PROFILE_NONE &&
           matches(spotting, &spotting->mappings[index], &spotting->profile->mappings[index].file, 1);
}

static void mark(struct spotting *spotting, struct spot *spot, const struct profile_line *line) {
    const struct profile_function *function = &spotting->profile->functions[line->function];
    /* A function without a name would be every one that the binary does not know. */
    if (*function->name) map_put(spotting->interest, function->name, strlen(function->name), NULL);
    if (*function->system_name) map_put(spotting->interest, function->system_name, strlen(function->system_name), NULL);
    spot->is_wanted = true;
}

/* At the pattern's address the function that was called; else each that matches, inlined ones too; in a binary that matches
 * the innermost. */
static void mark_location(struct spotting *spotting, struct spot *spot, const struct profile_location *location) {
    const struct profile_line *lines = spotting->profile->lines + location->first_line;
    if (spotting->is_address && spot->address == spotting->address) {
        if (location->line_count) mark(spotting, spot, &lines[location->line_count - 1]);
        return;
    }
    for (size_t i = 0; i < location->line_count; i++)
        if ((i == 0 && mapping_matches(spotting, location->mapping)) || function_matches(spotting, lines[i].function))
            mark(spotting, spot, &lines[i]);
}

static struct spot *find_spot(struct spotting *spotting, uint32_t index) {
    struct spots *spots = spotting->spots;
    const struct profile_location *location = &spotting->profile->locations[index];
    if (spotting->spot_of[index]) return &spots->items[spotting->spot_of[index] - 1];
    struct spot spot = {.file = location->mapping == PROFILE_NONE ? PROFILE_NONE : spotting->files[location->mapping],
                        .location = index,
                        .address = location->address,
                        .is_synthetic = location->address == 0};
    if (spot.is_synthetic) spot.address = spotting->next_synthetic++;
    const uint64_t key[] = {spot.file, spot.address};
    bool added;
    struct map_entry *entry = map_put(&spotting->places, key, sizeof key, &added);
    if (added) {
        spots->items[spots->count] = spot;
        entry->value = (int64_t)++spots->count;
    }
    spotting->spot_of[index] = (size_t)entry->value;
    struct spot *found = &spots->items[entry->value - 1];
    mark_location(spotting, found, location);
    return found;
}

static void add_samples(struct spotting *spotting, const struct report *report) {
    const struct profile *profile = spotting->profile;
    for (size_t sample = 0; sample < profile->sample_count; sample++) {
        const struct profile_stack *stack = &profile->stacks[profile->samples[sample].stack];
        int64_t value = profile_value(profile, sample, report->type);
        int64_t divisor = report->mean_type == PROFILE_NONE ? 0 : profile_value(profile, sample, report->mean_type);
        if (divisor) value /= divisor;
        for (uint32_t i = stack->depth; i-- > 0;) {
            struct spot *spot = find_spot(spotting, profile->frames[stack->first + i]);
            if (i == 0) spot->flat += value;
            if (spot->stamp == sample + 1) continue; /* a recursion */
            spot->stamp = sample + 1;
            spot->cum += value;
        }
    }
}

static void open_names(struct spotting *spotting) {
    const struct profile *profile = spotting->profile;
    spotting->next_synthetic = 1;
    for (uint32_t i = 0; i < profile->mapping_count; i++) {
        uint32_t first = 0;
        while (!code_is_one_file(profile, first, i))
            first++;
        spotting->files[i] = first;
        if (profile->mappings[i].limit > spotting->next_synthetic)
            spotting->next_synthetic = profile->mappings[i].limit;
    }
    for (size_t i = 0; i < profile->function_count; i++) {
        const struct profile_function *function = &profile->functions[i];
        map_put(spotting->readable, function->system_name, strlen(function->system_name), NULL)->value =
            (intptr_t)function->name;
    }
}

static int compare_spots(const void *left, const void *right) {
    const struct spot *a = left, *b = right;
    if (a->file != b->file) return a->file < b->file ? -1 : 1;
    return (a->address > b->address) - (a->address < b->address);
}

void spots_find(struct spots *spots, const struct report *report, struct pattern *pattern, struct map *interest,
                struct map *readable) {
    const struct profile *profile = report->profile;
    struct spotting spotting = {.profile = profile,
                                .pattern = pattern,
                                .spots = spots,
                                .spot_of = xcalloc(profile->location_count + 1, sizeof(size_t)),
                                .functions = xcalloc(profile->function_count + 1, 1),
                                .mappings = xcalloc(profile->mapping_count + 1, 1),
                                .files = xcalloc(profile->mapping_count + 1, sizeof(uint32_t)),
                                .interest = interest,
                                .readable = readable};
    *spots = (struct spots){.items = xcalloc(profile->location_count + 1, sizeof(struct spot))};
    spotting.is_address = code_parse_address(report->options.symbol, &spotting.address);
    open_names(&spotting);
    add_samples(&spotting, report);
    if (spots->count) qsort(spots->items, spots->count, sizeof *spots->items, compare_spots);
    map_free(&spotting.places);
    free(spotting.spot_of);
    free(spotting.functions);
    free(spotting.mappings);
    free(spotting.files);
}

void spots_free(struct spots *spots) {
    free(spots->items);
    *spots = (struct spots){0};
}

void spots_sum(const struct spots *spots, uint32_t file, uint64_t address, uint64_t length, int64_t *flat,
               int64_t *cum) {
    const struct spot key = {.file = file, .address = address};
    size_t low = 0;
    *flat = *cum = 0;
    for (size_t high = spots->count; low < high;) {
        size_t middle = (low + high) / 2;
        if (compare_spots(&spots->items[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < spots->count && spots->items[low].file == file && spots->items[low].address - address < length;
         low++) {
        *flat += spots->items[low].flat;
        *cum += spots->items[low].cum;
    }
}
