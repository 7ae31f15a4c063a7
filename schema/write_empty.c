/* write_empty FILE: a program of the build, which makes the image of schema/empty_file.h: an empty warehouse. No part of clear. */
#include <stddef.h>
#include <stdio.h>

#include "schema/db.h"

/* It has no image yet. */
const unsigned char empty_image[1];
const size_t empty_image_size;

int main(int argc, char **argv) {
    struct db db;
    struct error err = {0};
    if (argc == 2 && db_open(&db, argv[1], DB_WRITE, &err) == 0 && db_close(&db, &err) == 0) return 0;
    fprintf(stderr, "write_empty: %s\n", argc == 2 ? err.message : "usage: write_empty FILE");
    return 1;
}
