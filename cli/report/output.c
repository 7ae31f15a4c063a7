#include "cli/report/output.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "export/file.h"

void report_print_note(void *context, const char *message) {
    (void)context;
    error_print("%s", message);
}

static int write_file(const char *path, const struct buffer *out, struct error *err) {
    struct file file;
    if (file_open(&file, path, false, err) < 0) return -1;
    if (file_write(&file, buffer_text(out), out->size, err) == 0) return file_publish(&file, err);
    file_abandon(&file);
    return -1;
}

int report_output(const struct report_format *format, const struct buffer *out, const char *path, struct error *err) {
    bool is_file = path && strcmp(path, "-") != 0;
    if (!is_file && format->is_binary && isatty(STDOUT_FILENO))
        return error_usage(err, "%s is not printed on a terminal: give -o FILE", format->name);
    if (is_file) return write_file(path, out, err);
    fwrite(buffer_text(out), 1, out->size, stdout); /* main checks ferror */
    return 0;
}
