#include "query/code/source_text.h"

#include <string.h>

/* The start of that line, or NULL. */
static const char *find_line(const char *text, int64_t line) {
    for (; text && line > 1; line--) {
        text = strchr(text, '\n');
        if (text) text++;
    }
    return line == 1 ? text : NULL;
}

int source_text_line(struct db *db, int64_t run_id, const char *path, int64_t line, struct buffer *out,
                     struct error *err) {
    static const char blanks[] = " \t\r\f\v";
    sqlite3_stmt *row = db_prepare(db,
                                   "SELECT text FROM sources JOIN source_texts ON source_texts.id = text_id"
                                   " WHERE run_id = :run AND path = :path",
                                   err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    db_bind_text(row, ":path", path);
    int code = db_step(db, row, err);
    if (code < 1) return code;
    const char *at = find_line(db_text(row, 0), line);
    size_t size = 0;
    if (at) {
        at += strspn(at, blanks);
        size = strcspn(at, "\n");
        while (size && strchr(blanks, at[size - 1]))
            size--;
        buffer_add(out, at, size);
    }
    sqlite3_reset(row);
    return size > 0;
}
