/* write_empty FILE SCHEMA: a program of the build, which makes the image of schema/empty_file.h: an empty warehouse. No part of clear. SCHEMA gets the
 * rows of its sqlite_schema as inspect_write() says them. */
#include <stddef.h>
#include <stdio.h>

#include "base/buffer.h"
#include "schema/db.h"
#include "schema/inspect.h"

/* It has no image yet. */
const unsigned char empty_image[1], empty_schema[1];
const size_t empty_image_size, empty_schema_size;

static int write_schema(struct db *db, const char *path, struct error *err) {
    struct buffer schema = {0};
    FILE *file = inspect_write(db, &schema, err) ? NULL : fopen(path, "wb");
    int written = file && fwrite(schema.data, 1, schema.size, file) == schema.size;
    written = file && fclose(file) == 0 && written;
    buffer_free(&schema);
    return written ? 0 : error_fail(err, "%s: cannot write", path);
}

static int write_empty(const char *path, const char *schema, struct error *err) {
    struct db db;
    struct error ignored = {0};
    if (db_open(&db, path, DB_WRITE, err)) return -1;
    int code = write_schema(&db, schema, err);
    return db_close(&db, code ? &ignored : err) || code ? -1 : 0;
}

int main(int argc, char **argv) {
    struct error err = {0};
    if (argc == 3 && write_empty(argv[1], argv[2], &err) == 0) return 0;
    fprintf(stderr, "write_empty: %s\n", argc == 3 ? err.message : "usage: write_empty FILE SCHEMA");
    return 1;
}
