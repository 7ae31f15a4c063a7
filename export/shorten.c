#define PCRE2_CODE_UNIT_WIDTH 8
#include "export/shorten.h"

#include <pcre2.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

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
