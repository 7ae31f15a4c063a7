#include "cli/remote_names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/utf8.h"

enum {
    ADDRESSES_MAX = 10000,  /* of one request: 200 KiB */
    NAME_MAX_BYTES = 4096,  /* longer ones are no names */
    ANSWER_MAX = 16 << 20,  /* 1.6 KiB a name */
    ADDRESS_DIGITS_MAX = 16 /* hexadecimal */
};

void remote_names_want(struct remote_names *names, uint64_t address) {
    map_put(&names->wanted, &address, sizeof address, NULL);
}

const char *remote_name(const struct remote_names *names, uint64_t address) {
    const struct map_entry *entry = map_find(&names->wanted, &address, sizeof address);
    return entry ? (const char *)(intptr_t)entry->value : NULL;
}

void remote_names_free(struct remote_names *names) {
    map_free(&names->wanted);
    arena_free(&names->texts);
}

/* ---- an answer ---- */

static bool is_plain(const char *name, size_t size) {
    if (size == 0 || size > NAME_MAX_BYTES || utf8_bad_byte(name, size) < size) return false;
    for (size_t i = 0; i < size; i++)
        if (utf8_is_control(name + i, size - i)) return false;
    return true;
}

static void take_line(struct remote_names *names, const char *line, size_t size) {
    uint64_t address = 0;
    size_t at = 2, digits = 0;
    if (size < 4 || memcmp(line, "0x", 2) != 0) return;
    for (; at < size && digits <= ADDRESS_DIGITS_MAX && strchr("0123456789abcdefABCDEF", line[at]) && line[at]; at++)
        digits++;
    if (!digits || digits > ADDRESS_DIGITS_MAX) return;
    for (size_t i = 2; i < at; i++)
        address = address << 4 | (uint64_t)(line[i] <= '9' ? line[i] - '0' : (line[i] | ' ') - 'a' + 10);
    size_t blank = at;
    while (at < size && (line[at] == ' ' || line[at] == '\t'))
        at++;
    while (size > at && (line[size - 1] == ' ' || line[size - 1] == '\r'))
        size--;
    struct map_entry *entry = map_find(&names->wanted, &address, sizeof address);
    if (at == blank || !entry || entry->value || !is_plain(line + at, size - at)) return;
    entry->value = (int64_t)(intptr_t)arena_text(&names->texts, line + at, size - at);
}

void remote_names_take(struct remote_names *names, const char *answer, size_t size) {
    for (const char *line = answer, *end = answer + size; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        if (!stop) stop = end;
        take_line(names, line, (size_t)(stop - line));
        line = stop + 1;
    }
}

/* ---- the requests ---- */

static int ask_some(struct remote_names *names, const char *url, const struct fetch_options *options, size_t first,
                    size_t count, struct error *err) {
    struct buffer body = {0}, answer = {0};
    struct fetch_options post = options ? *options : (struct fetch_options){0};
    for (size_t i = first; i < first + count; i++) {
        uint64_t address;
        memcpy(&address, names->wanted.entries[i].key, sizeof address);
        buffer_printf(&body, "%s0x%" PRIx64, i > first ? "+" : "", address);
    }
    post.post = buffer_text(&body);
    post.seconds = 0;
    post.size_max = ANSWER_MAX;
    post.progress = NULL;
    int code = fetch(url, &post, &answer, err);
    if (code == 0) remote_names_take(names, answer.data, answer.size);
    buffer_free(&body);
    buffer_free(&answer);
    return code;
}

int remote_names_ask(struct remote_names *names, const char *url, const struct fetch_options *options,
                     struct error *err) {
    char *symbol = fetch_symbol_url(url);
    int code = 0;
    for (size_t i = 0; i < names->wanted.count && code == 0; i += ADDRESSES_MAX) {
        size_t left = names->wanted.count - i;
        code = ask_some(names, symbol, options, i, left < ADDRESSES_MAX ? left : ADDRESSES_MAX, err);
    }
    free(symbol);
    return code;
}
