#include "ingest/read/otlp/translation.h"

int64_t translation_intern(struct translation *made, const void *text, size_t size) {
    bool added;
    struct map_entry *entry = map_put(&made->strings, size ? text : "", size, &added);
    if (added) entry->value = (int64_t)made->strings.count - 1;
    return entry->value;
}

int64_t translation_intern_text(struct translation *made, const char *text) {
    return translation_intern(made, text, strlen(text));
}

int64_t translation_intern_wire(struct translation *made, struct wire text) {
    return translation_intern(made, text.at, wire_size(text));
}

void translation_use(struct map *map, int64_t index) {
    (void)map_put(map, &index, sizeof index, NULL);
}

void translation_put_text(struct translation *made, unsigned field, struct wire text) {
    if (wire_size(text)) protobuf_add_int(made->out, field, translation_intern_wire(made, text));
}
