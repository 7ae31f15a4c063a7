/* names_apart.c: which of a list's names need more than their usual form, because another one has the same. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/profile/usual_name.h"

/* Names by the text that they are shown as; the value is the first one's index + 1, or -1: different names look so. */
static void look(struct map *looks, const char *const *names, size_t count, const enum name_detail *details) {
    struct buffer text = {0};
    for (size_t i = 0; i < count; i++) {
        bool is_new;
        buffer_clear(&text);
        name_in_detail(&text, names[i], details[i]);
        struct map_entry *entry = map_put(looks, buffer_text(&text), text.size, &is_new);
        if (is_new)
            entry->value = (int64_t)i + 1;
        else if (entry->value > 0 && strcmp(names[entry->value - 1], names[i]) != 0)
            entry->value = -1;
    }
    buffer_free(&text);
}

/* More detail for all names that look like another; whether there were any. */
static bool tell_more(const char *const *names, size_t count, enum name_detail *details) {
    struct map looks = {0};
    struct buffer text = {0};
    bool is_any = false;
    look(&looks, names, count, details);
    for (size_t i = 0; i < count; i++) {
        buffer_clear(&text);
        name_in_detail(&text, names[i], details[i]);
        if (map_find(&looks, buffer_text(&text), text.size)->value > 0 || details[i] == NAME_FULL) continue;
        details[i]++;
        is_any = true;
    }
    buffer_free(&text);
    map_free(&looks);
    return is_any;
}

void names_apart(const char *const *names, size_t count, enum name_detail *details) {
    memset(details, 0, count * sizeof *details);
    while (tell_more(names, count, details))
        continue;
}

void shown_names_init(struct shown_names *shown, const char *const *names, size_t count, bool is_full) {
    *shown = (struct shown_names){.is_full = is_full};
    if (is_full || !count) return;
    enum name_detail *details = xcalloc(count, sizeof *details);
    names_apart(names, count, details);
    for (size_t i = 0; i < count; i++)
        map_put(&shown->details, names[i], strlen(names[i]), NULL)->value = details[i];
    free(details);
}

static enum name_detail detail_of(const struct shown_names *shown, const char *name) {
    const struct map_entry *entry = map_find(&shown->details, name, strlen(name));
    return shown->is_full ? NAME_FULL : entry ? (enum name_detail)entry->value : NAME_USUAL;
}

const char *shown_name(const struct shown_names *shown, const char *name, struct buffer *room) {
    enum name_detail detail = detail_of(shown, name);
    if (detail == NAME_FULL) return name;
    buffer_clear(room);
    name_in_detail(room, name, detail);
    return buffer_text(room);
}

bool shown_name_is_usual(const struct shown_names *shown, const char *name) {
    return detail_of(shown, name) == NAME_USUAL;
}

void shown_names_free(struct shown_names *shown) {
    map_free(&shown->details);
}
