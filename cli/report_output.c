#include "cli/report_output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "export/encode.h"

void report_print_note(void *context, const char *message) {
    (void)context;
    fprintf(stderr, "clear: %s\n", message);
}

int report_output(const struct report_format *format, const struct profile *profile, const struct buffer *out,
                  const char *path, struct error *err) {
    bool is_file = path && strcmp(path, "-") != 0;
    if (!is_file && (format->is_binary || format->is_profile) && isatty(STDOUT_FILENO))
        return error_usage(err, "%s is not for a terminal: give -o FILE", format->name);
    if (format->is_profile) return encode_write(profile, path ? path : "-", err);
    FILE *file = is_file ? fopen(path, "we") : stdout;
    if (!file) return error_fail(err, "%s: %s", path, strerror(errno));
    bool written = fwrite(out->size ? out->data : "", 1, out->size, file) == out->size;
    if (!is_file) return 0;
    if (fclose(file) != 0 || !written) {
        error_fail(err, "%s: %s", path, strerror(errno));
        (void)unlink(path);
        return -1;
    }
    return 0;
}
