#include "ingest/record/names/python_codes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

void python_codes_put(struct python_codes *codes, const struct segment_code *code) {
    if (code->id >= codes->count) {
        size_t count = codes->count * 2 > code->id ? codes->count * 2 : code->id + 64;
        codes->items = xrealloc(codes->items, count * sizeof *codes->items);
        memset(codes->items + codes->count, 0, (count - codes->count) * sizeof *codes->items);
        codes->count = count;
    }
    struct python_code *item = &codes->items[code->id];
    if (item->name) return;
    const char *name = code->texts, *file = name + code->name_size, *lines = file + code->file_size;
    item->name = code->name_size ? xasprintf("%.*s", (int)code->name_size, name) : xstrdup("?");
    item->file = xasprintf("%.*s", (int)code->file_size, file);
    item->first_line = code->first_line > 0 ? code->first_line : 0;
    item->lines_size = code->lines_size;
    item->lines = xrealloc(NULL, item->lines_size + 1);
    memcpy(item->lines, lines, item->lines_size);
}

const struct python_code *python_code_of(const struct python_codes *codes, uint64_t pc) {
    uint64_t id = pc >> PYTHON_CODE_SHIFT & PYTHON_CODE_MAX;
    return id < codes->count && codes->items[id].name ? &codes->items[id] : NULL;
}

/* ---- the table of lines ------------------------------------------------------------------------------------------
 *
 * An entry begins with a byte that has its highest bit set: a form of four bits, and the number of code units that it is about, less one,
 * in three. What follows has no such bit. A varint has six bits a byte, the lowest first, and goes on where bit 6 is set; a signed one has
 * its sign in the lowest bit. */

enum { FORM_SHORT_MAX = 9, FORM_LINE_0 = 10, FORM_LINE_2 = 12, FORM_NO_COLUMNS = 13, FORM_LONG = 14, FORM_NONE = 15 };

struct line_table {
    const unsigned char *at, *end;
};

static unsigned read_byte(struct line_table *reading) {
    return reading->at < reading->end && !(*reading->at & 0x80) ? *reading->at++ : 0;
}

static int64_t read_varint(struct line_table *reading) {
    uint64_t value = 0;
    for (int shift = 0; shift < 32; shift += 6) {
        unsigned byte = read_byte(reading);
        value |= (uint64_t)(byte & 63) << shift;
        if (!(byte & 64)) break;
    }
    return (int64_t)value;
}

static int64_t read_signed(struct line_table *reading) {
    int64_t value = read_varint(reading);
    return value & 1 ? -(value >> 1) : value >> 1;
}

/* What an entry says; its line is relative to that of the entry before. */
struct code_place {
    int64_t line, column; /* column: from 0, -1 unknown */
    bool is_none;
};

static struct code_place read_place(struct line_table *reading, unsigned form) {
    struct code_place place = {.column = -1};
    if (form <= FORM_SHORT_MAX) {
        place.column = form * 8 + (read_byte(reading) >> 4);
    } else if (form <= FORM_LINE_2) {
        place.line = form - FORM_LINE_0;
        place.column = read_byte(reading);
    } else if (form == FORM_NONE) {
        place.is_none = true;
    } else {
        place.line = read_signed(reading);
        if (form == FORM_LONG) {
            read_varint(reading); /* lines to the end */
            place.column = read_varint(reading) - 1;
        }
    }
    return place;
}

void python_line(const struct python_code *code, uint64_t pc, int64_t *line, int64_t *column) {
    struct line_table reading = {code->lines, code->lines + code->lines_size};
    uint64_t unit = pc & ((1ull << PYTHON_CODE_SHIFT) - 1), end = 0;
    int64_t now = code->first_line;
    *line = code->first_line;
    *column = 0;
    while (unit && reading.at < reading.end) {
        unsigned head = *reading.at++;
        if (!(head & 0x80)) continue; /* the rest of an entry */
        struct code_place place = read_place(&reading, head >> 3 & 15);
        now += place.line;
        end += (head & 7) + 1;
        if (unit > end) continue;
        if (!place.is_none && now > 0 && now < INT32_MAX) {
            *line = now;
            *column = place.column + 1;
        }
        return;
    }
}

void python_codes_free(struct python_codes *codes) {
    for (size_t i = 0; i < codes->count; i++) {
        free(codes->items[i].name);
        free(codes->items[i].file);
        free(codes->items[i].lines);
    }
    free(codes->items);
    *codes = (struct python_codes){0};
}
