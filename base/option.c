#include "base/option.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/number.h"

/* ---- one option ---- */

bool option_takes_value(const struct option_row *row) {
    return row->argument && *row->argument != '[';
}

static bool may_have_value(const struct option_row *row) {
    return row->argument != NULL;
}

int option_bool(const char *shown, const char *text, bool *value, struct error *err) {
    static const char *const yes[] = {"1", "t", "T", "true", "TRUE", "True"};
    static const char *const no[] = {"0", "f", "F", "false", "FALSE", "False"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        if (strcmp(text, yes[i]) == 0 || strcmp(text, no[i]) == 0) {
            *value = strcmp(text, yes[i]) == 0;
            return 0;
        }
    return error_usage(err, "%s must be true or false, not '%s'", shown, text);
}

static int set_number(void *member, enum option_type type, const char *shown, const char *text, struct error *err) {
    char *end;
    errno = 0;
    int64_t whole = type == OPTION_INTEGER ? strtoll(text, &end, 10) : 0;
    double real = type == OPTION_INTEGER ? 0 : strtod(text, &end);
    if (errno || end == text || *end) return error_usage(err, "%s must be a number, not '%s'", shown, text);
    if (type == OPTION_INTEGER)
        *(int64_t *)member = whole;
    else
        *(double *)member = real;
    return 0;
}

/* `text` NULL is true; a choice that is "false" chooses nothing. */
static int set_switch(void *member, const struct option_row *row, const char *shown, const char *text,
                      struct error *err) {
    bool is_set = true;
    if (text && option_bool(shown, text, &is_set, err) < 0) return -1;
    if (row->type == OPTION_SWITCH)
        *(bool *)member = is_set;
    else if (is_set)
        *(int *)member = row->choice;
    return 0;
}

int option_set(const struct option_place *place, const char *shown, const char *text, struct error *err) {
    const struct option_row *row = place->row;
    void *member = (char *)place->into + row->offset;
    if (!text && option_takes_value(row)) return error_usage(err, "%s needs a value", shown);
    switch (row->type) {
    case OPTION_SWITCH:
    case OPTION_CHOICE: return set_switch(member, row, shown, text, err);
    case OPTION_TEXT: *(const char **)member = text; return 0;
    case OPTION_COUNT: return number_count(shown, text, row->min, row->max, member, err);
    case OPTION_DURATION: return number_duration(shown, text, row->min, row->max, member, err);
    case OPTION_INTEGER:
    case OPTION_REAL: return set_number(member, row->type, shown, text, err);
    case OPTION_TAKE: return row->take(place->into, row, text, err);
    case OPTION_HELP: return OPTION_WANTS_HELP;
    }
    bug("option type %d", row->type);
}

/* ---- tables ---- */

bool option_next(struct option_walk *walk) {
    walk->row = walk->row ? walk->row + 1 : walk->group->rows;
    while (walk->row && !walk->row->name)
        walk->row = (++walk->group)->rows;
    return walk->row != NULL;
}

static struct option_place place_of(const struct option_walk *walk, void *into) {
    return (struct option_place){walk->row, (char *)into + walk->group->offset};
}

struct option_place option_find(const struct option_group *groups, void *into, const char *name) {
    for (struct option_walk walk = {.group = groups}; option_next(&walk);)
        if (strcmp(walk.row->name, name) == 0) return place_of(&walk, into);
    return (struct option_place){0};
}

void option_preset(const struct option_group *groups, void *into) {
    struct error err = {0};
    for (struct option_walk walk = {.group = groups}; option_next(&walk);) {
        const struct option_place place = place_of(&walk, into);
        if (walk.row->preset && option_set(&place, walk.row->name, walk.row->preset, &err) < 0) bug("%s", err.message);
    }
}

/* ---- names on the command line ---- */

static struct option_place find_letter(const struct option_group *groups, void *into, char letter) {
    for (struct option_walk walk = {.group = groups}; option_next(&walk);)
        if (walk.row->letter == letter) return place_of(&walk, into);
    return (struct option_place){0};
}

/* The option whose name begins so, where only one does; *fitting says how many do. */
static struct option_place find_prefix(const struct option_reader *reader, const char *prefix, int *fitting) {
    struct option_place found = {0};
    *fitting = 0;
    for (struct option_walk walk = {.group = reader->groups}; option_next(&walk);)
        if (strncmp(walk.row->name, prefix, strlen(prefix)) == 0 && walk.row->help) {
            found = place_of(&walk, reader->into);
            ++*fitting;
        }
    return *fitting == 1 ? found : (struct option_place){0};
}

/* As it was written, with its dashes; of size bytes. */
static int unknown(const struct option_reader *reader, const char *written, int size, struct error *err) {
    int dashes = (int)strspn(written, "-");
    char *word = xasprintf("%.*s", size - dashes, written + dashes);
    char *whole = xasprintf("%.*s", size, written);
    const char *advice = reader->advice ? reader->advice(whole) : NULL;
    free(whole);
    struct nearest nearest = {.word = word};
    for (struct option_walk walk = {.group = reader->groups}; option_next(&walk);)
        if (walk.row->help) nearest_offer(&nearest, walk.row->name);
    if (advice)
        error_usage(err, "unknown option %.*s: %s", size, written, advice);
    else if (*nearest.found)
        error_usage(err, "unknown option %.*s; did you mean %.*s%s?", size, written, dashes, written, nearest.found);
    else
        error_usage(err, "unknown option %.*s", size, written);
    free(word);
    return -1;
}

/* ---- words of the command line ---- */

struct argument_cursor {
    const struct option_reader *reader;
    char **argv;
    int count, at; /* argv[at] is being read */
};

/* The value: behind "=", else the next word. NULL with the error set where there is none. */
static const char *value_of(struct argument_cursor *cursor, const char *shown, const char *value, struct error *err) {
    if (value) return value;
    if (cursor->at + 1 < cursor->count) return cursor->argv[++cursor->at];
    error_usage(err, "option %s needs a value", shown);
    return NULL;
}

/* --name, --name=value, --name value; a unique beginning of the name is enough. */
static int read_long(struct argument_cursor *cursor, struct error *err) {
    const char *written = cursor->argv[cursor->at], *equals = strchr(written, '=');
    int size = (int)strcspn(written, "="), fitting = 0;
    char *shown = xasprintf("%.*s", size, written);
    struct option_place place = option_find(cursor->reader->groups, cursor->reader->into, shown + 2);
    if (!place.row) place = find_prefix(cursor->reader, shown + 2, &fitting);
    int code = -1;
    if (!place.row) {
        code = fitting > 1 ? error_usage(err, "option %s is ambiguous", shown)
                           : unknown(cursor->reader, written, size, err);
    } else if (equals && !may_have_value(place.row)) {
        error_usage(err, "option %s takes no value", shown);
    } else {
        const char *value = equals ? equals + 1 : NULL;
        free(shown);
        shown = xasprintf("--%s", place.row->name);
        if (!option_takes_value(place.row) || (value = value_of(cursor, shown, value, err)))
            code = option_set(&place, shown, value, err);
    }
    free(shown);
    return code;
}

/* -q, -qo FILE, -oFILE */
static int read_letters(struct argument_cursor *cursor, struct error *err) {
    const char *letters = cursor->argv[cursor->at] + 1;
    int code = 0;
    for (; *letters && code == 0; letters++) {
        const char shown[] = {'-', *letters, '\0'};
        const struct option_place place = find_letter(cursor->reader->groups, cursor->reader->into, *letters);
        if (!place.row) return unknown(cursor->reader, shown, (int)strlen(shown), err);
        if (!option_takes_value(place.row)) {
            code = option_set(&place, shown, NULL, err);
            continue;
        }
        const char *value = value_of(cursor, shown, letters[1] ? letters + 1 : NULL, err);
        return value ? option_set(&place, shown, value, err) : -1;
    }
    return code;
}

/* With _ for each -. */
static char *plain_name(const char *name, size_t size) {
    char *plain = xasprintf("%.*s", (int)size, name);
    for (char *dash = plain; (dash = strchr(dash, '-'));)
        *dash = '_';
    return plain;
}

static struct option_place find_go(const struct option_reader *reader, const char *name) {
    for (struct option_walk walk = {.group = reader->groups}; option_next(&walk);) {
        char *plain = plain_name(walk.row->name, strlen(walk.row->name));
        bool is_letter = walk.row->letter && name[0] == walk.row->letter && !name[1];
        bool is_found = is_letter || strcmp(plain, name) == 0;
        free(plain);
        if (is_found) return place_of(&walk, reader->into);
    }
    return (struct option_place){reader->more ? reader->more(name) : NULL, reader->into};
}

/* -name, --name, with a value behind "=" or as the next word. */
static int read_go(struct argument_cursor *cursor, struct error *err) {
    const char *written = cursor->argv[cursor->at], *name = written + (written[1] == '-' ? 2 : 1);
    size_t size = strcspn(name, "=");
    const char *value = name[size] ? name + size + 1 : NULL;
    char *plain = plain_name(name, size);
    const struct option_place place = find_go(cursor->reader, plain);
    int code = -1;
    if (!place.row)
        unknown(cursor->reader, written, (int)strcspn(written, "="), err);
    else if (!option_takes_value(place.row) || (value = value_of(cursor, written, value, err)))
        code = option_set(&place, plain, value, err);
    free(plain);
    return code;
}

static struct option_place find_number(const struct option_reader *reader) {
    for (struct option_walk walk = {.group = reader->groups}; option_next(&walk);)
        if (walk.row->is_number) return place_of(&walk, reader->into);
    return (struct option_place){0};
}

static bool is_digits(const char *text) {
    return *text && !text[strspn(text, "0123456789")];
}

static int read_word(struct argument_cursor *cursor, struct error *err) {
    const char *written = cursor->argv[cursor->at];
    if (is_digits(written + 1)) {
        const struct option_place place = find_number(cursor->reader);
        if (place.row) return option_set(&place, written, written + 1, err);
    }
    if (cursor->reader->is_go) return read_go(cursor, err);
    return written[1] == '-' ? read_long(cursor, err) : read_letters(cursor, err);
}

int option_read(const struct option_reader *reader, int *count, char **argv, struct error *err) {
    struct argument_cursor cursor = {reader, argv, *count, 1};
    int kept = 1;
    bool is_over = false;
    for (; cursor.at < *count; cursor.at++) {
        char *word = argv[cursor.at];
        bool is_option = !is_over && word[0] == '-' && word[1];
        if (!is_option) {
            is_over = is_over || reader->stops;
            argv[kept++] = word;
        } else if (strcmp(word, "--") == 0) {
            is_over = true;
        } else {
            int code = read_word(&cursor, err);
            if (code) return code;
        }
    }
    *count = kept;
    argv[kept] = NULL;
    return 0;
}
