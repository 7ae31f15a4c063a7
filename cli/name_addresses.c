#include "cli/name_addresses.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "cli/cli.h"
#include "cli/remote_names.h"
#include "query/code/binary.h"

enum { LINES_MAX = 256, FAILURES_SAID = 3 };

/* ---- the modes ---- */

static int read_form(struct address_naming *naming, const char *form) {
    static const struct {
        const char *word;
        bool has_form;
        enum symbol_form form;
    } forms[] = {{"default", false, SYMBOL_PLAIN},
                 {"templates", true, SYMBOL_PLAIN},
                 {"full", true, SYMBOL_FULL},
                 {"none", true, SYMBOL_LINKED}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(forms[i].word, form) == 0) {
            naming->has_form = forms[i].has_form;
            naming->form = forms[i].form;
            return 0;
        }
    return -1;
}

static int read_mode(struct address_naming *naming, const char *word) {
    static const char demangle[] = "demangle=";
    bool is_local = strcmp(word, "local") == 0, is_fast = strcmp(word, "fastlocal") == 0;
    if (strncmp(word, demangle, sizeof demangle - 1) == 0) return read_form(naming, word + sizeof demangle - 1);
    bool is_remote = strcmp(word, "remote") == 0;
    if (strcmp(word, "none") == 0 || strcmp(word, "no") == 0 || is_remote)
        naming->is_off = true, naming->is_remote = is_remote;
    else if (strcmp(word, "force") == 0)
        naming->is_force = true;
    else if (is_local || is_fast)
        naming->is_off = naming->is_remote = false, naming->is_fast = is_fast;
    else
        return *word ? -1 : 0;
    return 0;
}

int address_naming_read(struct address_naming *naming, const char *text, struct error *err) {
    char *copy = xstrdup(text), *rest = copy, *word;
    int code = 0;
    *naming = (struct address_naming){.is_told = true};
    while (code == 0 && (word = strsep(&rest, ":")))
        code = read_mode(naming, word);
    free(copy);
    if (code == 0) return 0;
    return error_usage(
        err,
        "symbolize=%s: expected none, local, fastlocal, remote, force, or demangle=none, full, templates "
        "or default, with colons between",
        text);
}

/* ---- functions and lines ---- */

struct naming {
    const struct address_naming *how;
    struct profile *profile;
    struct symbolizer *symbolizer;
    struct map functions; /* struct function_key -> index */
    size_t failures;
};

/* Texts are interned, so pointers tell them apart. */
struct function_key {
    const char *name, *system_name, *file;
    int64_t start_line;
};

static uint32_t function_of(struct naming *naming, const struct symbol_frame *frame) {
    struct profile *profile = naming->profile;
    bool is_fast = naming->how->is_fast, added;
    const struct profile_function function = {.name = profile_text(profile, frame->name),
                                              .system_name = profile_text(profile, frame->system_name),
                                              .file = profile_text(profile, is_fast ? "" : frame->file),
                                              .start_line = is_fast ? 0 : frame->start_line};
    const struct function_key key = {function.name, function.system_name, function.file, function.start_line};
    struct map_entry *entry = map_put(&naming->functions, &key, sizeof key, &added);
    if (added) entry->value = profile_add_function(profile, &function);
    return (uint32_t)entry->value;
}

static void note_functions(struct naming *naming) {
    for (size_t i = 0; i < naming->profile->function_count; i++) {
        const struct profile_function *each = &naming->profile->functions[i];
        const struct function_key key = {each->name, each->system_name, each->file, each->start_line};
        map_put(&naming->functions, &key, sizeof key, NULL)->value = (int64_t)i;
    }
}

static void name_location(struct naming *naming, uint32_t index, const struct symbol_frame *frames, size_t count) {
    struct profile *profile = naming->profile;
    struct profile_line lines[LINES_MAX];
    uint32_t number = profile->locations[index].mapping;
    struct profile_mapping none = {0}, *mapping = number == PROFILE_NONE ? &none : &profile->mappings[number];
    size_t first = naming->how->is_fast ? count - 1 : 0, used = 0;
    for (size_t i = first; i < count && used < LINES_MAX; i++)
        lines[used++] = (struct profile_line){.function = function_of(naming, &frames[i]),
                                              .line = naming->how->is_fast ? 0 : frames[i].line};
    profile_set_lines(profile, index, lines, used);
    profile->locations[index].is_folded = false;
    mapping->has_functions = true;
    mapping->has_filenames |= !naming->how->is_fast && *frames[count - 1].file;
    mapping->has_line_numbers |= !naming->how->is_fast && frames[count - 1].line;
    mapping->has_inline_frames |= !naming->how->is_fast && *frames[count - 1].file;
}

static bool is_wanted(const struct naming *naming, const struct profile_location *location, uint32_t mapping) {
    return location->mapping == mapping && (naming->how->is_force || location->line_count == 0);
}

/* What is in no file: the kernel's own mappings. */
static bool is_no_file(const char *file) {
    return *file == '[' || strncmp(file, "linux-vdso", 10) == 0 || strncmp(file, "/dev/dri/", 9) == 0 ||
           strcmp(file, "//anon") == 0;
}

static void say_failure(struct naming *naming, const char *file, const char *why) {
    if (naming->how->is_told && naming->failures++ < FAILURES_SAID)
        error_print("%s: its addresses stay without names: %s", *file ? file : "the program", why);
}

static bool has_wanted(const struct naming *naming, uint32_t mapping) {
    for (size_t i = 0; i < naming->profile->location_count; i++)
        if (is_wanted(naming, &naming->profile->locations[i], mapping)) return true;
    return false;
}

static void name_by_binary(struct naming *naming, uint32_t mapping, const struct binary *binary) {
    struct profile *profile = naming->profile;
    struct symbolizer_module *module = symbolizer_module(naming->symbolizer, binary_path(binary), "");
    for (uint32_t i = 0; i < profile->location_count; i++) {
        const struct profile_location *location = &profile->locations[i];
        const struct symbol_frame *frames;
        uint64_t base;
        if (!is_wanted(naming, location, mapping)) continue;
        if (!binary_base(binary, &profile->mappings[mapping], location->address, &base)) continue;
        size_t count = symbolize(module, location->address - base, &frames);
        if (!frames[count - 1].is_made_up) name_location(naming, i, frames, count);
    }
}

static void name_mapping(struct naming *naming, uint32_t index) {
    const struct profile_mapping *mapping = &naming->profile->mappings[index];
    bool is_named = mapping->has_functions || mapping->has_filenames || mapping->has_line_numbers;
    char *why = NULL;
    if ((is_named && !naming->how->is_force) || is_no_file(mapping->file) || !has_wanted(naming, index)) return;
    struct binary *binary = binary_open(mapping, &why);
    if (binary)
        name_by_binary(naming, index, binary);
    else
        say_failure(naming, mapping->file, why);
    binary_close(binary);
    free(why);
}

/* ---- names of a server ---- */

static bool is_asked(const struct naming *naming, const struct profile_location *location) {
    const struct profile *profile = naming->profile;
    if (!location->address || (location->line_count && !naming->how->is_force)) return false;
    return location->mapping == PROFILE_NONE || naming->how->is_force ||
           !profile->mappings[location->mapping].has_functions;
}

static void name_by_server(struct naming *naming, const struct remote_names *remote, const bool *asked) {
    struct profile *profile = naming->profile;
    for (uint32_t i = 0; i < profile->location_count; i++) {
        const char *name = asked[i] ? remote_name(remote, profile->locations[i].address) : NULL;
        const struct symbol_frame frame = {.name = name, .system_name = name, .file = ""};
        if (name) name_location(naming, i, &frame, 1);
    }
}

static void ask_server(struct naming *naming) {
    struct profile *profile = naming->profile;
    struct remote_names remote = {0};
    struct error err = {0};
    if (!naming->how->url) return;
    bool *asked = xcalloc(profile->location_count + 1, sizeof *asked); /* a named one names its mapping */
    note_functions(naming);
    for (uint32_t i = 0; i < profile->location_count; i++)
        if ((asked[i] = is_asked(naming, &profile->locations[i])))
            remote_names_want(&remote, profile->locations[i].address);
    if (remote_names_ask(&remote, naming->how->url, naming->how->fetch, &err))
        error_print("symbolize=remote: %s", err.message);
    name_by_server(naming, &remote, asked); /* also of those that were answered before a failure */
    remote_names_free(&remote);
    map_free(&naming->functions);
    free(asked);
}

/* ---- names in another form ---- */

static void rename_functions(struct profile *profile, enum symbol_form form) {
    for (size_t i = 0; i < profile->function_count; i++) {
        struct profile_function *function = &profile->functions[i];
        if (!*function->system_name) continue;
        char *name = symbol_name(function->system_name, form);
        function->name = profile_text(profile, name);
        free(name);
    }
}

void name_addresses(void *context, struct profile *profile) {
    struct naming naming = {.how = context, .profile = profile};
    if (!naming.how->is_off) {
        naming.symbolizer = symbolizer_open();
        note_functions(&naming);
        for (uint32_t i = 0; i < profile->mapping_count; i++)
            name_mapping(&naming, i);
        if (naming.failures > FAILURES_SAID) error_print("%zu more files: likewise", naming.failures - FAILURES_SAID);
        map_free(&naming.functions);
        symbolizer_close(naming.symbolizer);
    }
    if (naming.how->is_remote) ask_server(&naming);
    if (naming.how->has_form) rename_functions(profile, naming.how->form);
}

size_t count_nameless(const struct profile *profile, uint32_t mapping) {
    size_t count = 0;
    for (size_t i = 0; i < profile->location_count; i++)
        count += profile->locations[i].mapping == mapping && profile->locations[i].line_count == 0;
    return count;
}
