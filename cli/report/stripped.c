#include "cli/report/stripped.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/path.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/report/owning_package.h"

enum { PLACES_MIN = 3, PLACES_PERCENT = 10 };

/* Has the location the name that is made of its binary's and an address? */
static bool is_made_up(const struct profile *profile, const struct profile_location *location) {
    if (location->mapping == PROFILE_NONE || location->line_count != 1) return false;
    const char *base = path_base(profile->mappings[location->mapping].file);
    const char *name = profile->functions[profile->lines[location->first_line].function].name;
    size_t size = strlen(base);
    return size && strncmp(name, base, size) == 0 && strncmp(name + size, "+0x", 3) == 0;
}

/* The mapping with the most such places; *count: how many they are. */
static uint32_t find_mapping(const struct profile *profile, size_t *count) {
    size_t *places = xcalloc(profile->mapping_count + 1, sizeof *places);
    uint32_t most = 0;
    for (size_t i = 0; i < profile->location_count; i++)
        if (is_made_up(profile, &profile->locations[i])) places[profile->locations[i].mapping]++;
    for (uint32_t i = 0; i < profile->mapping_count; i++)
        if (places[i] > places[most]) most = i;
    *count = places[most];
    free(places);
    return most;
}

void stripped_say_file(const char *file, const char *what) {
    char *package = owning_package(file);
    struct buffer line = {0};
    buffer_printf(&line, "%s is stripped: addresses stand for names in %s; ", path_base(file), what);
    if (package)
        buffer_printf(&line,
                      "the package %s-dbgsym has them (from the archive of debug symbols), or DEBUGINFOD_URLS when it "
                      "is recorded",
                      package);
    else
        buffer_add_text(&line, "record a build that is not stripped, or with DEBUGINFOD_URLS set");
    buffer_make_visible(&line);
    error_print("%s", buffer_text(&line));
    buffer_free(&line);
    free(package);
}

void stripped_say(const struct profile *profile) {
    size_t count;
    if (!profile->mapping_count || !profile->location_count) return;
    uint32_t mapping = find_mapping(profile, &count);
    if (count < PLACES_MIN || count * 100 < profile->location_count * PLACES_PERCENT) return;
    stripped_say_file(profile->mappings[mapping].file, units_things((int64_t)count, "place").text);
}
