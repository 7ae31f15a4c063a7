#include "ingest/record/names/spin_loops.h"

#include <unistd.h>

#include "base/elf_file.h"
#include "ingest/symbols/spin_loop.h"
#include "schema/schema.h"

/* The file that the last location was in: they come in order of their files. */
struct code_file {
    int64_t mapping_id; /* 0: none yet */
    int descriptor;     /* -1: it cannot be read, or is of another build */
};

static void close_file(struct code_file *file) {
    if (file->descriptor >= 0) close(file->descriptor);
    file->descriptor = -1;
}

static void open_file(struct code_file *file, int64_t mapping_id, const char *path, const char *build_id) {
    if (file->mapping_id == mapping_id) return;
    close_file(file);
    file->mapping_id = mapping_id;
    struct elf_code code = elf_code_read(path, build_id);
    if (code.is_there) file->descriptor = elf_file_open(path);
    elf_code_free(&code);
}

/* The loop around the code at that offset of the file; head: from that offset on. */
static bool find_loop(const struct code_file *file, int64_t offset, struct spin_loop *loop, int64_t *head) {
    uint8_t code[2 * SPIN_LOOP_REACH];
    int64_t start = offset > SPIN_LOOP_REACH ? offset - SPIN_LOOP_REACH : 0;
    ssize_t size = file->descriptor < 0 ? -1 : pread(file->descriptor, code, sizeof code, start);
    if (size <= offset - start || !spin_loop_find(code, (size_t)size, (size_t)(offset - start), loop)) return false;
    *head = start + (int64_t)loop->head - offset;
    return true;
}

static int insert_loop(struct db *db, sqlite3_stmt *row, const struct spin_loop *loop, int64_t head,
                       struct error *err) {
    sqlite3_stmt *insert = db_prepare(db, embedded_text("ingest/spin_loops/loop"), err);
    if (!insert) return -1;
    db_bind_int(insert, ":process", sqlite3_column_int64(row, 0));
    db_bind_int(insert, ":location", sqlite3_column_int64(row, 1));
    db_bind_int(insert, ":head", sqlite3_column_int64(row, 5) + head);
    db_bind_int(insert, ":instructions", loop->instructions);
    db_bind_int(insert, ":has_pause", loop->has_pause);
    return db_run(db, insert, err);
}

int spin_loops_insert(struct db *db, int64_t run_id, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("ingest/spin_loops/sampled"), err);
    if (!row) return -1;
    struct code_file file = {.descriptor = -1};
    int code;
    db_bind_int(row, ":run", run_id);
    while ((code = db_step(db, row, err)) == 1) {
        struct spin_loop loop;
        int64_t head;
        open_file(&file, sqlite3_column_int64(row, 2), db_text(row, 3), db_text(row, 4));
        if (find_loop(&file, sqlite3_column_int64(row, 6), &loop, &head) && insert_loop(db, row, &loop, head, err)) {
            code = -1;
            break;
        }
    }
    sqlite3_reset(row);
    close_file(&file);
    return code < 0 ? -1 : 0;
}
