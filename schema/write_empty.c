/* write_empty FILE SCHEMA COLUMNS: a program of the build, which makes the image of schema/empty_file.h: an empty warehouse. No part of clear. SCHEMA gets
 * the rows of its sqlite_schema as inspect_write() says them, COLUMNS what own_columns_next reads. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "schema/db.h"
#include "schema/inspect.h"
#include "schema/schema.h"

/* It has no image yet. */
const unsigned char empty_image[1], empty_schema[1];
const char empty_columns[1];
const size_t empty_image_size, empty_schema_size, empty_columns_size;

static int add_columns(struct db *db, struct buffer *columns, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("warehouse/own_columns.sql"), err);
    int code = -1;
    while (row && (code = db_step(db, row, err)) == 1)
        for (int i = 0; i < 4; i++)
            buffer_add(columns, db_text(row, i), strlen(db_text(row, i)) + 1);
    return code;
}

static int write_what(struct db *db, int (*add)(struct db *, struct buffer *, struct error *), const char *path,
                      struct error *err) {
    struct buffer bytes = {0};
    FILE *file = add(db, &bytes, err) ? NULL : fopen(path, "wb");
    int written = file && fwrite(bytes.data, 1, bytes.size, file) == bytes.size;
    written = file && fclose(file) == 0 && written;
    buffer_free(&bytes);
    return written ? 0 : error_fail(err, "%s: cannot write", path);
}

static int write_empty(const char *path, const char *schema, const char *columns, struct error *err) {
    struct db db;
    struct error ignored = {0};
    if (db_open(&db, path, DB_WRITE, err)) return -1;
    int code = write_what(&db, inspect_write, schema, err);
    if (code == 0) code = write_what(&db, add_columns, columns, err);
    return db_close(&db, code ? &ignored : err) || code ? -1 : 0;
}

int main(int argc, char **argv) {
    struct error err = {0};
    if (argc == 4 && write_empty(argv[1], argv[2], argv[3], &err) == 0) return 0;
    fprintf(stderr, "write_empty: %s\n", argc == 4 ? err.message : "usage: write_empty FILE SCHEMA COLUMNS");
    return 1;
}
