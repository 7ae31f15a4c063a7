#include "query/report/line_code.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "query/report/line_addresses.h"

enum {
    EXPAND = 500,       /* bytes of code shown around what was sampled */
    RANGES_MAX = 25,    /* disassembled; of the others only lines are shown */
    NEIGHBOURHOOD = 32, /* bytes within which code without a line is taken for that before it */
    LEAD_MAX = 1 << 16, /* bytes before a range in which its function may begin */
};

/* Code to disassemble: of the binary of `mapping`, around addresses of the profile. */
struct code_range {
    uint32_t mapping;
    uint64_t begin, end, in_file; /* in_file: where begin is */
    int64_t score;
    const struct line_address *addresses; /* those that it was made for */
    size_t address_count;
    struct instructions code;
    struct code_frames *frames; /* of each instruction */
    bool is_done;
};

struct line_search {
    struct line_code *lines;
    struct code *code;
    const struct report *report;
    struct line_addresses addresses;
    struct line_address *wanted; /* a copy of those that are, by file and address */
    size_t wanted_count;
    struct code_range *ranges;
    size_t range_count;
};

/* ---- points and lines ---- */

static size_t add_point(struct line_code *lines, const struct code_point *point) {
    if (lines->point_count == lines->point_room) {
        lines->point_room = lines->point_room ? lines->point_room * 2 : 256;
        lines->points = xrealloc(lines->points, lines->point_room * sizeof *lines->points);
    }
    lines->points[lines->point_count] = *point;
    return lines->point_count++;
}

/* As a page calls it: without what build systems put in front, and clean. */
static const char *canonical_path(struct profile *profile, const char *path) {
    static const char *const prefixes[] = {"/proc/self/cwd/", "./"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(path, prefixes[i], strlen(prefixes[i])) == 0) path += strlen(prefixes[i]);
    return graph_clean_path(profile, profile_text(profile, path));
}

/* The point at the line of each of its frames that is of a function to be shown. */
static void add_entries(struct line_search *found, size_t point, const struct code_frames *frames) {
    struct line_code *lines = found->lines;
    for (size_t i = 0; i < frames->count; i++) {
        const struct code_frame *frame = &frames->items[i];
        if (!map_find(&lines->interest, frame->function, strlen(frame->function))) continue;
        if (lines->entry_count == lines->entry_room) {
            lines->entry_room = lines->entry_room ? lines->entry_room * 2 : 256;
            lines->entries = xrealloc(lines->entries, lines->entry_room * sizeof *lines->entries);
        }
        lines->entries[lines->entry_count] =
            (struct line_entry){.path = canonical_path(found->report->profile, frame->file),
                                .line = frame->line,
                                .function = frame->function,
                                .callees = frames->items,
                                .callee_count = i,
                                .point = point,
                                .order = lines->entry_count};
        lines->entry_count++;
    }
}

static int compare_entries(const void *left, const void *right) {
    const struct line_entry *a = left, *b = right;
    int order = strcmp(a->path, b->path);
    if (order == 0) order = (a->line > b->line) - (a->line < b->line);
    return order ? order : (a->order > b->order) - (a->order < b->order);
}

/* ---- what the profile says itself ---- */

static struct code_frames frames_of(struct line_search *found, const struct profile_location *location) {
    const struct profile *profile = found->code->profile;
    struct code_frame *frames = arena_alloc(&found->code->arena, (location->line_count + 1) * sizeof *frames);
    for (size_t i = 0; i < location->line_count; i++) {
        const struct profile_line *line = &profile->lines[location->first_line + i];
        const struct profile_function *function = &profile->functions[line->function];
        frames[i] = (struct code_frame){function->name, function->file, line->line};
    }
    return (struct code_frames){frames, location->line_count};
}

static void add_bare_address(struct line_search *found, const struct line_address *line_address) {
    struct code_frames frames = frames_of(found, &found->code->profile->locations[line_address->location]);
    struct code_point point = {.file = line_address->file,
                               .address = line_address->address,
                               .in_file = line_address->address,
                               .length = 1,
                               .text = "",
                               .place = {"", "", 0}};
    if (frames.count) point.place = frames.items[0];
    add_entries(found, add_point(found->lines, &point), &frames);
}

/* ---- ranges ---- */

static bool has_code(struct line_search *found, const struct line_address *line_address) {
    uint64_t in_file;
    return !line_address->is_synthetic && found->code->tools.disassembler &&
           code_address(found->code, found->code->profile->locations[line_address->location].mapping,
                        line_address->address, &in_file);
}

/* The range around wanted[first] and those behind it that are near; gives how many it took. */
static size_t make_range(struct line_search *found, size_t first, struct code_range *range) {
    const struct line_address *addresses = found->wanted + first;
    uint32_t mapping = found->code->profile->locations[addresses->location].mapping;
    const struct profile_mapping *map = &found->code->profile->mappings[mapping];
    size_t count = 1;
    range->score = addresses->flat;
    for (; first + count < found->wanted_count && addresses[count].file == addresses->file; count++) {
        const struct line_address *next = &addresses[count];
        if (next->address - addresses[count - 1].address > 2 * EXPAND || next->address >= map->limit) break;
        range->score += next->flat;
    }
    uint64_t last = addresses[count - 1].address;
    range->mapping = mapping;
    range->begin = addresses->address - map->start > EXPAND ? addresses->address - EXPAND : map->start;
    range->end = map->limit - last > EXPAND ? last + EXPAND : map->limit;
    range->addresses = addresses;
    range->address_count = count;
    return count;
}

static int compare_ranges(const void *left, const void *right) {
    const struct code_range *a = left, *b = right;
    if (a->score != b->score) return a->score > b->score ? -1 : 1;
    return (a->addresses > b->addresses) - (a->addresses < b->addresses);
}

/* Those with code become ranges, the others stand for themselves. */
static void split(struct line_search *found) {
    size_t count;
    found->ranges = xcalloc(found->wanted_count + 1, sizeof *found->ranges);
    for (size_t i = 0; i < found->wanted_count; i += count) {
        count = 1;
        if (has_code(found, &found->wanted[i]))
            count = make_range(found, i, &found->ranges[found->range_count++]);
        else
            add_bare_address(found, &found->wanted[i]);
    }
    if (found->range_count) qsort(found->ranges, found->range_count, sizeof *found->ranges, compare_ranges);
}

/* Code is only read right from where an instruction begins, so from the start of the function that the range begins in. */
static uint64_t start_of_function(struct binary *binary, uint64_t address) {
    size_t count;
    const struct binary_symbol *symbols = binary_symbols(binary, &count);
    size_t above = SEARCH_ABOVE(struct binary_symbol, symbols, count, address, address);
    if (above == 0 || address - symbols[above - 1].address > LEAD_MAX) return address;
    return symbols[above - 1].address;
}

static int disassemble(struct line_search *found, struct code_range *range, struct error *err) {
    struct binary *binary = code_binary(found->code, range->mapping);
    size_t kept = 0;
    uint64_t past = 0;
    if (!code_address(found->code, range->mapping, range->begin, &range->in_file)) return -1;
    if (objdump_disassemble(&found->code->tools, binary_path(binary), start_of_function(binary, range->in_file),
                            range->in_file + (range->end - range->begin), &found->code->arena, &range->code, err) < 0)
        return -1;
    for (size_t i = 0; i < range->code.count; i++) {
        const struct instruction *each = &range->code.items[i];
        if (each->address < range->in_file || (kept && each->address <= past)) continue; /* said twice */
        past = each->address;
        range->code.items[kept++] = *each;
    }
    range->code.count = kept;
    range->frames = xcalloc(kept + 1, sizeof *range->frames);
    range->is_done = true;
    return 0;
}

/* What the disassembler said of lines, where nothing better is known. */
static void take_places(struct line_search *found, struct code_range *range) {
    for (size_t i = 0; i < range->code.count; i++) {
        const struct instruction *each = &range->code.items[i];
        struct code_frame *frame = arena_alloc(&found->code->arena, sizeof *frame);
        *frame = (struct code_frame){each->function, each->file, each->line};
        range->frames[i] = (struct code_frames){frame, 1};
    }
}

static void note_failure(const struct code *code, const struct error *failure) {
    if (failure->status != ERROR_NONE) code_note(code, failure->message);
}

/* All ranges of one file in one go: for a large one, reading its debug information is nearly all of the time. */
static void find_frames(struct line_search *found, uint32_t mapping) {
    size_t count = 0, at = 0;
    for (size_t i = 0; i < found->range_count; i++)
        count += found->ranges[i].code.count;
    uint64_t *addresses = xcalloc(count + 1, sizeof *addresses);
    struct code_frames *frames = xcalloc(count + 1, sizeof *frames);
    struct error failure = {0};
    count = 0;
    for (size_t i = 0; i < found->range_count; i++)
        for (size_t j = 0; j < found->ranges[i].code.count; j++)
            if (code_is_one_file(found->code->profile, found->ranges[i].mapping, mapping))
                addresses[count++] = found->ranges[i].code.items[j].address;
    int code = objdump_lines(&found->code->tools, code_binary(found->code, mapping), addresses, count,
                             &found->code->arena, frames, &failure);
    note_failure(found->code, &failure);
    for (size_t i = 0; i < found->range_count; i++) {
        struct code_range *range = &found->ranges[i];
        if (!range->is_done || !code_is_one_file(found->code->profile, range->mapping, mapping)) continue;
        if (code < 0)
            take_places(found, range);
        else
            memcpy(range->frames, frames + at, range->code.count * sizeof *frames);
        at += range->code.count;
    }
    free(frames);
    free(addresses);
}

/* What a transpiler made is shown as what it was made of, as in every other report. */
static void restore_originals(struct line_search *found, struct code_frames *frames) {
    const struct sources *sources = found->report->options.sources;
    struct code_frame *copy = NULL;
    for (size_t i = 0; i < frames->count; i++) {
        const char *path = graph_clean_path(found->report->profile, frames->items[i].file);
        int64_t line = frames->items[i].line;
        const char *original = sources_original(sources, path, &line);
        if (!original) continue;
        if (!copy) copy = arena_copy(&found->code->arena, frames->items, frames->count * sizeof *copy);
        copy[i].file = original;
        copy[i].line = line;
        frames->items = copy;
    }
}

/* An instruction without a line belongs to the line before it, where that is near. */
static void add_range(struct line_search *found, const struct code_range *range) {
    const struct code_frames *last = NULL;
    uint64_t last_address = 0;
    for (size_t i = 0; i < range->code.count; i++) {
        const struct instruction *each = &range->code.items[i];
        const struct code_frames *frames = &range->frames[i];
        restore_originals(found, &range->frames[i]);
        struct code_point point = {.file = range->addresses->file,
                                   .address = each->address - range->in_file + range->begin,
                                   .in_file = each->address,
                                   .length = i + 1 < range->code.count ? each[1].address - each->address : 1,
                                   .text = each->text,
                                   .place = {"", "", 0}};
        if (frames->count) point.place = frames->items[0];
        if (frames->count && frames->items[0].line) {
            last = frames;
            last_address = point.address;
        } else if (last && point.address - last_address <= NEIGHBOURHOOD) {
            frames = last;
        }
        add_entries(found, add_point(found->lines, &point), frames);
    }
}

static void add_ranges(struct line_search *found) {
    struct error failure = {0};
    for (size_t i = 0; i < found->range_count; i++) {
        struct code_range *range = &found->ranges[i];
        if (i < RANGES_MAX && disassemble(found, range, &failure) == 0) continue;
        found->lines->left_out += i >= RANGES_MAX;
        for (size_t at = 0; at < range->address_count; at++)
            add_bare_address(found, &range->addresses[at]);
    }
    note_failure(found->code, &failure);
    for (size_t i = 0; i < found->range_count; i++) {
        bool is_first = found->ranges[i].is_done;
        for (size_t before = 0; before < i && is_first; before++)
            is_first = !found->ranges[before].is_done ||
                       !code_is_one_file(found->code->profile, found->ranges[before].mapping, found->ranges[i].mapping);
        if (is_first) find_frames(found, found->ranges[i].mapping);
    }
    for (size_t i = 0; i < found->range_count; i++)
        if (found->ranges[i].is_done) add_range(found, &found->ranges[i]);
}

/* ---- all ---- */

static void take_wanted(struct line_search *found) {
    found->wanted = xcalloc(found->addresses.count + 1, sizeof *found->wanted);
    for (size_t i = 0; i < found->addresses.count; i++)
        if (found->addresses.items[i].is_wanted) found->wanted[found->wanted_count++] = found->addresses.items[i];
}

static void sum_points(struct line_search *found) {
    struct line_code *lines = found->lines;
    for (size_t i = 0; i < lines->point_count; i++) {
        struct code_point *point = &lines->points[i];
        line_addresses_sum(&found->addresses, point->file, point->address, point->length, &point->flat, &point->cum,
                           &lines->overflows);
    }
}

int line_code_find(struct line_code *lines, const struct report *report, struct code *code, struct pattern *pattern,
                   struct error *err) {
    struct line_search found = {.lines = lines, .code = code, .report = report};
    *lines = (struct line_code){.code = code};
    line_addresses_find(&found.addresses, report, pattern, &lines->interest, &lines->readable);
    take_wanted(&found);
    bool any = lines->interest.count > 0;
    if (any && !code->tools.disassembler) {
        struct error missing = {0};
        (void)objdump_check(&code->tools, &missing);
        note_failure(code, &missing);
    }
    split(&found);
    add_ranges(&found);
    sum_points(&found);
    if (lines->entry_count) qsort(lines->entries, lines->entry_count, sizeof *lines->entries, compare_entries);
    for (size_t i = 0; i < found.range_count; i++) {
        free(found.ranges[i].code.items);
        free(found.ranges[i].frames);
    }
    free(found.ranges);
    free(found.wanted);
    line_addresses_free(&found.addresses);
    if (!any) return error_usage(err, "no matches found for regexp: %s", report->options.symbol);
    return 0;
}

void line_code_free(struct line_code *lines) {
    free(lines->points);
    free(lines->entries);
    map_free(&lines->interest);
    map_free(&lines->readable);
    *lines = (struct line_code){0};
}

const char *line_code_readable(const struct line_code *lines, const char *function) {
    const struct map_entry *entry = map_find(&lines->readable, function, strlen(function));
    return entry ? (const char *)(intptr_t)entry->value : function;
}
