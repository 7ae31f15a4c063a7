#include "cli/ingest_named.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/name_addresses.h"
#include "export/encode.h"
#include "ingest/read/input.h"
#include "query/profile/load/load.h"

/* Reads the file into a private warehouse, and the profile from there. */
static int read_profile(struct db *db, const struct ingest_options *options, const char *path,
                        struct ingest_result *result, struct profile *profile, struct error *err) {
    struct ingest reader;
    char *kinds = NULL;
    int code = ingest_open(&reader, db, options, err);
    if (code == 0) code = ingest_path(&reader, path, result, err);
    ingest_close(&reader);
    if (code < 0) return -1;
    if (strcmp(result->format, "pprof") != 0 && strcmp(result->format, "legacy-pprof") != 0)
        return error_usage(err, "%s: --binary is for profiles of pprof; this is %s", path, result->format);
    const struct run_set runs = {.ids = &result->run_id, .count = 1};
    code = profile_common_kinds(db, &runs, &kinds, err);
    if (code == 0) kinds[strcspn(kinds, "\n")] = '\0';
    const struct load_request request = {.kind = kinds, .runs = &runs, .is_exact = true, .keeps_zero = true};
    if (code == 0) code = profile_load(profile, db, &request, err);
    free(kinds);
    return code;
}

static int name_profile(struct profile *profile, const char *binary, const char *path, struct error *err) {
    struct address_naming naming = {.is_told = true};
    profile_give_mapping(profile);
    size_t before = count_nameless(profile, 0);
    profile->mappings[0].file = profile_text(profile, binary);
    profile->mappings[0].is_named = true;
    name_addresses(&naming, profile);
    if (before == 0)
        return error_fail(err, "%s: has no address of its program without a name: leave out --binary", path);
    if (count_nameless(profile, 0) < before) return 0;
    return error_fail(err, "%s: %s names none of the addresses of its program", path, binary);
}

static int ingest_profile_bytes(struct ingest *ingest, const struct profile *profile, const char *path,
                                struct ingest_result *result, struct error *err) {
    struct buffer bytes = {0};
    struct input input = {0};
    struct stat about;
    int64_t modified_ns = 0; /* of the file: legacy formats have no time of their own */
    int code = encode_write(profile, &(struct encode_target){.bytes = &bytes}, err);
    if (code == 0 && stat(path, &about) == 0)
        modified_ns = about.st_mtim.tv_sec * INT64_C(1000000000) + about.st_mtim.tv_nsec;
    if (code == 0) code = input_open_memory(&input, path, (const uint8_t *)bytes.data, bytes.size, err);
    if (code == 0 && modified_ns) input.modified_ns = modified_ns;
    if (code == 0) code = input_complete(&input, err);
    if (code == 0) code = ingest_input(ingest, &input, NULL, result, err);
    input_close(&input);
    buffer_free(&bytes);
    return code;
}

int ingest_named(struct ingest *ingest, const char *binary, const char *path, struct ingest_result *result,
                 struct error *err) {
    const struct ingest_options options = {.fetch = ingest->options.fetch,
                                           .lenient = ingest->options.lenient,
                                           .progress = ingest->options.progress,
                                           .progress_context = ingest->options.progress_context};
    struct profile profile = {0};
    struct db db;
    struct error ignored = {0};
    struct ingest_result as_read;
    if (db_open_private(&db, path, err) < 0) return -1;
    int code = read_profile(&db, &options, path, &as_read, &profile, err);
    if (code == 0) {
        code = name_profile(&profile, binary, path, err);
        if (code == 0) code = ingest_profile_bytes(ingest, &profile, path, result, err);
        profile_free(&profile);
        result->format = as_read.format;
    }
    db_close(&db, &ignored);
    return code;
}
