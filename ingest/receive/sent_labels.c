#include "ingest/receive/sent_labels.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

void labels_add(struct sent_labels *labels, const char *key, const char *value) {
    bool is_reserved = strncmp(key, "__", 2) == 0;
    if (is_reserved && strcmp(key, "__name__") == 0 && !labels->name) labels->name = xstrdup(value);
    if (!is_reserved && *key) run_tags_add(&labels->tags, key, value);
}

/* Up to one of `ends`, without blanks around it and without quotes; *text is behind. free() it. */
static char *take_word(const char **text, const char *ends) {
    const char *begin = *text + strspn(*text, " "), *end;
    if (*begin == '"') {
        end = ++begin;
        end += strcspn(begin, "\"");
        *text = *end ? end + 1 : end;
        *text += strspn(*text, " ");
    } else {
        end = begin + strcspn(begin, ends);
        *text = end;
        while (end > begin && end[-1] == ' ')
            end--;
    }
    return xasprintf("%.*s", (int)(end - begin), begin);
}

static bool parse_pair(struct sent_labels *labels, const char **text) {
    char *key = take_word(text, "=,}"), *value = NULL;
    bool is_pair = **text == '=' && *key;
    if (is_pair) {
        (*text)++;
        value = take_word(text, ",}");
        labels_add(labels, key, value);
    }
    free(key);
    free(value);
    return is_pair && **text;
}

bool labels_parse(struct sent_labels *labels, const char *text, const char **why) {
    *why = "name must be NAME or NAME{KEY=VALUE,...}";
    free(labels->name);
    labels->name = take_word(&text, "{");
    if (!*labels->name) return false;
    if (!*text) return true;
    for (text += 1 + strspn(text + 1, " "); *text != '}'; text += *text == ',')
        if (!parse_pair(labels, &text)) return false;
    return !text[1 + strspn(text + 1, " ")];
}

static const char *find(const struct sent_labels *labels, const char *const *keys) {
    for (; *keys; keys++)
        for (size_t i = 0; i < labels->tags.count; i++)
            if (strcmp(labels->tags.items[i].key, *keys) == 0) return labels->tags.items[i].value;
    return NULL;
}

static int compare_keys(const void *left, const void *right) {
    const struct run_tag *a = left, *b = right;
    int order = strcmp(a->key, b->key);
    return order ? order : strcmp(a->value, b->value);
}

void labels_end(struct sent_labels *labels) {
    static const char *const services[] = {"service_name", "service.name", NULL};
    static const char *const hosts[] = {"host.name", "host_name", "hostname", "host", "instance", "node", NULL};
    labels->service = find(labels, services);
    labels->host = find(labels, hosts);
    labels->profile = labels->name;
    if (labels->tags.count) qsort(labels->tags.items, labels->tags.count, sizeof *labels->tags.items, compare_keys);
    buffer_add_text(&labels->series, "labels: {");
    for (size_t i = 0; i < labels->tags.count; i++) {
        buffer_printf(&labels->series, "%s%s=", i ? ", " : "", labels->tags.items[i].key);
        buffer_add_json_text(&labels->series, labels->tags.items[i].value);
    }
    buffer_add_char(&labels->series, '}');
}

void labels_free(struct sent_labels *labels) {
    run_tags_free(&labels->tags);
    free(labels->name);
    buffer_free(&labels->series);
    *labels = (struct sent_labels){0};
}
