/* python_read.h: the interpreter's memory, and where things are in it. For python.c and python_code.c. */
#ifndef CLEAR_SHIM_PYTHON_READ_H
#define CLEAR_SHIM_PYTHON_READ_H

#include "ingest/shim/core/runtime.h"

/* Distances in bytes in CPython's structures, of a minor version. Those of 3.11 and 3.12 are from its headers Include/internal/pycore_runtime.h,
 * pycore_frame.h, Include/cpython/pystate.h, code.h and unicodeobject.h; 3.13 has most of them in the binary too (_Py_DebugOffsets), where
 * they must be the same. Held against the headers of 3.11.2, 3.11.7,
 * 3.12.1 and 3.13.0 by offsetof; tests/python.sh holds what comes of them against a script that counts itself. */
struct python_layout {
    uint32_t version;                  /* major << 8 | minor */
    uint16_t tss_key, finalizing;      /* in _PyRuntimeState */
    uint16_t thread_id, cframe, frame; /* in PyThreadState; cframe 0: it has none, and `frame` instead */
    uint16_t cframe_frame, cframe_previous;
    uint16_t is_entry; /* in _PyInterpreterFrame; 0: it has an entry frame, whose owner is ENTRY_OWNER */
    uint16_t code, instruction, before, owner;            /* in _PyInterpreterFrame */
    uint16_t first_line, file, name, lines, instructions; /* in PyCodeObject */
    uint16_t ascii_size, compact_size;                    /* of PyASCIIObject, PyCompactUnicodeObject */
};
enum { PYTHON_ENTRY_OWNER = 3 };

/* In every version: PyObject, PyVarObject, PyBytesObject, PyASCIIObject. */
enum { OBJECT_TYPE = 8, OBJECT_SIZE = 16, BYTES_DATA = 32, TEXT_LENGTH = 16, TEXT_STATE = 32 };

struct python_reader {
    const struct python_layout *layout;
    struct thread *thread;
    struct python_space *space;
};

enum { PYTHON_PAGE_BITS = 12 };

/* Asks the kernel for a page, by its number. */
bool python_has_page(struct python_reader *reader, uint64_t page);
/* Copies memory of the program. False: it is not all there. */
bool python_read(struct python_reader *reader, uint64_t from, void *into, size_t size);

/* Whether the word at an address can be read: one of eight bytes, which lies in one page. */
static ALWAYS_INLINE bool python_may_read(struct python_reader *reader, uint64_t at) {
    uint64_t page = at >> PYTHON_PAGE_BITS;
    if (unlikely(at & 7)) return false;
    return likely(page && reader->space->pages[(page ^ page >> 8) % PYTHON_PAGES] == page) ||
           python_has_page(reader, page);
}

/* 0 where it cannot be read. */
static ALWAYS_INLINE uint64_t python_word(struct python_reader *reader, uint64_t at) {
    return python_may_read(reader, at) ? *(const uint64_t *)(uintptr_t)at : 0;
}

/* python_code.c: the id of a code object, which is stored where it is new. 0: it is none, or it could not be stored. */
uint32_t python_code_id(struct python_reader *reader, uint64_t code);

#endif
