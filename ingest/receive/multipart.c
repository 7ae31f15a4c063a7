#include "ingest/receive/multipart.h"

#include <stdio.h>
#include <string.h>

static const char form[] = "multipart/form-data";

bool multipart_is(const char *type) {
    return strncasecmp(type, form, strlen(form)) == 0;
}

bool multipart_begin(struct multipart *parts, const char *type, struct wire body) {
    static const char parameter[] = "boundary=";
    const char *boundary = strcasestr(type, parameter);
    *parts = (struct multipart){.rest = body};
    if (!boundary) return false;
    boundary += strlen(parameter);
    bool is_quoted = *boundary == '"';
    boundary += is_quoted;
    size_t size = strcspn(boundary, is_quoted ? "\"" : "; \t");
    if (!size || size > sizeof parts->delimiter - 3) return false;
    snprintf(parts->delimiter, sizeof parts->delimiter, "--%.*s", (int)size, boundary);
    return true;
}

static const uint8_t *find(struct wire bytes, const char *text, size_t size) {
    return bytes.at < bytes.end ? memmem(bytes.at, wire_size(bytes), text, size) : NULL;
}

/* Behind a delimiter: at the line end that follows; 0 where it is the last one, -1 where there is none. */
static int pass_delimiter(struct multipart *parts) {
    size_t size = strlen(parts->delimiter);
    const uint8_t *at = find(parts->rest, parts->delimiter, size);
    if (!at) return -1;
    parts->rest.at = at + size;
    if (wire_size(parts->rest) >= 2 && memcmp(parts->rest.at, "--", 2) == 0) return 0;
    const uint8_t *line = find(parts->rest, "\r\n", 2);
    if (!line) return -1;
    parts->rest.at = line + 2;
    return 1;
}

/* The value of name="…" in the headers of a part; a file's name is filename="…". */
static struct wire find_name(struct wire headers) {
    static const char key[] = " name=\"";
    const uint8_t *at = find(headers, key, strlen(key));
    if (!at) return (struct wire){headers.at, headers.at};
    struct wire value = {at + strlen(key), headers.end};
    const uint8_t *end = find(value, "\"", 1);
    return (struct wire){value.at, end ? end : value.at};
}

int multipart_next(struct multipart *parts, struct wire *name, struct wire *content) {
    int state = pass_delimiter(parts);
    if (state != 1) return state;
    /* The line end before is a part of both marks: a part may have no header, or no content. */
    parts->rest.at -= 2;
    const uint8_t *blank = find(parts->rest, "\r\n\r\n", 4);
    if (!blank) return -1;
    *name = find_name((struct wire){parts->rest.at, blank});
    content->at = blank + 4;
    parts->rest.at = blank + 2;
    char mark[sizeof parts->delimiter + 2];
    snprintf(mark, sizeof mark, "\r\n%s", parts->delimiter);
    const uint8_t *end = find(parts->rest, mark, strlen(mark));
    if (!end) return -1;
    content->end = end < content->at ? content->at : end;
    parts->rest.at = end;
    return 1;
}
