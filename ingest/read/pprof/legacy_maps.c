/* legacy_maps.c: the mappings at the end of a legacy profile, and which of them an address is in.
 *
 *     /proc/self/maps   START-LIMIT PERMISSIONS OFFSET MAJOR:MINOR INODE FILE
 *     gperftools'       START-LIMIT: [PERMISSIONS] FILE [(@OFFSET)] [BUILD_ID]
 *     NAME=VALUE        later lines have VALUE for each $NAME
 *
 * All but executable mappings are left out where permissions are given; lines that are none of these are skipped, as
 * are the prefixes of a log ("I0101 12:00:00 file.cc:12] "). pprof takes a file name that begins with r, w, x or p for
 * permissions; here they must be a word of their own. */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "ingest/read/pprof/legacy.h"

enum {
    ATTRIBUTES_MAX = 64,      /* NAME=VALUE lines */
    EXPANDED_MAX = 64 * 1024, /* bytes of a line after replacement; values may contain $NAMEs themselves */
    MAPPINGS_MAX = 65536,     /* the kernel's own limit of a process is 65530 */
};

bool legacy_is_map_title(struct span line) {
    return span_find(line, "--- Memory map: ---") || span_find(line, "MAPPED_LIBRARIES:");
}

/* ---- one line ---------------------------------------------------------------------------------------------------- */

static bool is_made_of(struct span word, const char *characters) {
    for (const char *at = word.at; at < word.end; at++)
        if (!*at || !strchr(characters, *at)) return false;
    return span_size(word) > 0;
}

static bool is_hex(struct span word) {
    return is_made_of(word, "0123456789abcdefABCDEF");
}

static bool is_device(struct span word) {
    struct span major;
    return span_find(word, ":") && span_field(&word, ':', &major) && is_hex(major) && is_hex(word);
}

static bool hex_value(struct span word, uint64_t *value) {
    return is_hex(word) && span_unsigned(&word, 16, value) == NUMBER_OK;
}

/* "START-LIMIT", "START LIMIT", each with or without 0x; a colon may follow. */
static bool take_range(struct span *line, uint64_t *start, uint64_t *limit) {
    span_skip_blanks(line);
    span_take(line, "0x");
    if (span_unsigned(line, 16, start) != NUMBER_OK) return false;
    const char *separator = line->at;
    span_take(line, "-");
    span_skip_blanks(line);
    if (line->at == separator) return false;
    span_take(line, "0x");
    if (span_unsigned(line, 16, limit) != NUMBER_OK) return false;
    span_take(line, ":");
    return true;
}

/* "(@OFFSET)" */
static bool at_offset(struct span word, uint64_t *offset) {
    if (!span_take(&word, "(@") || span_size(word) < 2 || word.end[-1] != ')') return false;
    word.end--;
    return hex_value(word, offset);
}

/* What follows the range in /proc/self/maps, from the offset on. */
static bool take_proc(struct span line, uint64_t *offset, struct span *file) {
    struct span word = span_word(&line);
    if (is_hex(word) && !hex_value(word, offset)) return false;
    if (is_hex(word)) word = span_word(&line);
    if (!is_device(word) || !is_made_of(span_word(&line), "0123456789")) return false;
    *file = span_word(&line);
    return true;
}

/* The same in the shorter form, from the file on. */
static void take_brief(struct span line, uint64_t *offset, struct span *file, struct span *build_id) {
    *file = span_word(&line);
    struct span word = span_word(&line);
    if (at_offset(word, offset)) word = span_word(&line);
    if (is_hex(word)) *build_id = word;
}

/* 1: a mapping, 0: one that holds no code, -1: something else. */
static int parse_mapping(struct span line, struct legacy_mapping *mapping, struct arena *arena) {
    struct span file = {0}, build_id = {0};
    *mapping = (struct legacy_mapping){0};
    if (!take_range(&line, &mapping->start, &mapping->limit)) return -1;
    if (line.at < line.end && *line.at != ' ' && *line.at != '\t') return -1;
    struct span rest = line, permissions = span_word(&rest);
    bool has_permissions = is_made_of(permissions, "-rwxp");
    if (has_permissions) line = rest;
    if (has_permissions && !span_find(permissions, "x")) return 0;
    if (!take_proc(line, &mapping->offset, &file)) {
        mapping->offset = 0;
        take_brief(line, &mapping->offset, &file, &build_id);
    }
    mapping->file = span_copy(file, arena);
    mapping->build_id = span_copy(build_id, arena);
    return 1;
}

/* ---- attributes -------------------------------------------------------------------------------------------------- */

struct attributes {
    struct {
        struct span name, value;
    } items[ATTRIBUTES_MAX];
    size_t count;
    struct arena texts;
    struct buffer line; /* expanded */
};

/* glog's prefix ends in "FILE:LINE] ". */
static struct span without_log_prefix(struct span line) {
    const char *at = line.at;
    while (at < line.end && *at != '[' && *at != ']')
        at++;
    if (at == line.end || *at != ']' || at + 1 == line.end || (at[1] != ' ' && at[1] != '\t')) return line;
    const char *digit = at;
    while (digit > line.at && digit[-1] >= '0' && digit[-1] <= '9')
        digit--;
    if (digit == at || digit < line.at + 2 || digit[-1] != ':') return line;
    return (struct span){at + 2, line.end};
}

static const struct span *find_attribute(const struct attributes *attributes, struct span *text) {
    for (size_t i = 0; i < attributes->count; i++) {
        struct span name = attributes->items[i].name;
        if (span_size(*text) < span_size(name) || memcmp(text->at, name.at, span_size(name)) != 0) continue;
        text->at += span_size(name);
        return &attributes->items[i].value;
    }
    return NULL;
}

/* The line with each $NAME replaced; false where it becomes too long. */
static bool expand(struct attributes *attributes, struct span *line) {
    if (attributes->count == 0 || !span_find(*line, "$")) return true;
    buffer_clear(&attributes->line);
    while (line->at < line->end) {
        const struct span *value = NULL;
        if (*line->at++ == '$') value = find_attribute(attributes, line);
        if (value)
            buffer_add(&attributes->line, value->at, span_size(*value));
        else
            buffer_add_char(&attributes->line, line->at[-1]);
        if (attributes->line.size > EXPANDED_MAX) return false;
    }
    const char *text = buffer_text(&attributes->line);
    *line = (struct span){text, text + attributes->line.size};
    return true;
}

static struct span keep(struct attributes *attributes, struct span text) {
    text = span_trim(text);
    char *copy = arena_text(&attributes->texts, text.at, span_size(text));
    return (struct span){copy, copy + span_size(text)};
}

static void learn_attribute(struct attributes *attributes, struct span line) {
    struct span name;
    if (!span_find(line, "=") || attributes->count == ATTRIBUTES_MAX) return;
    span_field(&line, '=', &name);
    attributes->items[attributes->count].name = keep(attributes, name);
    attributes->items[attributes->count++].value = keep(attributes, line);
}

/* ---- all lines --------------------------------------------------------------------------------------------------- */

static int add_mapping(struct legacy *legacy, const struct input_lines *lines, const struct legacy_mapping *mapping,
                       struct error *err) {
    if (legacy->mapping_count == MAPPINGS_MAX)
        return input_fail_line(err, lines, 0, "more than %d mappings", MAPPINGS_MAX);
    legacy->mappings = legacy_grow(legacy->mappings, legacy->mapping_count, sizeof *legacy->mappings);
    legacy->mappings[legacy->mapping_count++] = *mapping;
    return 0;
}

static int read_maps(struct legacy *legacy, struct input_lines *lines, struct attributes *attributes,
                     struct error *err) {
    while (input_next_line(lines)) {
        struct span line = without_log_prefix(span_of_line(lines));
        if (!expand(attributes, &line))
            return input_fail_line(err, lines, 0, "more than %d bytes once its $NAMEs are replaced", EXPANDED_MAX);
        struct legacy_mapping mapping;
        int state = parse_mapping(line, &mapping, &legacy->arena);
        if (state < 0) learn_attribute(attributes, line);
        if (state > 0 && add_mapping(legacy, lines, &mapping, err) != 0) return -1;
    }
    return 0;
}

/* Is `next` the continuation of `mapping`, which was split in two? */
static bool continues(const struct legacy_mapping *mapping, const struct legacy_mapping *next) {
    if (*mapping->file && *next->file && strcmp(mapping->file, next->file) != 0) return false;
    if (*mapping->build_id && *next->build_id && strcmp(mapping->build_id, next->build_id) != 0) return false;
    if (mapping->limit != next->start) return false;
    return !mapping->offset || !next->offset || mapping->offset + (mapping->limit - mapping->start) == next->offset;
}

static void join_split_mappings(struct legacy *legacy) {
    size_t kept = 0;
    for (size_t i = 1; i < legacy->mapping_count; i++) {
        struct legacy_mapping *last = &legacy->mappings[kept], *next = &legacy->mappings[i];
        if (continues(last, next)) {
            last->limit = next->limit;
            if (*next->file) last->file = next->file;
            if (*next->build_id) last->build_id = next->build_id;
        } else {
            legacy->mappings[++kept] = *next;
        }
    }
    if (legacy->mapping_count) legacy->mapping_count = kept + 1;
}

/* "NAME.so" or "NAME.so.1", "NAME.so_1" */
static bool is_library(const char *file) {
    for (const char *so = file; (so = strstr(so, ".so")); so += 3)
        if (!so[3] || ((so[3] == '.' || so[3] == '_') && so[4] >= '0' && so[4] <= '9')) return true;
    return false;
}

/* The main binary is the first mapping that has a name and is neither a library nor "[vdso]" and so on. It is swapped
 * with the first mapping. */
static void put_main_first(struct legacy *legacy) {
    for (size_t i = 0; i < legacy->mapping_count; i++) {
        const char *file = legacy->mappings[i].file;
        if (!*file || *file == '[' || strcmp(file, "(deleted)") == 0 || is_library(file)) continue;
        struct legacy_mapping first = legacy->mappings[0];
        legacy->mappings[0] = legacy->mappings[i];
        legacy->mappings[i] = first;
        return;
    }
}

int legacy_parse_maps(struct legacy *legacy, struct input_lines *lines, struct error *err) {
    struct attributes attributes = {.count = 0};
    int code = read_maps(legacy, lines, &attributes, err);
    arena_free(&attributes.texts);
    buffer_free(&attributes.line);
    if (code != 0) return -1;
    join_split_mappings(legacy);
    put_main_first(legacy);
    return 0;
}

int legacy_find_maps(struct legacy *legacy, struct input_lines *lines, struct error *err) {
    while (!legacy_is_map_title(span_of_line(lines)) && input_next_line(lines))
        ;
    if (legacy_parse_maps(legacy, lines, err) != 0) return -1;
    legacy_finish(legacy);
    return 0;
}

/* ---- addresses to mappings --------------------------------------------------------------------------------------- */

/* Corrects mappings of the main binary that some handlers write: with huge pages before it, or with an offset where
 * executables do not begin. */
static void mend_main_mapping(struct legacy *legacy) {
    struct legacy_mapping *main = legacy->mappings;
    if (legacy->mapping_count > 1 && strncmp(main->file, "/anon_hugepage", 14) == 0 && main->limit == main[1].start)
        memmove(main, main + 1, --legacy->mapping_count * sizeof *main);
    if (legacy->mapping_count && main->start - main->offset == 0x400000) {
        main->start = 0x400000;
        main->offset = 0;
    }
}

/* The mapping of each address: between edges[i] and edges[i + 1] it is mapping owners[i] - 1, or none where that is 0.
 * Of overlapping mappings, the first in the file has the address. A look-up is a binary search for any input: 200,000
 * addresses with 60,000 overlapping mappings took 19 s when each was compared with all, and take 2 s. */
enum { COMPLETED_MAX = 64 }; /* mappings whose first part was missing; handlers leave out one */

struct map_index {
    uint64_t *edges;
    uint32_t *owners;
    size_t edge_count;
    struct legacy_mapping *completed[COMPLETED_MAX]; /* mappings that were extended beyond their edges */
    size_t completed_count;
};

static int compare_edges(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* The number of edges at or below the address. */
static size_t edges_up_to(const struct map_index *index, uint64_t address) {
    return search_above_at(index->edges, index->edge_count, sizeof *index->edges, 0, address);
}

/* The first interval at or after `at` without a mapping. `next` links to it, and links are shortened on the way. */
static size_t first_free(uint32_t *next, size_t at) {
    while (next[at] != at) {
        next[at] = next[next[at]];
        at = next[at];
    }
    return at;
}

static void open_index(struct map_index *index, const struct legacy *legacy) {
    size_t count = 2 * legacy->mapping_count, kept = 0;
    index->edges = xcalloc(count + 1, sizeof *index->edges);
    index->owners = xcalloc(count + 1, sizeof *index->owners);
    for (size_t i = 0; i < legacy->mapping_count; i++) {
        index->edges[2 * i] = legacy->mappings[i].start;
        index->edges[2 * i + 1] = legacy->mappings[i].limit;
    }
    qsort(index->edges, count, sizeof *index->edges, compare_edges);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || index->edges[i] != index->edges[kept - 1]) index->edges[kept++] = index->edges[i];
    index->edge_count = kept;
    uint32_t *next = xcalloc(kept + 1, sizeof *next);
    for (size_t i = 0; i <= kept; i++)
        next[i] = (uint32_t)i;
    for (size_t i = 0; i < legacy->mapping_count; i++) {
        const struct legacy_mapping *mapping = &legacy->mappings[i];
        if (mapping->limit <= mapping->start) continue;
        size_t end = edges_up_to(index, mapping->limit) - 1;
        for (size_t at = edges_up_to(index, mapping->start) - 1; (at = first_free(next, at)) < end;
             next[at] = (uint32_t)at + 1)
            index->owners[at] = (uint32_t)i + 1;
    }
    free(next);
}

static void close_index(struct map_index *index) {
    free(index->edges);
    free(index->owners);
}

static bool holds(const struct legacy_mapping *mapping, uint64_t address) {
    return mapping->start <= address && address < mapping->limit;
}

static struct legacy_mapping *find_mapping(const struct map_index *index, struct legacy *legacy, uint64_t address) {
    size_t at = edges_up_to(index, address);
    uint32_t owner = at ? index->owners[at - 1] : 0;
    struct legacy_mapping *found = owner ? &legacy->mappings[owner - 1] : NULL;
    for (size_t i = 0; i < index->completed_count; i++)
        if (holds(index->completed[i], address) && (!found || index->completed[i] < found)) found = index->completed[i];
    return found;
}

/* Extends a mapping whose first part is missing, if the address is in that part. */
static struct legacy_mapping *complete_mapping(struct map_index *index, struct legacy *legacy, uint64_t address) {
    if (index->completed_count == COMPLETED_MAX) return NULL;
    for (size_t i = 0; i < legacy->mapping_count; i++) {
        struct legacy_mapping *mapping = &legacy->mappings[i];
        if (!mapping->offset || mapping->start - mapping->offset > address || address >= mapping->start) continue;
        mapping->start -= mapping->offset;
        mapping->offset = 0;
        return index->completed[index->completed_count++] = mapping;
    }
    return NULL;
}

/* Mappings of the locations that samples use, in the order of first use. An address outside of all gets `whole`, a
 * mapping of everything, as pprof gives to Go's profiles without mappings; and so do all that come after it. */
static void settle_location(struct map_index *index, struct legacy *legacy, struct legacy_location *location,
                            uint32_t *whole) {
    if (location->mapping || location->function || location->address == 0) return;
    struct legacy_mapping *mapping = find_mapping(index, legacy, location->address);
    if (!mapping && !*whole) mapping = complete_mapping(index, legacy, location->address);
    if (!mapping) *whole = (uint32_t)legacy->mapping_count + 1;
    location->mapping = mapping ? (uint32_t)(mapping - legacy->mappings) + 1 : *whole;
}

void legacy_finish(struct legacy *legacy) {
    struct map_index index = {0};
    uint32_t whole = 0;
    mend_main_mapping(legacy);
    open_index(&index, legacy);
    for (size_t i = 0; i < legacy->sample_count; i++)
        for (size_t k = 0; k < legacy->samples[i].depth; k++)
            settle_location(&index, legacy, &legacy->locations[legacy->samples[i].frames[k]], &whole);
    close_index(&index);
    if (!whole) return;
    legacy->mappings = legacy_grow(legacy->mappings, legacy->mapping_count, sizeof *legacy->mappings);
    legacy->mappings[legacy->mapping_count++] =
        (struct legacy_mapping){.limit = UINT64_MAX, .file = "", .build_id = ""};
}
