#include "base/split.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"

static const char blanks[] = " \t\n";

/* The word at `*text`, which becomes what follows it. `*open` is the quote that is not closed, or 0. free() it. */
static char *next_word(const char **text, split_value *value_of, const void *context, char *open) {
    struct buffer word = {0};
    const char *at = *text;
    char quote = '\0';
    for (; *at && (quote || !strchr(blanks, *at)); at++) {
        const char *value = *at == '{' && value_of ? value_of(context, at) : NULL;
        if (value) {
            buffer_add_text(&word, value);
            at = strchr(at, '}');
        } else if (quote ? *at == quote : *at == '\'' || *at == '"') {
            quote = quote ? '\0' : *at;
        } else {
            buffer_add_char(&word, *at);
        }
    }
    *text = at;
    *open = quote;
    return word.data ? buffer_take(&word) : xstrdup("");
}

char **split_words(const char *text, split_value *value_of, const void *context, char *open) {
    char **words = xcalloc(1, sizeof *words);
    size_t count = 0;
    *open = '\0';
    while (*(text += strspn(text, blanks))) {
        words = xrealloc(words, (count + 2) * sizeof *words);
        words[count++] = next_word(&text, value_of, context, open);
        words[count] = NULL;
        if (!*open) continue;
        split_free(words);
        return NULL;
    }
    return words;
}

void split_free(char **words) {
    for (char **word = words; word && *word; word++)
        free(*word);
    free(words);
}

bool split_has(const char *list, const char *word) {
    size_t size = strlen(word);
    for (const char *at = list + strspn(list, blanks); *at; at += strspn(at, blanks)) {
        size_t length = strcspn(at, blanks);
        if (length == size && memcmp(at, word, size) == 0) return true;
        at += length;
    }
    return false;
}
