#define PCRE2_CODE_UNIT_WIDTH 8
#include "export/shorten.h"

#include <pcre2.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "query/profile/usual_name.h"

enum { PARTS_MAX = 3 }; /* the whole match and its groups */

/* Ours, so they compile; kept as long as the process lives. */
static pcre2_code *compiled(pcre2_code **code, const char *regex) {
    int number;
    PCRE2_SIZE place;
    if (!*code)
        *code = pcre2_compile((PCRE2_SPTR)regex, PCRE2_ZERO_TERMINATED, PCRE2_DOLLAR_ENDONLY, &number, &place, NULL);
    if (!*code) bug("%s does not compile at %zu: %d", regex, place, number);
    return *code;
}

/* Replaces `name` by the text of the match's groups. A match that is too much work is none. */
static bool keep_groups(pcre2_code *code, char **name) {
    pcre2_match_data *data = pcre2_match_data_create(PARTS_MAX, NULL);
    int count = pcre2_match(code, (PCRE2_SPTR)*name, strlen(*name), 0, 0, data, NULL);
    const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(data);
    struct buffer kept = {0};
    for (int i = 1; i < count; i++)
        if (ends[2 * i] != PCRE2_UNSET) buffer_add(&kept, *name + ends[2 * i], ends[2 * i + 1] - ends[2 * i]);
    pcre2_match_data_free(data);
    if (count > 1) {
        free(*name);
        *name = buffer_take(&kept);
    }
    buffer_free(&kept);
    return count > 1;
}

void shorten_function(struct buffer *out, const char *name) {
    static pcre2_code *version, *go, *java, *cxx;
    static const char anonymous[] = "(anonymous namespace)::";
    bool is_anonymous = strncmp(name, anonymous, sizeof anonymous - 1) == 0;
    char *left = xstrdup(is_anonymous ? name + sizeof anonymous - 1 : name);
    (void)keep_groups(compiled(&version, "^(.*?)/v(?:[2-9]|[1-9][0-9]+)([./].*)$"), &left);
    bool is_short =
        keep_groups(compiled(&go, "^(?:[\\w\\-.]+/)+([^.]+\\..+)"), &left) ||
        keep_groups(compiled(&java, "^(?:[a-z]\\w*\\.)*([A-Z][\\w$]*\\.(?:<init>|[a-z][\\w$]*(?:\\$\\d+)?))(?:\\(|$)"),
                    &left) ||
        keep_groups(compiled(&cxx, "^(?:[_a-zA-Z]\\w*::)+(_*[A-Z]\\w*::~?[_a-zA-Z]\\w*(?:<.*>)?)"), &left);
    (void)is_short;
    buffer_add_text(out, left);
    free(left);
}

static void add_letters(struct buffer *out, const char *text, size_t letters) {
    size_t left = strlen(text);
    for (size_t length; letters && left; letters--, text += length, left -= length) {
        length = utf8_length(text, left);
        length += !length; /* a byte that is no UTF-8 */
        buffer_add(out, text, length);
    }
}

void shorten_to(struct buffer *out, const char *name, size_t letters) {
    static const char dots[] = "\u2026";
    const char *last = name;
    if (letters < 3) return;
    if (utf8_count(name) <= letters) {
        buffer_add_text(out, name);
        return;
    }
    for (size_t at = 0; (at = name_next_part(name, at));) {
        const char *part = last = name + at;
        if (utf8_count(part) >= letters) continue;
        buffer_add_text(out, dots);
        buffer_add_text(out, part);
        return;
    }
    add_letters(out, last, letters - 1);
    buffer_add_text(out, dots);
}
