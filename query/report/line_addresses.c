#include "query/report/line_addresses.h"

#include <stdlib.h>
#include <string.h>

#include "base/sum.h"
#include "query/code/machine_code.h"

enum match { UNKNOWN, YES, NO };

struct address_search {
    const struct profile *profile;
    struct pattern *pattern;
    uint64_t address; /* the pattern as a number */
    bool is_address;
    struct line_addresses *addresses;
    struct map places;                   /* file and address -> index + 1 */
    size_t *address_of;                  /* [location]: index + 1 */
    unsigned char *functions, *mappings; /* enum match */
    uint32_t *files;                     /* [mapping]: the first of that file */
    uint64_t next_synthetic;
    struct map *interest, *readable;
};

static bool matches(struct address_search *search, unsigned char *known, const char *const *texts, size_t count) {
    if (*known == UNKNOWN) {
        *known = NO;
        for (size_t i = 0; i < count; i++)
            if (pattern_matches(search->pattern, texts[i])) *known = YES;
    }
    return *known == YES;
}

static bool function_matches(struct address_search *search, uint32_t index) {
    const struct profile_function *function = &search->profile->functions[index];
    const char *const texts[] = {function->name, function->system_name, function->file};
    return matches(search, &search->functions[index], texts, 3);
}

static bool mapping_matches(struct address_search *search, uint32_t index) {
    return index != PROFILE_NONE &&
           matches(search, &search->mappings[index], &search->profile->mappings[index].file, 1);
}

static void mark(struct address_search *search, struct line_address *line_address, const struct profile_line *line) {
    const struct profile_function *function = &search->profile->functions[line->function];
    /* A function without a name would be every one that the binary does not know. */
    if (*function->name) map_put(search->interest, function->name, strlen(function->name), NULL);
    if (*function->system_name) map_put(search->interest, function->system_name, strlen(function->system_name), NULL);
    line_address->is_wanted = true;
}

/* At the pattern's address the function that was called; else each that matches, inlined ones too; in a binary that matches
 * the innermost. */
static void mark_location(struct address_search *search, struct line_address *line_address,
                          const struct profile_location *location) {
    const struct profile_line *lines = search->profile->lines + location->first_line;
    if (search->is_address && line_address->address == search->address) {
        if (location->line_count) mark(search, line_address, &lines[location->line_count - 1]);
        return;
    }
    for (size_t i = 0; i < location->line_count; i++)
        if ((i == 0 && mapping_matches(search, location->mapping)) || function_matches(search, lines[i].function))
            mark(search, line_address, &lines[i]);
}

static struct line_address *find_line_address(struct address_search *search, uint32_t index) {
    struct line_addresses *addresses = search->addresses;
    const struct profile_location *location = &search->profile->locations[index];
    if (search->address_of[index]) return &addresses->items[search->address_of[index] - 1];
    struct line_address line_address = {.file = location->mapping == PROFILE_NONE ? PROFILE_NONE
                                                                                  : search->files[location->mapping],
                                        .location = index,
                                        .address = location->address,
                                        .is_synthetic = location->address == 0};
    if (line_address.is_synthetic) line_address.address = search->next_synthetic++;
    const uint64_t key[] = {line_address.file, line_address.address};
    bool added;
    struct map_entry *entry = map_put(&search->places, key, sizeof key, &added);
    if (added) {
        addresses->items[addresses->count] = line_address;
        entry->value = (int64_t)++addresses->count;
    }
    search->address_of[index] = (size_t)entry->value;
    struct line_address *found = &addresses->items[entry->value - 1];
    mark_location(search, found, location);
    return found;
}

static void add_samples(struct address_search *search, const struct report *report) {
    const struct profile *profile = search->profile;
    for (size_t sample = 0; sample < profile->sample_count; sample++) {
        const struct profile_stack *stack = &profile->stacks[profile->samples[sample].stack];
        int64_t value = profile_value(profile, sample, report->type);
        int64_t divisor = report->mean_type == PROFILE_NONE ? 0 : profile_value(profile, sample, report->mean_type);
        if (divisor) value /= divisor;
        for (uint32_t i = stack->depth; i-- > 0;) {
            struct line_address *line_address = find_line_address(search, profile->frames[stack->first + i]);
            if (i == 0) line_address->flat += value;
            if (line_address->stamp == sample + 1) continue; /* a recursion */
            line_address->stamp = sample + 1;
            line_address->cum += value;
        }
    }
}

static void open_names(struct address_search *search) {
    const struct profile *profile = search->profile;
    search->next_synthetic = 1;
    for (uint32_t i = 0; i < profile->mapping_count; i++) {
        uint32_t first = 0;
        while (!code_is_one_file(profile, first, i))
            first++;
        search->files[i] = first;
        if (profile->mappings[i].limit > search->next_synthetic) search->next_synthetic = profile->mappings[i].limit;
    }
    for (size_t i = 0; i < profile->function_count; i++) {
        const struct profile_function *function = &profile->functions[i];
        map_put(search->readable, function->system_name, strlen(function->system_name), NULL)->value =
            (intptr_t)function->name;
    }
}

static int compare_line_addresses(const void *left, const void *right) {
    const struct line_address *a = left, *b = right;
    if (a->file != b->file) return a->file < b->file ? -1 : 1;
    return (a->address > b->address) - (a->address < b->address);
}

void line_addresses_find(struct line_addresses *addresses, const struct report *report, struct pattern *pattern,
                         struct map *interest, struct map *readable) {
    const struct profile *profile = report->profile;
    struct address_search search = {.profile = profile,
                                    .pattern = pattern,
                                    .addresses = addresses,
                                    .address_of = xcalloc(profile->location_count + 1, sizeof(size_t)),
                                    .functions = xcalloc(profile->function_count + 1, 1),
                                    .mappings = xcalloc(profile->mapping_count + 1, 1),
                                    .files = xcalloc(profile->mapping_count + 1, sizeof(uint32_t)),
                                    .interest = interest,
                                    .readable = readable};
    *addresses = (struct line_addresses){.items = xcalloc(profile->location_count + 1, sizeof(struct line_address))};
    search.is_address = code_parse_address(report->options.symbol, &search.address);
    open_names(&search);
    add_samples(&search, report);
    if (addresses->count) qsort(addresses->items, addresses->count, sizeof *addresses->items, compare_line_addresses);
    map_free(&search.places);
    free(search.address_of);
    free(search.functions);
    free(search.mappings);
    free(search.files);
}

void line_addresses_free(struct line_addresses *addresses) {
    free(addresses->items);
    *addresses = (struct line_addresses){0};
}

void line_addresses_sum(const struct line_addresses *addresses, uint32_t file, uint64_t address, uint64_t length,
                        int64_t *flat, int64_t *cum, bool *overflows) {
    const struct line_address key = {.file = file, .address = address};
    size_t low = 0;
    *flat = *cum = 0;
    for (size_t high = addresses->count; low < high;) {
        size_t middle = (low + high) / 2;
        if (compare_line_addresses(&addresses->items[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < addresses->count && addresses->items[low].file == file &&
           addresses->items[low].address - address < length;
         low++) {
        sum_add(flat, addresses->items[low].flat, overflows);
        sum_add(cum, addresses->items[low].cum, overflows);
    }
}
