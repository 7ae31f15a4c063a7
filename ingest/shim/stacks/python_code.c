/* python_code.c: which function of a script a code object is.
 *
 * An address says little: code is freed, and other code gets its place. So a code object is known by what it is: a hash of its
 * address, of the pointers and numbers in it, and of the texts that these point at (all of the name, the ends of the others). Only where that hash is new
 * the texts are read as a whole, and their hash decides whether the function is stored anew: one that a program makes again and
 * again is one. */
#include <string.h>

#include "ingest/shim/core/real.h"
#include "ingest/shim/stacks/python.h"
#include "ingest/shim/stacks/python_read.h"

enum {
    CODE_BYTES = 144,      /* of PyCodeObject: what the layouts tell the places of */
    LINES_MAX = 256 << 10, /* bytes of a table of lines; of a larger one there is the first line of the function */
    KNOWN_MAX = 1 << 18,   /* code objects that are known at once by their hashes */
    CODE_CHUNK_BODY = 64 << 10,
    NAME_ASCII = 1 << 6,
    NAME_COMPACT = 1 << 5,
    NAME_KIND_SHIFT = 2,
    NAME_KIND = 7,
};

static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x9fb21c651e98df25ull;
    return hash ^ hash >> 29;
}

static uint64_t mix_bytes(uint64_t hash, const uint8_t *bytes, size_t size) {
    for (size_t at = 0; at < size; at += 8) {
        uint64_t word = 0;
        memcpy(&word, bytes + at, size - at < 8 ? size - at : 8);
        hash = mix(hash, word);
    }
    return hash;
}

static uint64_t finish(uint64_t hash) {
    return (hash ^ hash >> 32) | 1ull << 63;
}

/* A str of the interpreter. */
struct python_text {
    uint64_t data, length; /* in characters */
    uint32_t width;        /* bytes of a character */
    bool is_ascii;
};

static bool find_text(struct python_reader *reader, uint64_t at, struct python_text *text) {
    uint32_t state;
    if (!python_read(reader, at + TEXT_LENGTH, &text->length, sizeof text->length)) return false;
    if (!python_read(reader, at + TEXT_STATE, &state, sizeof state) || !(state & NAME_COMPACT)) return false;
    text->width = state >> NAME_KIND_SHIFT & NAME_KIND;
    text->is_ascii = state & NAME_ASCII;
    text->data = at + (text->is_ascii ? reader->layout->ascii_size : reader->layout->compact_size);
    return (text->width == 1 || text->width == 2 || text->width == 4) && text->length < 1u << 20;
}

/* Of the first and the last bytes; the whole of a short one. */
static bool mix_ends(struct python_reader *reader, uint64_t data, uint64_t size, size_t end, uint64_t *hash) {
    uint8_t bytes[64];
    size_t first = size < end ? size : end;
    if (first && !python_read(reader, data, bytes, first)) return false;
    *hash = mix_bytes(mix(*hash, size), bytes, first);
    if (size <= end) return true;
    if (!python_read(reader, data + size - end, bytes, end)) return false;
    *hash = mix_bytes(*hash, bytes, end);
    return true;
}

struct code_object {
    uint64_t at, file_at, name_at, lines_at;
    uint64_t lines_size;
    int32_t first_line;
    struct python_text file, name;
};

static bool find_code(struct python_reader *reader, uint64_t at, struct code_object *code) {
    const struct python_layout *layout = reader->layout;
    uint8_t bytes[CODE_BYTES];
    uint64_t type;
    if (at & 7 || !python_read(reader, at, bytes, sizeof bytes)) return false;
    memcpy(&type, bytes + OBJECT_TYPE, sizeof type);
    if (type != process->python_code_type) return false;
    code->at = at;
    memcpy(&code->file_at, bytes + layout->file, 8);
    memcpy(&code->name_at, bytes + layout->name, 8);
    memcpy(&code->lines_at, bytes + layout->lines, 8);
    memcpy(&code->first_line, bytes + layout->first_line, 4);
    return find_text(reader, code->file_at, &code->file) && find_text(reader, code->name_at, &code->name) &&
           python_read(reader, code->lines_at + OBJECT_SIZE, &code->lines_size, 8);
}

static uint64_t hash_code(struct python_reader *reader, const struct code_object *code) {
    uint64_t hash = mix(mix(code->at, code->file_at), mix(code->name_at, code->lines_at) + (uint32_t)code->first_line);
    bool is_read = mix_ends(reader, code->name.data, code->name.length * code->name.width, 64, &hash) &&
                   mix_ends(reader, code->file.data, code->file.length * code->file.width, 32, &hash) &&
                   mix_ends(reader, code->lines_at + BYTES_DATA, code->lines_size, 8, &hash);
    return is_read ? finish(hash) : 0;
}

static size_t add_utf8(char *to, size_t room, uint32_t letter) {
    if (letter < 0x80 && room >= 1) return to[0] = (char)letter, 1;
    if (letter < 0x80 || room < 4) return 0;
    if (letter < 0x800) {
        to[0] = (char)(0xc0 | letter >> 6);
        to[1] = (char)(0x80 | (letter & 0x3f));
        return 2;
    }
    if (letter >= 0xd800 && letter < 0xe000) letter = 0xfffd; /* half of a pair: a file name that is no UTF-8 */
    if (letter < 0x10000) {
        to[0] = (char)(0xe0 | letter >> 12);
        to[1] = (char)(0x80 | (letter >> 6 & 0x3f));
        to[2] = (char)(0x80 | (letter & 0x3f));
        return 3;
    }
    to[0] = (char)(0xf0 | (letter >> 18 & 7));
    to[1] = (char)(0x80 | (letter >> 12 & 0x3f));
    to[2] = (char)(0x80 | (letter >> 6 & 0x3f));
    to[3] = (char)(0x80 | (letter & 0x3f));
    return 4;
}

/* As UTF-8, cut to the room. */
static bool copy_text(struct python_reader *reader, const struct python_text *text, char *to, size_t room,
                      uint32_t *size) {
    *size = 0;
    for (uint64_t i = 0; i < text->length; i++) {
        uint32_t letter = 0;
        if (!python_read(reader, text->data + i * text->width, &letter, text->width)) return false;
        size_t added = add_utf8(to + *size, room - *size, letter);
        if (!added) break;
        *size += (uint32_t)added;
    }
    return true;
}

/* Reads the texts into the thread's memory, and makes the hash of what will be stored. */
static uint64_t read_code(struct python_reader *reader, struct code_object *code, struct segment_code *entry) {
    struct python_space *space = reader->space;
    uint64_t hash = mix(0x636f6465, (uint32_t)code->first_line);
    if (!copy_text(reader, &code->name, space->name, sizeof space->name, &entry->name_size) ||
        !copy_text(reader, &code->file, space->file, sizeof space->file, &entry->file_size))
        return 0;
    if (code->lines_size > LINES_MAX) code->lines_size = 0;
    entry->first_line = code->first_line;
    entry->lines_size = (uint32_t)code->lines_size;
    hash = mix_bytes(mix(hash, entry->name_size), (const uint8_t *)space->name, entry->name_size);
    hash = mix_bytes(mix(hash, entry->file_size), (const uint8_t *)space->file, entry->file_size);
    for (uint64_t at = 0; at < code->lines_size; at += 64) {
        uint8_t bytes[64];
        size_t size = code->lines_size - at < sizeof bytes ? code->lines_size - at : sizeof bytes;
        if (!python_read(reader, code->lines_at + BYTES_DATA + at, bytes, size)) return 0;
        hash = mix_bytes(hash, bytes, size);
    }
    return finish(mix(hash, code->lines_size));
}

/* Needs process->lock. */
static struct segment_code *code_room(uint64_t size) {
    struct chunk *chunk = process->code_chunk;
    if (!chunk || process->code_chunk_used + size > chunk->size - sizeof *chunk) {
        chunk = chunk_new(size > CODE_CHUNK_BODY ? size : CODE_CHUNK_BODY);
        if (!chunk) return NULL;
        chunk_publish(chunk, CHUNK_CODES);
        process->code_chunk = chunk;
        process->code_chunk_used = 0;
    }
    return (struct segment_code *)((char *)chunk_body(chunk) + process->code_chunk_used);
}

/* Needs process->lock. 0: no room. */
static uint32_t add_code(struct python_reader *reader, const struct code_object *code, struct segment_code *entry) {
    uint64_t texts = entry->name_size + entry->file_size + entry->lines_size;
    uint64_t size = (sizeof *entry + texts + 7) & ~7ull;
    struct segment_code *room = process->code_count < PYTHON_CODE_MAX ? code_room(size) : NULL;
    if (!room) return 0;
    char *to = room->texts;
    memcpy(to, reader->space->name, entry->name_size);
    memcpy(to += entry->name_size, reader->space->file, entry->file_size);
    to += entry->file_size;
    if (entry->lines_size && !python_read(reader, code->lines_at + BYTES_DATA, to, entry->lines_size)) return 0;
    entry->id = process->code_count + 1;
    *room = *entry;
    process->code_chunk_used += size;
    store_release(&process->code_chunk->count, load_relaxed(&process->code_chunk->count) + 1);
    return ++process->code_count;
}

/* 0: it could not be stored. */
static COLD uint32_t learn_code(struct python_reader *reader, struct code_object *code, uint64_t hash) {
    struct segment_code entry = {0};
    uint64_t content = read_code(reader, code, &entry);
    if (!content || !process_lock_from(reader->thread)) return 0;
    if (!process->codes) store_release(&process->codes, index_new(1 << 10));
    uint32_t id = process->codes ? index_find(process->codes, content) : 0;
    if (process->codes && !id) {
        id = add_code(reader, code, &entry);
        if (id && !index_put(&process->codes, content, id)) id = 0;
    }
    if (id && process->codes->count < KNOWN_MAX && !index_find(process->codes, hash))
        index_put(&process->codes, hash, id);
    process_unlock();
    return id;
}

static COLD uint32_t find_id(struct python_reader *reader, uint64_t at) {
    struct code_object code;
    uint64_t hash = find_code(reader, at, &code) ? hash_code(reader, &code) : 0;
    if (!hash) return 0;
    const struct index *codes = load_acquire(&process->codes);
    uint32_t id = codes ? index_find(codes, hash) : 0;
    return likely(id) ? id : learn_code(reader, &code, hash);
}

/* ---- what is known already ----------------------------------------------------------------------------------------- */

static ALWAYS_INLINE uint64_t sample_bytes(struct python_reader *reader, uint64_t data, uint64_t size) {
    if (!size) return 0;
    uint64_t first = python_word(reader, data), last = python_word(reader, (data + size - 1) & ~7ull);
    uint64_t rest = (size - 1) % 8 + 1;
    last &= ~0ull >> (64 - rest * 8); /* what is behind the end is nothing */
    if (size < 8) first = last;
    return mix(mix(size, first), last);
}

static ALWAYS_INLINE uint64_t sample_text(struct python_reader *reader, uint64_t at) {
    uint64_t length = python_word(reader, at + TEXT_LENGTH), state = (uint32_t)python_word(reader, at + TEXT_STATE);
    uint64_t header = state & NAME_ASCII ? reader->layout->ascii_size : reader->layout->compact_size;
    return sample_bytes(reader, at + header, length * (state >> NAME_KIND_SHIFT & NAME_KIND)) ^ state;
}

static ALWAYS_INLINE struct known_code look_at_code(struct python_reader *reader, uint64_t at) {
    const struct python_layout *layout = reader->layout;
    struct known_code code = {.at = at};
    if (python_word(reader, at + OBJECT_TYPE) != process->python_code_type) return code;
    code.file = python_word(reader, at + layout->file);
    code.name = python_word(reader, at + layout->name);
    code.lines = python_word(reader, at + layout->lines);
    code.first_line = python_word(reader, (at + layout->first_line) & ~7ull);
    if (layout->first_line & 4) code.first_line >>= 32;
    code.first_line &= UINT32_MAX;
    code.sample = sample_text(reader, code.name) + 3 * sample_text(reader, code.file) +
                  5 * sample_bytes(reader, code.lines + BYTES_DATA, python_word(reader, code.lines + OBJECT_SIZE));
    return code;
}

/* A program makes most of its calls with few functions: those that this thread met lately are told by a look at their objects. */
uint32_t python_code_id(struct python_reader *reader, uint64_t at) {
    struct known_code *known = &reader->space->codes[(at >> 4 ^ at >> 12) % PYTHON_CODES];
    struct known_code now = look_at_code(reader, at);
    if (likely(known->at == at && known->file == now.file && known->name == now.name && known->lines == now.lines &&
               known->first_line == now.first_line && known->sample == now.sample && known->id))
        return (uint32_t)known->id;
    if (!now.name) return 0;
    now.id = find_id(reader, at);
    *known = now;
    return (uint32_t)now.id;
}
