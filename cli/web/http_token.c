#include "cli/web/http_token.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/token.h"

/* Reads one line and no more: the file may be a pipe that the program reads too. */
static int read_line(const char *file, char *line, int size, struct error *err) {
    FILE *stream = fopen(file, "re");
    if (!stream) return error_usage(err, "--http-token %s: %s", file, strerror(errno));
    setvbuf(stream, NULL, _IONBF, 0);
    errno = 0;
    bool is_read = fgets(line, size, stream) != NULL;
    int why = errno;
    fclose(stream);
    if (!is_read) return error_usage(err, "--http-token %s: %s", file, why ? strerror(why) : "the file is empty");
    line[strcspn(line, "\r\n")] = '\0';
    return 0;
}

static char *checked(const char *token, const char *where, struct error *err) {
    return token_check(token, where, err) ? NULL : xstrdup(token);
}

static char *from_file(const char *file, struct error *err) {
    char line[TOKEN_MOST + 3]; /* one more than allowed, so that a longer token is noticed */
    if (read_line(file, line, sizeof line, err)) return NULL;
    char *where = xasprintf("--http-token %s", file);
    char *token = checked(line, where, err);
    free(where);
    return token;
}

char *http_token(const char *file, bool *is_new, struct error *err) {
    const char *given = getenv(HTTP_TOKEN_VARIABLE);
    *is_new = !file && !given;
    if (*is_new) return token_make(err);
    char *token = file ? from_file(file, err) : checked(given, "$" HTTP_TOKEN_VARIABLE, err);
    unsetenv(HTTP_TOKEN_VARIABLE);
    return token;
}
