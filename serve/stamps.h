/* stamps.h: whether a warehouse has changed, without opening it. Private to serve/. */
#ifndef CLEAR_SERVE_STAMPS_H
#define CLEAR_SERVE_STAMPS_H

#include <stdint.h>

/* Of the warehouse and its -wal. Equal stamps: nothing was written between. */
struct stamps {
    struct stamp {
        uint64_t device, inode, size, changed_ns; /* of a file; zeroed: there is none */
    } files[2];
};
struct stamps stamps_of(const char *path);

#endif
